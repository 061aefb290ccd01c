package actors_test

import (
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// A host whose line is full takes no further input, says when a place comes free, and
// takes input again then.
func TestFullLineRefusesInput(t *testing.T) {
	t.Parallel()
	gate, l := gateIn(t), quick()
	l.MaxConcurrentTurns, l.MaxWaitingTurns = 1, 2
	h := started(t, l, memory.New())
	list := []*actors.Posted{create(t, h, blocker(gate))}
	eventually(t, "it runs", func() bool { return h.Stats().Running == 1 })
	for range 2 {
		list = append(list, create(t, h, "echo hi; echo '#final'"))
	}
	eventually(t, "two wait", func() bool { return h.Stats().Waiting == 2 })
	_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("true")})
	if f, ok := event.AsFailure(err); !ok || f.Code != event.HostBusy || f.RetryAfter != 10 {
		t.Errorf("with nothing known of turns: %+v", err)
	}
	openGate(t, gate)
	for _, p := range list {
		follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	}
	eventually(t, "it takes input again", func() bool {
		_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("true")})
		return err == nil
	})
}

func TestSavedAgentsAreCounted(t *testing.T) {
	t.Parallel()
	l := quick()
	l.MaxAgents = 2
	dir, st := t.TempDir(), memory.New()
	h := dropped(t, dir, l, st)
	save := func(h *actors.Host, owner string) (event.ID, error) {
		a := &spec.Agent{ID: event.NewID(), Adapter: "script", Model: "script", Created: time.Now().Unix()}
		return a.ID, h.CreateAgent(ctx(t), owner, a, nil)
	}
	var last event.ID
	for range 2 {
		id, err := save(h, "alice")
		must(t, err)
		last = id
	}
	if _, err := save(h, "alice"); event.CodeOf(err) != event.FilesFull {
		t.Errorf("a third: %v", err)
	}
	_, err := save(h, "bob")
	must(t, err)
	must(t, h.DeleteAgent(ctx(t), "alice", last))
	_, err = save(h, "alice")
	must(t, err)
	stop(t, h)
	// They are counted again after a restart.
	h = startedIn(t, dir, l, st.Reopen())
	if _, err := save(h, "alice"); event.CodeOf(err) != event.FilesFull {
		t.Errorf("a third after a restart: %v", err)
	}
}
