package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

//cases:114
func TestFullDiskRefusesAndRecovers(t *testing.T) {
	t.Parallel()
	faults := &Faults{}
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{Faults: faults})
	w, other := newSession(t), newSession(t)
	w.must(s, w.next(5))
	other.must(s, other.next(1))

	faults.FailWrites(syscall.ENOSPC, 0, -1)
	wantErr(t, "commit on a full disk", w.commit(s, w.next(3)), store.ErrFull)
	wantErr(t, "remove on a full disk", s.Remove(t.Context(), other.id), store.ErrFull)
	w.mustRead(s)
	other.mustRead(s)
	select {
	case <-s.Fatal():
		t.Fatal("a full disk ended the store")
	default:
	}
	faults.Clear()
	w.must(s, w.next(3))
	other.must(s, other.next(3))
	w.mustRead(s)
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	w.mustRead(s)
	other.mustRead(s)
	if n, err := s.SessionCount(t.Context()); err != nil || n != 2 {
		t.Fatalf("%d sessions, %v", n, err)
	}
}

func TestPassingWriteErrorIsRetried(t *testing.T) {
	t.Parallel()
	faults := &Faults{}
	s := mustOpen(t, t.TempDir(), Options{Faults: faults})
	w := newSession(t)
	w.must(s, w.next(5))
	faults.FailWrites(syscall.EIO, 0, 1)
	w.must(s, w.next(3))
	w.mustRead(s)
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestLastingWriteErrorIsFatal(t *testing.T) {
	t.Parallel()
	faults := &Faults{}
	s := mustOpen(t, t.TempDir(), Options{Faults: faults})
	w := newSession(t)
	w.must(s, w.next(5))
	faults.FailWrites(syscall.EIO, 0, -1)
	wantErr(t, "commit", w.commit(s, w.next(3)), store.ErrFailed)
	<-s.Fatal()
	faults.Clear()
}

func TestFailedSyncIsFatal(t *testing.T) {
	t.Parallel()
	faults := &Faults{}
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{Faults: faults})
	w := newSession(t)
	w.must(s, w.next(5))
	faults.FailSyncs(syscall.EIO, 0, 1)
	wantErr(t, "commit", w.commit(s, w.next(3)), store.ErrFailed)
	select {
	case <-s.Fatal():
	case <-time.After(10 * time.Second):
		t.Fatal("Fatal is not closed")
	}
	wantErr(t, "Err", s.Err(), store.ErrFailed)
	// The disk works again, but what it dropped is unknown: everything is refused.
	wantErr(t, "later commit", w.commit(s, w.next(1)), store.ErrFailed)
	_, err := s.Session(t.Context(), "", w.id)
	wantErr(t, "read", err, store.ErrFailed)
	wantErr(t, "remove", s.Remove(t.Context(), w.id), store.ErrFailed)
	_ = s.Close() // may repeat the fault
	s = mustOpen(t, dir, Options{})
	w.mustRead(s)
}

// A slow disk is why groups exist: commits that come during a sync share the
// next one.
func TestCommitsShareSyncs(t *testing.T) {
	t.Parallel()
	faults := &Faults{}
	s := mustOpen(t, t.TempDir(), Options{Faults: faults})
	faults.SlowSyncs(10 * time.Millisecond)
	before := s.Stats()
	const sessions, each = 32, 5
	var wg sync.WaitGroup
	for range sessions {
		wg.Go(func() {
			w := newSession(t)
			for range each {
				c := w.next(1)
				if err := <-send(s, c); err != nil {
					t.Error(err)
					return
				}
				w.head = c.Last()
			}
		})
	}
	wg.Wait()
	after := s.Stats()
	if commits := after.Commits - before.Commits; commits != sessions*each {
		t.Fatalf("%d commits, want %d", commits, sessions*each)
	}
	if syncs := after.Syncs - before.Syncs; syncs < each || syncs > sessions*each/4 {
		t.Fatalf("%d syncs for %d durable commits", syncs, sessions*each)
	}
}

func TestOnlyDurableCommitsSync(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), Options{})
	w := newSession(t)
	w.must(s, w.next(1))
	before := s.Stats().Syncs
	for range 20 {
		c := w.next(2)
		c.Durable = false
		w.must(s, c)
	}
	if n := s.Stats().Syncs - before; n != 0 {
		t.Fatalf("%d syncs for commits that asked for none", n)
	}
	w.must(s, w.next(1))
	if n := s.Stats().Syncs - before; n != 1 {
		t.Fatalf("%d syncs for one durable commit, want 1", n)
	}
}

func TestDiskFloorRefusesNewWorkOnly(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	free, now := uint64(1000), time.Unix(1000, 0)
	set := func(bytes uint64) {
		mu.Lock()
		defer mu.Unlock()
		free, now = bytes, now.Add(2*time.Second)
	}
	s := mustOpen(t, t.TempDir(), Options{
		MinFreeDisk: 500,
		Now:         func() time.Time { mu.Lock(); defer mu.Unlock(); return now },
		freeDisk:    func(string) (uint64, error) { mu.Lock(); defer mu.Unlock(); return free, nil },
	})
	w := newSession(t)
	w.must(s, w.next(1))
	set(499)
	wantErr(t, "new session", newSession(t).commit(s, newSession(t).next(1)), store.ErrFull)
	c := w.next(1)
	c.Key = &store.Key{Owner: "ann", Value: "k"}
	wantErr(t, "keyed commit", w.commit(s, c), store.ErrFull)
	c = w.next(1)
	c.Events[0].Kind, c.Events[0].Body = event.InputAccepted, &event.Input{}
	wantErr(t, "input", w.commit(s, c), store.ErrFull)
	wantErr(t, "record", s.PutRecord(t.Context(), &store.Record{Kind: "agent"}), store.ErrFull)
	wantErr(t, "room", s.Room(), store.ErrFull)
	w.must(s, w.next(1)) // what ends running work is stored
	set(500)
	wantErr(t, "room at the floor", s.Room(), store.ErrFull)
	set(532)
	if err := s.Room(); err != nil {
		t.Error(err)
	}
	w.must(s, w.next(1))
	fresh := newSession(t)
	fresh.must(s, fresh.next(1))
}

// The log stays short although readers never pause and the writer does not wait.
func TestLogStaysShortBesideReaders(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("writes 80 MiB")
	}
	s := mustOpen(t, t.TempDir(), Options{})
	w := newSession(t)
	for range 64 {
		c := w.next(1)
		c.Events[0].Text = noise(8<<10, w.head)
		w.must(s, c)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Read(t.Context(), w.id, 1, 64, 1<<20); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	flood := newSession(t)
	largest := int64(0)
	for range 160 {
		c := flood.next(1)
		c.Durable = false
		c.Events[0].Text = noise(512<<10, flood.head)
		flood.must(s, c)
		largest = max(largest, s.Stats().WAL)
	}
	close(stop)
	wg.Wait()
	if largest > 48<<20 {
		t.Fatalf("the log grew to %d MiB", largest>>20)
	}
	t.Logf("largest log %d MiB", largest>>20)
}

// noise is text that does not compress.
func noise(n int, seed int64) string {
	b := make([]byte, n)
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x>>32)&0x3f + ' '
	}
	return string(b)
}

// A crash in the middle of any write loses nothing that was acknowledged, whichever
// write it is, and is no damage.
//
//cases:116
func TestTornWritesLoseNothingAcknowledged(t *testing.T) {
	t.Parallel()
	torn := 0
	for after := range int64(14) {
		faults := &Faults{}
		from := t.TempDir()
		s := mustOpen(t, from, Options{Faults: faults})
		w := newSession(t)
		for range 4 {
			w.must(s, w.next(5))
		}
		faults.TearWrites(syscall.EIO, after, -1)
		for range 4 {
			if w.commit(s, w.next(5)) != nil {
				torn++
				break
			}
		}
		dir := copied(t, from)
		faults.Clear()
		s, log, kept := openLogged(t, dir)
		if len(kept) > 0 || log != "" {
			t.Errorf("write %d: taken for damage: %s", after, log)
		}
		w.mustRead(s)
		rec, err := s.Session(t.Context(), "ann", w.id)
		if err != nil || rec.Head != w.head && rec.Head != w.head+5 {
			t.Fatalf("write %d: head %d, acknowledged %d, %v", after, rec.Head, w.head, err)
		}
		w.head = rec.Head // the commit in flight may have come through
		w.mustRead(s)
		w.must(s, w.next(2))
	}
	if torn == 0 {
		t.Fatal("no write was torn")
	}
}

// A log that is cut anywhere gives whole commits, in their order: the newest are
// gone, and no other.
//
//cases:116
func TestCutLogGivesWholeCommits(t *testing.T) {
	t.Parallel()
	from, w := crashed(t, 12)
	log := readFile(t, filepath.Join(from, fileName+"-wal"))
	heads := map[int64]bool{}
	for cut := len(log); cut > 0; cut -= len(log)/23 + 1 {
		dir := t.TempDir()
		for name, b := range map[string][]byte{fileName: readFile(t, filepath.Join(from, fileName)), fileName + "-wal": log[:cut]} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := mustOpen(t, dir, Options{})
		rec, err := s.Session(t.Context(), "", w.id)
		if errors.Is(err, store.ErrNotFound) {
			heads[0] = true
			continue
		}
		if err != nil || rec.Head%3 != 0 {
			t.Fatalf("cut at %d: %+v, %v", cut, rec, err)
		}
		heads[rec.Head] = true
		(&session{t: t, id: w.id, head: rec.Head}).mustRead(s)
	}
	if len(heads) < 6 {
		t.Errorf("the cuts gave only %v", heads)
	}
}

func TestReadErrorIsTyped(t *testing.T) {
	t.Parallel()
	faults := &Faults{}
	dir := t.TempDir()
	written(t, dir, 40, 20)
	s := mustOpen(t, dir, Options{Faults: faults})
	faults.FailReads(syscall.EIO, 0, -1)
	list, _, err := s.Sessions(t.Context(), store.SessionFilter{}, spec.Page{})
	if err == nil || len(list) > 0 || errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a disk that cannot be read: %d sessions, %v", len(list), err)
	}
	faults.Clear()
	if list, _, err := s.Sessions(t.Context(), store.SessionFilter{}, spec.Page{}); err != nil || len(list) != 40 {
		t.Errorf("after it: %d sessions, %v", len(list), err)
	}
}
