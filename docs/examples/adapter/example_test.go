package opencode

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// A Host runs a turn with the adapter.
func ExampleAdapter() {
	if err := hostIt(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// You said: hello
	// completed, 5 tokens
}

func hostIt() (err error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "opencode-example-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	standIn, err := os.Executable() // opencode itself is found in PATH
	if err != nil {
		return err
	}

	host, err := actors.New(
		actors.WithStateDir(dir),
		actors.WithRuntime(actors.RuntimeConfig{
			Adapter: Adapter{}, Binary: standIn,
			// The adapter offers nothing less, and agents that name no permissions
			// get the runtime's.
			Permissions: spec.FullAccess,
		}),
	)
	if err != nil {
		return err
	}
	if err := host.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Stop(ctx)) }()

	posted, err := host.CreateSession(ctx, "me", &spec.NewSession{
		Agent: spec.Agent{Adapter: "opencode"},
		Input: &spec.NewInput{Items: []*event.Item{{Type: event.Message, User: true, Text: "hello"}}},
	})
	if err != nil {
		return err
	}
	events, err := host.Subscribe(ctx, "me", posted.Session.ID, posted.Before)
	if err != nil {
		return err
	}
	defer events.Close()
	for {
		batch, wake, err := events.Next()
		if err != nil {
			return err
		}
		if batch == nil { // caught up
			<-wake
			continue
		}
		for i := range batch.Events {
			ev := &batch.Events[i]
			item, _ := ev.Body.(*event.Item)
			end, _ := ev.Body.(*event.End)
			switch {
			case ev.Kind == event.ItemDone && item != nil && item.Type == event.Message:
				fmt.Println(item.Text)
			case ev.Kind == event.TurnEnded && end != nil:
				if end.Failure != nil {
					return end.Failure
				}
				fmt.Printf("%s, %d tokens\n", end.Outcome, end.Usage.Total())
				return nil
			}
		}
	}
}
