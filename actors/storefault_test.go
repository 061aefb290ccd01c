package actors_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// faulty refuses commits while it is told to, as a full disk does, or holds them
// back; one may be made to panic.
type faulty struct {
	store.Store
	refusing  atomic.Bool
	refused   atomic.Int64
	panicking atomic.Bool
	// beforePanic is how long the commit that panics takes.
	beforePanic time.Duration
	// holding, when set, keeps commits back until it is closed; each that waits
	// sends to held.
	holding atomic.Pointer[chan struct{}]
	held    chan struct{}
	// hurt is a session whose record cannot be read or removed.
	hurt atomic.Pointer[event.ID]
}

func (f *faulty) Remove(ctx context.Context, id event.ID) error {
	if p := f.hurt.Load(); p != nil && *p == id {
		return store.ErrCorrupt
	}
	return f.Store.Remove(ctx, id)
}

func (f *faulty) refuse() { f.refusing.Store(true) }
func (f *faulty) accept() { f.refusing.Store(false) }

func (f *faulty) Commit(c *store.Commit) {
	if f.panicking.CompareAndSwap(true, false) {
		time.Sleep(f.beforePanic) // in the actor's Receive: what is sent meanwhile piles up
		panic("commit")
	}
	if free := f.holding.Load(); free != nil {
		go func() {
			f.held <- struct{}{}
			<-*free
			f.Store.Commit(c)
		}()
		return
	}
	if f.refusing.Load() {
		f.refused.Add(1)
		go c.Done(store.ErrFull)
		return
	}
	f.Store.Commit(c)
}

// The disk is full for a while: the running turn is ended and says why once the
// store is back, new input is refused meanwhile, what was accepted runs.
//
//cases:114
func TestFullDiskLosesNothingAccepted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := &faulty{Store: memory.New()}
	l := quick()
	l.InterruptGrace = 4 * time.Second
	h := startedIn(t, dir, l, st)
	gate := gateIn(t)
	// It ignores signals: when the store takes commits again, it still runs.
	p := create(t, h, "echo $$ > pid; trap '' INT TERM; "+blocker(gate)+"; while :; do echo on; sleep 0.01; done")
	ses, running := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, spoke(running))
	queued := []event.ID{send(t, h, ses, "if kill -0 $(cat pid); then echo overlap; fi").ID, send(t, h, ses, "echo two").ID}
	sub, err := h.Subscribe(ctx(t), "alice", ses, -1)
	must(t, err)
	defer sub.Close()

	st.refuse()
	openGate(t, gate)
	eventually(t, "a commit is refused", func() bool { return st.refused.Load() > 0 })
	_, err = h.Post(ctx(t), "alice", ses, []spec.Action{{Input: input("echo lost")}}, nil)
	if f, ok := event.AsFailure(err); !ok || f.Code != event.StorageFailed || f.RetryAfter == 0 {
		t.Errorf("input for a full disk: %v", err)
	}
	if _, err := toEnd(t, sub); event.CodeOf(err) != event.StorageFailed {
		t.Errorf("the stream ended with %v", err)
	}
	if _, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("true")}); event.CodeOf(err) != event.StorageFailed {
		t.Errorf("a session for a full disk: %v", err)
	}
	if list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{}); err != nil || len(list) != 1 {
		t.Errorf("the failed create left something: %d sessions (%v)", len(list), err)
	}
	st.accept()

	eventually(t, "the session serves again", func() bool {
		turn, err := h.Turn(ctx(t), "alice", queued[1])
		return err == nil && turn.Status.Ended()
	})
	got := judgeEnds(t, h, ses, ended(queued[1]))
	if len(got) != 3 || got[running] != event.Failed || got[queued[0]] != event.Completed || got[queued[1]] != event.Completed {
		t.Errorf("outcomes %v", got)
	}
	turn, err := h.Turn(ctx(t), "alice", running)
	if err != nil || turn.End.Failure.Code != event.StorageFailed {
		t.Errorf("the running turn: %+v, %v", turn, err)
	}
	if turn, err := h.Turn(ctx(t), "alice", queued[0]); err != nil || len(turn.Items) != 1 || turn.Items[0].Text != "" {
		t.Errorf("the next one ran beside the old CLI: %+v, %v", turn, err)
	}
	next := send(t, h, ses, "echo next")
	follow(t, h, ses, 0, ended(next.ID))
	idle(t, h, ses)
	nothingLeft(t, h, dir)
}

// A session that was broken once still settles a turn whose actor crashes.
func TestCrashAfterAStoreFailure(t *testing.T) {
	t.Parallel()
	st := &faulty{Store: memory.New()}
	h := started(t, quick(), st)
	ses := create(t, h, "").Session.ID
	st.refuse()
	if _, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: input("true")}}, nil); event.CodeOf(err) != event.StorageFailed {
		t.Errorf("refused commit: %v", err)
	}
	st.accept()
	eventually(t, "served again", func() bool {
		_, err := h.UpdateSession(ctx(t), "alice", ses, &spec.Update{})
		return err == nil
	})
	turn := send(t, h, ses, "echo on; sleep 300")
	follow(t, h, ses, 0, spoke(turn.ID))
	actors.CrashTurns(h)
	if end := outcome(t, follow(t, h, ses, 0, ended(turn.ID))); end.Outcome != event.Failed {
		t.Errorf("end %+v", end)
	}
	next := send(t, h, ses, "echo next")
	follow(t, h, ses, 0, ended(next.ID))
}
