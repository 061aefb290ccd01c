package actors_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// parrot is a whole adapter: a CLI that answers what it is asked, a line at a
// time, and says nothing about its end but its exit status.
type parrot struct{}

func (parrot) Name() string                  { return "parrot" }
func (parrot) Aliases() []string             { return nil }
func (parrot) Binary() string                { return "cat" }
func (parrot) Validate(*agent.Request) error { return nil }

func (parrot) Capabilities() agent.Capabilities {
	return agent.Capabilities{TextDeltas: true, Permissions: []spec.Permissions{spec.WorkspaceWrite}}
}

func (parrot) Invocation(r *agent.Request) (*agent.Invocation, error) {
	return &agent.Invocation{Stdin: []byte(r.Prompt), ExitIsVerdict: true}, nil
}

func (parrot) NewParser(*agent.Request) agent.Parser { return parrotLines{} }

type parrotLines struct{}

func (parrotLines) Feed(line []byte, out *agent.Batch) {
	out.Add(agent.Fact{Kind: agent.FactText, Key: "answer", Text: out.Text(line) + "\n"})
}

func (parrotLines) Close(agent.Exit, *agent.Batch) {}

// A program of its own runs turns: no server, no globals, nothing on the terminal
// but what it prints itself.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "embedded")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	host, err := actors.New(
		actors.WithStateDir(dir), // the journal is in memory unless WithStore says otherwise
		actors.WithRuntime(actors.RuntimeConfig{Adapter: parrot{}}),
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := host.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := host.Stop(ctx); err != nil {
			log.Fatal(err)
		}
	}()

	posted, err := host.CreateSession(ctx, "me", &spec.NewSession{
		Agent: spec.Agent{Adapter: "parrot"},
		Input: &spec.NewInput{Items: []*event.Item{{Type: event.Message, Text: "hello\nworld"}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	events, err := host.Subscribe(ctx, "me", posted.Session.ID, posted.Before)
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	for {
		batch, wake, err := events.Next()
		switch {
		case err != nil:
			log.Fatal(err)
		case batch == nil: // caught up
			<-wake
			continue
		}
		for _, ev := range batch.Events {
			switch ev.Kind {
			case event.TextDelta:
				fmt.Print(ev.Text)
			case event.TurnEnded:
				fmt.Println("turn:", ev.Body.(*event.End).Outcome)
				return
			}
		}
	}
	// Output:
	// hello
	// world
	// turn: completed
}
