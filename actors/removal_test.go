package actors_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// A session is deleted while a stubborn CLI runs, three inputs wait and two
// streams are open; its sibling in the same workspace does not notice.
func TestDeleteWhileRunning(t *testing.T) {
	t.Parallel()
	dir, shared, gate := t.TempDir(), t.TempDir(), gateIn(t)
	h := startedIn(t, dir, quick(), memory.New(), actors.WithWorkspace(shared))
	p := create(t, h, "trap '' INT TERM; echo on; while :; do sleep 1; done")
	ses, turn := p.Session.ID, p.Turns[0].ID
	sibling := create(t, h, blocker(gate))
	follow(t, h, sibling.Session.ID, 0, spoke(sibling.Turns[0].ID))
	follow(t, h, ses, 0, spoke(turn))
	for range 3 {
		send(t, h, ses, "touch never")
	}
	var subs [2]*actors.Subscription
	for i := range subs {
		var err error
		subs[i], err = h.Subscribe(ctx(t), "alice", ses, 0)
		must(t, err)
		defer subs[i].Close()
	}
	if err := h.DeleteSession(ctx(t), "bob", ses); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("delete by another principal: %v", err)
	}
	must(t, h.DeleteSession(ctx(t), "alice", ses))

	ends := 0
	for i, sub := range subs {
		list, err := toEnd(t, sub)
		if !errors.Is(err, io.EOF) {
			t.Errorf("stream %d ended with %v", i, err)
		}
		for _, ev := range list {
			if ev.Kind == event.TurnEnded {
				ends++
				if got := ev.Body.(*event.End).Outcome; got != event.Cancelled {
					t.Errorf("a turn ended %s", got)
				}
			}
		}
	}
	if ends != 8 {
		t.Errorf("two streams saw %d ends, want 4 each", ends)
	}
	for what, err := range map[string]error{
		"get":       second(h.Session(ctx(t), "alice", ses)),
		"post":      second(h.Post(ctx(t), "alice", ses, []spec.Action{{Input: input("true")}}, nil)),
		"subscribe": second(h.Subscribe(ctx(t), "alice", ses, 0)),
		"delete":    h.DeleteSession(ctx(t), "alice", ses),
	} {
		if event.CodeOf(err) != event.SessionNotFound {
			t.Errorf("%s of a deleted session: %v", what, err)
		}
	}
	if _, err := h.Turn(ctx(t), "alice", turn); event.CodeOf(err) != event.TurnNotFound {
		t.Errorf("turn of a deleted session: %v", err)
	}
	openGate(t, gate)
	if end := outcome(t, follow(t, h, sibling.Session.ID, 0, ended(sibling.Turns[0].ID))); end.Outcome != event.Completed {
		t.Errorf("the sibling's turn: %+v %v", end, end.Failure)
	}
	if _, err := os.Stat(filepath.Join(shared, "never")); err == nil {
		t.Error("a queued turn of the deleted session ran")
	}
	nothingLeft(t, h, dir)
}

func second[T any](_ T, err error) error { return err }

// toEnd reads a stream until it says why there is no more.
func toEnd(t *testing.T, sub *actors.Subscription) (list []event.Event, err error) {
	t.Helper()
	c := ctx(t)
	for {
		b, wake, err := sub.Next()
		if err != nil {
			return list, err
		}
		if b != nil {
			list = append(list, b.Events...)
			continue
		}
		select {
		case <-wake:
		case <-c.Done():
			t.Fatal("the stream does not end")
		}
	}
}

// The private workspace goes with its session; a shared one stays. A reader that
// is behind what memory holds gets its end too.
func TestDeleteRemovesThePrivateWorkspace(t *testing.T) {
	t.Parallel()
	dir, l := t.TempDir(), quick()
	l.RingBytes = 1 << 10
	h := startedIn(t, dir, l, memory.New())
	p := create(t, h, "touch mine; seq 20000")
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	work := filepath.Join(dir, "workspaces", ses.Hex())
	if _, err := os.Stat(filepath.Join(work, "mine")); err != nil {
		t.Errorf("the turn did not work in its private workspace: %v", err)
	}
	behind, err := h.Subscribe(ctx(t), "alice", ses, 0)
	must(t, err)
	defer behind.Close()
	if _, _, err := behind.Next(); err != nil {
		t.Fatal(err)
	}
	fresh, err := h.Subscribe(ctx(t), "alice", ses, 0)
	must(t, err)
	defer fresh.Close()
	must(t, h.DeleteSession(ctx(t), "alice", ses))
	if _, err := toEnd(t, fresh); !errors.Is(err, io.EOF) {
		t.Errorf("a reader that had not begun ended with %v", err)
	}
	if _, err := toEnd(t, behind); !errors.Is(err, io.EOF) {
		t.Errorf("a reader that was behind ended with %v", err)
	}
	if _, err := os.Stat(work); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private workspace is still there: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "workspaces")); err != nil || len(left) != 0 {
		t.Errorf("workspaces left: %v, %v", left, err)
	}
}

// The commit of a removal is refused: the delete says so, and works later.
func TestDeleteCanBeRepeatedAfterAStoreFailure(t *testing.T) {
	t.Parallel()
	st := &faulty{Store: memory.New()}
	h := started(t, quick(), st)
	p := create(t, h, "echo on; sleep 300")
	ses := p.Session.ID
	follow(t, h, ses, 0, spoke(p.Turns[0].ID))
	st.refuse()
	if err := h.DeleteSession(ctx(t), "alice", ses); event.CodeOf(err) != event.StorageFailed {
		t.Errorf("delete on a store that refuses: %v", err)
	}
	st.accept()
	eventually(t, "the delete works", func() bool { return h.DeleteSession(ctx(t), "alice", ses) == nil })
}
