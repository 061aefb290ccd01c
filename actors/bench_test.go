package actors_test

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

const shortTurn = "echo hi; echo '#final'"

// The floor of the next one: the same program, spawned by os/exec.
func BenchmarkBareSpawn(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("sh", "-c", shortTurn).Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// One short turn, from the post to its end on a stream.
func BenchmarkShortTurn(b *testing.B) {
	for name, open := range stores(b) {
		b.Run(name, func(b *testing.B) {
			h, ses := bench(b, open())
			for b.Loop() {
				benchTurn(b, h, ses, shortTurn)
			}
		})
	}
}

// One turn of a hundred thousand deltas with one reader.
func BenchmarkFlood(b *testing.B) {
	for name, open := range stores(b) {
		b.Run(name, func(b *testing.B) {
			h, ses := bench(b, open())
			for b.Loop() {
				benchTurn(b, h, ses, fmt.Sprintf("seq %d; echo '#final'", 100_000))
			}
		})
	}
}

func stores(b *testing.B) map[string]func() store.Store {
	return map[string]func() store.Store{
		"memory": func() store.Store { return memory.New() },
		"sqlite": func() store.Store {
			st, err := sqlite.Open(b.TempDir(), sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return st
		},
	}
}

func bench(b *testing.B, st store.Store) (*actors.Host, event.ID) {
	b.Helper()
	h, err := actors.New(actors.WithStateDir(b.TempDir()), actors.WithStore(st), with(script{}))
	if err == nil {
		err = h.Start(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := h.Stop(b.Context()); err != nil {
			b.Error(err)
		}
	})
	p, err := h.CreateSession(b.Context(), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}})
	if err != nil {
		b.Fatal(err)
	}
	return h, p.Session.ID
}

func benchTurn(b *testing.B, h *actors.Host, ses event.ID, prompt string) {
	b.Helper()
	p, err := h.Post(b.Context(), "alice", ses, []spec.Action{{Input: input(prompt)}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	sub, err := h.Subscribe(b.Context(), "alice", ses, p.Before)
	if err != nil {
		b.Fatal(err)
	}
	defer sub.Close()
	for {
		batch, wake, err := sub.Next()
		if err != nil {
			b.Fatal(err)
		}
		if batch == nil {
			<-wake
			continue
		}
		for i := range batch.Events {
			if batch.Events[i].Kind == event.TurnEnded && batch.Events[i].Turn == p.Turns[0].ID {
				return
			}
		}
	}
}
