package storetest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// crashDir tells the child process where to write.
const crashDir = "AGENTHOST_STORETEST_CRASH_DIR"

// crashWriters is how many sessions the child writes at once.
const crashWriters = 6

// CrashChild is called first by the TestMain of an implementation that outlives
// a process. In the process that Crash starts it commits until it is killed and
// never returns; everywhere else it does nothing.
func CrashChild(open func(dir string) (store.Store, error)) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return
	}
	if err := writeUntilKilled(dir, open); err != nil {
		fmt.Fprintln(os.Stderr, "crash child:", err)
	}
	os.Exit(3)
}

// announced is one answered commit: the writer's session and its head.
type announced struct {
	session event.ID
	head    int64
}

const announcedSize = 24

func writeUntilKilled(dir string, open func(string) (store.Store, error)) error {
	s, err := open(dir)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	tell := func(a announced) {
		b := binary.LittleEndian.AppendUint64(a.session[:], uint64(a.head))
		mu.Lock()
		defer mu.Unlock()
		_, _ = os.Stdout.Write(b) // a parent that is gone ends us by SIGPIPE
	}
	failed := make(chan error)
	for w := range crashWriters {
		go func() { failed <- crashWriter(s, event.ID{byte(w + 1)}, tell) }()
	}
	return <-failed
}

// crashWriter commits to one session without pause, several commits in flight,
// every fifth one durable, and tells each answer.
func crashWriter(s store.Store, id event.ID, tell func(announced)) error {
	host := event.NewID()
	var head, epoch int64
	switch rec, err := s.Claim(context.Background(), id, host); {
	case err == nil:
		head, epoch = rec.Head, rec.Epoch
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	answers := make(chan error, 64)
	inFlight := 0
	for n := 0; ; n++ {
		c := &store.Commit{Session: id, Host: host, Epoch: epoch, Head: head, Events: Events(id, head+1, 1+n%7), Durable: n%5 == 0}
		if head == 0 {
			c.Create = &store.NewSession{Owner: "crash", Created: 1}
		}
		if n%3 == 0 {
			ordinal := head + 1
			c.Turns = []store.Turn{{ID: event.ItemID(id, uint32(ordinal)), Ordinal: ordinal, State: store.TurnEnded, First: head + 1, Last: c.Last(), Number: ordinal}}
			c.Checkpoint = []byte("checkpoint")
		}
		last := c.Last()
		c.Done = func(err error) {
			if err == nil {
				tell(announced{id, last})
			}
			answers <- err
		}
		s.Commit(c)
		head = last
		if inFlight++; inFlight == cap(answers)/2 {
			if err := <-answers; err != nil {
				return err
			}
			inFlight--
		}
	}
}

// Crash runs a child that commits at full rate, kills it with SIGKILL at kills
// random moments of a fixed seed, and compares after each what is stored with
// what was announced: nothing missing, no gap, nothing twice.
func Crash(t *testing.T, kills int, seed uint64, open func(dir string) (store.Store, error)) {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(seed, 0))
	heads := map[event.ID]int64{}
	total := 0
	for round := range kills {
		total += killOnce(t, dir, time.Duration(rng.Int64N(int64(120*time.Millisecond))), heads)
		s, err := open(dir)
		if err != nil {
			t.Fatalf("round %d: open after the kill: %v", round, err)
		}
		for id, head := range heads {
			compare(t, s, id, head)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if total < kills*crashWriters {
		t.Fatalf("%d commits announced in %d rounds: too few to mean anything", total, kills)
	}
	t.Logf("%d commits announced in %d rounds, none lost", total, kills)
}

// killOnce kills a child some time after its first announcement and notes the
// heads that it announced. It returns how many announcements came.
func killOnce(t *testing.T, dir string, after time.Duration, heads map[event.ID]int64) int {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.AfterFunc(wait, func() { _ = child.Process.Kill() })
	defer deadline.Stop()
	var kill *time.Timer
	in := bufio.NewReader(out)
	n := 0
	for b := make([]byte, announcedSize); ; n++ {
		if _, err := io.ReadFull(in, b); err != nil {
			break
		}
		if kill == nil {
			kill = time.AfterFunc(after, func() { _ = child.Process.Kill() })
		}
		heads[event.ID(b[:16])] = int64(binary.LittleEndian.Uint64(b[16:]))
	}
	if kill == nil {
		t.Fatal("the child announced nothing")
	}
	if err := child.Wait(); err == nil || child.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return n
}

func compare(t *testing.T, s store.Store, id event.ID, announced int64) {
	t.Helper()
	rec, err := s.Session(t.Context(), "crash", id)
	if err != nil {
		t.Fatalf("session %s: %v", id, err)
	}
	if rec.Head < announced {
		t.Fatalf("session %s: event %d was announced, the head is %d", id, announced, rec.Head)
	}
	next := int64(1)
	for next <= rec.Head {
		list, err := s.Read(t.Context(), id, next, rec.Head, 1<<20)
		if err != nil || len(list) == 0 {
			t.Fatalf("session %s: read from %d of %d: %d events, %v", id, next, rec.Head, len(list), err)
		}
		for _, ev := range list {
			if ev != sample(id, next) {
				t.Fatalf("session %s: got event %+v where %d belongs", id, ev, next)
			}
			next++
		}
	}
	// A commit's turn and its checkpoint are there together, and its events too.
	turns, _, err := s.Turns(t.Context(), id, spec.Page{Limit: 1, Desc: true})
	if err != nil || len(turns) != 1 {
		t.Fatalf("session %s: %d turns, %v", id, len(turns), err)
	}
	k, err := s.CheckpointBefore(t.Context(), id, 1<<60)
	if err != nil || k.Seq != turns[0].Last || k.Seq > rec.Head {
		t.Fatalf("session %s: head %d, last turn ends at %d, last checkpoint at %d, %v", id, rec.Head, turns[0].Last, k.Seq, err)
	}
}
