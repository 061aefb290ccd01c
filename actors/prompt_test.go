package actors_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// overheard notes what each commit has.
type overheard struct {
	store.Store
	mu      sync.Mutex
	commits []string
}

func (o *overheard) Commit(c *store.Commit) {
	o.mu.Lock()
	o.commits = append(o.commits, kinds(c.Events))
	o.mu.Unlock()
	o.Store.Commit(c)
}

// with counts the commits that have an event of a kind, and gives the last of them.
func (o *overheard) with(k event.Kind) (n int, last string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.commits {
		if strings.Contains(c, k.String()) {
			n, last = n+1, c
		}
	}
	return n, last
}

// An input that nothing is in the way of is stored with its turn's start, and what the
// CLI said last with the turn's end: a short turn costs two commits.
func TestShortTurnIsTwoCommits(t *testing.T) {
	t.Parallel()
	st := &overheard{Store: memory.New()}
	h := started(t, quick(), st)
	p := create(t, h, "true")
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	// The one takes that no other message, such as a reader's farewell, comes between the
	// input and its slot, the other that the CLI's last words and its exit come in one breath.
	begun, together := 0, 0
	for range 20 {
		// Its process is gone a moment after its end; until then an input waits.
		eventually(t, "the slot is free", func() bool { return h.Stats().Running == 0 })
		before, _ := st.with(event.TurnStarted)
		turn := send(t, h, ses, "echo on")
		if turn.Started != 0 {
			t.Error("the answer tells of the start")
		}
		all := follow(t, h, ses, 0, ended(turn.ID))
		n, last := st.with(event.TurnStarted)
		if n != before+1 {
			t.Errorf("%d starts were stored", n-before)
		}
		if strings.Contains(last, event.InputAccepted.String()) {
			begun++
		}
		if end := outcome(t, all); end.Outcome != event.Completed {
			t.Errorf("%+v", end)
		}
		if _, last := st.with(event.TurnEnded); strings.Contains(last, event.ItemDone.String()) {
			together++
		}
	}
	if begun == 0 {
		t.Error("the start was never stored with the input")
	}
	if together == 0 {
		t.Error("the end was never stored with what was said before it")
	}
}

// An input that would start at once but for a bound that only the supervisor knows is
// acknowledged all the same, and runs when it may.
func TestPromptInputWaitsInTheLine(t *testing.T) {
	t.Parallel()
	st := &overheard{Store: memory.New()}
	l := quick()
	l.MaxConcurrentTurns, l.MaxPrincipalTurns = 8, 1
	h := started(t, l, st)
	gate := gateIn(t)
	first, second := create(t, h, ""), create(t, h, "")
	blocking := send(t, h, first.Session.ID, blocker(gate))
	follow(t, h, first.Session.ID, 0, spoke(blocking.ID))
	waits := send(t, h, second.Session.ID, "echo on") // it returns
	if _, last := st.with(event.InputAccepted); strings.Contains(last, event.TurnStarted.String()) {
		t.Errorf("it started: %s", last)
	}
	openGate(t, gate)
	follow(t, h, second.Session.ID, 0, ended(waits.ID))
}
