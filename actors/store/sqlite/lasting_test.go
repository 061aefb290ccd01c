package sqlite

import (
	"errors"
	"os"
	"testing"

	"github.com/agenthost/agenthost/actors/store"
)

// A power cut in a chaos run takes what was not synced and leaves what was, over
// checkpoints and in whatever moment it comes.
func TestLastingIsWhatWasSynced(t *testing.T) {
	t.Parallel()
	dir, kept, faults := t.TempDir(), t.TempDir(), &Faults{}
	faults.KeepLasting(kept)
	s := mustOpen(t, dir, Options{Faults: faults, BootID: "one"})
	w := newSession(t)
	for range 300 { // some megabytes, so that the log is written back meanwhile
		w.must(s, w.next(200))
	}
	lasting := w.head
	loose := w.next(3)
	loose.Durable = false
	w.must(s, loose)
	w.mustRead(s)

	cut := t.TempDir()
	if err := RestoreLasting(kept, cut); err != nil { // the store goes on: this moment is the cut
		t.Fatal(err)
	}
	mustClose(t, s)
	faults = &Faults{}
	faults.KeepLasting(t.TempDir())
	after := mustOpen(t, cut, Options{Faults: faults, BootID: "two"})
	if !after.Uncertain() {
		t.Error("it does not know that the machine went down")
	}
	rec, err := after.Session(t.Context(), "", w.id)
	if err != nil || rec.Head != lasting {
		t.Fatalf("head %d, want %d: %v", rec.Head, lasting, err)
	}
	w.head = lasting
	w.mustRead(after)
}

func TestNothingLastsBeforeItsSync(t *testing.T) {
	t.Parallel()
	dir, kept, faults := t.TempDir(), t.TempDir(), &Faults{}
	faults.KeepLasting(kept)
	s := mustOpen(t, dir, Options{Faults: faults})
	w := newSession(t)
	faults.FailSyncs(errors.New("no"), 0, -1)
	wantErr(t, "a commit that is not synced", w.commit(s, w.next(1)), store.ErrFailed)
	faults.Clear()
	cut := t.TempDir()
	if err := RestoreLasting(kept, cut); err != nil {
		t.Fatal(err)
	}
	after := mustOpen(t, cut, Options{})
	if _, err := after.Session(t.Context(), "", w.id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a session that was never synced is there: %v", err)
	}
	if err := RestoreLasting(t.TempDir(), cut); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing was kept there: %v", err)
	}
}
