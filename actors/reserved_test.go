package actors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// onDisk is what a state directory's disk holds at this moment.
func onDisk(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	for _, f := range []string{"id", "store.db-wal", "store.db"} {
		b, err := os.ReadFile(filepath.Join(dir, f))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(to, f), b, 0o600))
	}
	return to
}

func inBoot(t *testing.T, dir, boot string) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(dir, sqlite.Options{BootID: boot})
	must(t, err)
	return st
}

// eventsAfter reads a session behind a cursor, over what was skipped.
func eventsAfter(t *testing.T, h *actors.Host, session event.ID, after int64, until func(event.Event) bool) []event.Event {
	t.Helper()
	sub, err := h.Subscribe(ctx(t), "alice", session, after)
	if err != nil {
		t.Fatalf("subscribe behind %d: %v", after, err)
	}
	defer sub.Close()
	var got []event.Event
	for c := ctx(t); ; {
		b, wake, err := sub.Next()
		if err != nil {
			t.Fatalf("behind %d, after %s: %v", after, kinds(got), err)
		}
		if b == nil {
			select {
			case <-wake:
				continue
			case <-c.Done():
				t.Fatalf("behind %d: no end after %s", after, kinds(got))
			}
		}
		if b.First() > after+1 {
			t.Fatalf("a batch begins at %d for the cursor %d", b.First(), after)
		}
		for _, ev := range b.Events[b.After(after):] {
			if !store.Follows(&ev, after+1) && ev.Kind != event.Skipped {
				t.Fatalf("event %d after %d", ev.Seq, after)
			}
			after = ev.Seq
			if got = append(got, ev); until(ev) {
				return got
			}
		}
	}
}

// The machine goes down under a turn that talks: of what readers have seen the
// disk has only a part. Their cursors are never given to other events, and every
// one of them is good for reading on.
func TestCrashedMachine(t *testing.T) {
	t.Parallel()
	dir, gate := t.TempDir(), gateIn(t)
	old := startedIn(t, dir, quick(), inBoot(t, dir, "first"))
	p := create(t, old, fmt.Sprintf("echo first; while [ ! -e %s ]; do sleep 0.01; done; while :; do echo on; sleep 0.005; done", gate))
	ses, turn := p.Session.ID, p.Turns[0].ID
	follow(t, old, ses, 0, spoke(turn))
	other := create(t, old, "echo hi; echo '#final'")
	rested := follow(t, old, other.Session.ID, 0, ended(other.Turns[0].ID))
	eventually(t, "the other session's end is stored", func() bool { return headOf(t, old, other.Session.ID) == int64(len(rested)) })
	crashed := onDisk(t, dir) // the sync of the other session has taken all along
	openGate(t, gate)
	deltas := 0
	seen := follow(t, old, ses, 0, func(ev event.Event) bool {
		if ev.Kind == event.TextDelta {
			deltas++
		}
		return deltas == 20
	})
	last := seen[len(seen)-1].Seq
	killed := onDisk(t, dir)

	t.Run("killed", func(t *testing.T) {
		h := startedIn(t, killed, quick(), inBoot(t, killed, "first"))
		got := follow(t, h, ses, 0, ended(turn))
		if !reflect.DeepEqual(got[:len(seen)], seen) {
			t.Errorf("a kill of the process lost something of %s", kinds(seen))
		}
		for _, ev := range got {
			if ev.Kind == event.Skipped {
				t.Errorf("a kill of the process skipped to %d", ev.Seq)
			}
		}
	})

	h := dropped(t, crashed, quick(), inBoot(t, crashed, "second"))
	// The other session is loaded by a reader with a cursor that may have been seen.
	idleSkip := eventsAfter(t, h, other.Session.ID, int64(len(rested))+3, func(event.Event) bool { return true })[0]
	if idleSkip.Kind != event.Skipped || idleSkip.Seq <= int64(len(rested)) {
		t.Errorf("the session at rest goes on with %s %d", idleSkip.Kind, idleSkip.Seq)
	}
	if _, err := h.Subscribe(ctx(t), "alice", ses, 1<<40); event.CodeOf(err) != event.CursorNotFound {
		t.Errorf("a cursor above the mark: %v", err)
	}
	whole := eventsAfter(t, h, ses, 0, ended(turn))
	kept := 0
	for whole[kept].Kind != event.Skipped {
		kept++
	}
	if kept == 0 || kept >= len(seen) || !reflect.DeepEqual(whole[:kept], seen[:kept]) {
		t.Fatalf("of %d events %d are left: %s", len(seen), kept, kinds(whole))
	}
	if whole[kept].Seq < last || whole[kept+1].Seq != whole[kept].Seq+1 {
		t.Errorf("the events behind %d are given %d and %d; readers have seen %d", kept, whole[kept].Seq, whole[kept+1].Seq, last)
	}
	if end := outcome(t, whole); end.Outcome != event.Failed || end.Failure.Code != event.ServerRestarted {
		t.Errorf("the turn ended %+v", end)
	}
	// No place in a response's stream is given twice either.
	if shown := seen[len(seen)-1].Step; whole[kept+1].Step <= shown {
		t.Errorf("step %d comes after %d was seen", whole[kept+1].Step, shown)
	}
	rest := func(h *actors.Host) {
		t.Helper()
		for after := int64(0); after <= last+2; after++ {
			want := whole[min(after, int64(kept)):]
			if got := eventsAfter(t, h, ses, after, ended(turn)); !reflect.DeepEqual(got, want) {
				t.Fatalf("behind %d comes %s, want %s", after, kinds(got), kinds(want))
			}
		}
	}
	rest(h)
	next := send(t, h, ses, "echo more; echo '#final'")
	follow(t, h, ses, next.First-1, ended(next.ID))
	stop(t, h)

	// And from the store alone, without another gap.
	h = startedIn(t, crashed, quick(), inBoot(t, crashed, "third"))
	rest(h)
	for _, ev := range eventsAfter(t, h, ses, next.First-1, ended(next.ID)) {
		if ev.Kind == event.Skipped {
			t.Errorf("an ordinary restart skipped to %d", ev.Seq)
		}
	}
}

// The successor after a crash may go as well before it has looked at every
// session: that a session is in doubt is kept with it.
func TestDoubtOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := memory.New()
	h := dropped(t, dir, quick(), st)
	p := create(t, h, "echo hi; echo '#final'")
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	stop(t, h)
	st = st.Reopen()
	st.Crash()
	stop(t, dropped(t, dir, quick(), st))
	st = st.Reopen()
	h = startedIn(t, dir, quick(), st)
	mark, err := st.Session(ctx(t), "", ses)
	if err != nil || !mark.Uncertain {
		t.Fatalf("%+v, %v", mark, err)
	}
	more := send(t, h, ses, "echo more; echo '#final'")
	if more.First <= mark.Reserved {
		t.Errorf("the next turn begins at %d, the mark was %d", more.First, mark.Reserved)
	}
	got := eventsAfter(t, h, ses, 0, ended(more.ID))
	if back, err := h.Turn(ctx(t), "alice", more.ID); err != nil || len(back.Items) != 1 || back.First != more.First {
		t.Errorf("%+v, %v, of %s", back, err, kinds(got))
	}
}
