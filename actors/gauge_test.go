package actors_test

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// 200 sessions whose CLIs each take memory, all at once: they wait for it, and the
// machine keeps some.
func TestMemoryHungryTurnsWaitForMemory(t *testing.T) {
	t.Parallel()
	const (
		total, floor, each = 1000 << 20, 200 << 20, 100 << 20 // room for eight
		sessions           = 200
	)
	var h atomic.Pointer[actors.Host]
	var least atomic.Int64
	least.Store(total)
	// What a CLI takes is seen only after a while, as with a real one.
	var seen atomic.Int64
	read := func() (uint64, bool) {
		if h.Load() == nil {
			return total, true
		}
		left := total - seen.Load()*each
		seen.Store(h.Load().Stats().Trees)
		return uint64(max(left, 0)), true
	}
	l := quick()
	l.MaxConcurrentTurns, l.MinAvailableMemory = sessions, floor
	host := started(t, l, memory.New(), actors.WithMemory(read, 10*time.Millisecond, 5*time.Second, each))
	h.Store(host)
	var waited atomic.Bool
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				actors.FixTurnMemory(host, each) // those of the test are small
				now := host.Stats()
				least.Store(min(least.Load(), total-now.Trees*each))
				if now.Waiting > 0 {
					waited.Store(true)
				}
			}
		}
	}()
	actors.FixTurnMemory(host, each)
	var list []*actors.Posted
	for range sessions {
		list = append(list, create(t, host, "sleep 0.05; echo '#final'"))
	}
	for _, p := range list {
		follow(t, host, p.Session.ID, 0, ended(p.Turns[0].ID))
	}
	close(done)
	<-watched
	eventually(t, "all are counted", func() bool { return host.Stats().Completed == sessions })
	if !waited.Load() {
		t.Errorf("none waited: %+v", host.Stats())
	}
	if least.Load() < 0 {
		t.Errorf("%d MiB were missing", -least.Load()>>20)
	}
	t.Logf("least that was left: %d MiB", least.Load()>>20)
}

// What turns take is learned from their processes.
func TestMemoryOfTurnsIsLearned(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what processes take is Linux's to say")
	}
	l := quick()
	l.MinAvailableMemory = 2
	h := started(t, l, memory.New())
	turn := create(t, h, "exec dd if=/dev/zero of=/dev/null bs=64M 2>/dev/null").Turns[0].ID
	eventually(t, "it is learned", func() bool { return h.Stats().TurnMemory > 48<<20 && h.Stats().TurnMemory < 256<<20 })
	_, err := h.CancelTurn(ctx(t), "alice", turn)
	must(t, err)
}

// The same with the real look at the real memory, in a modest size: what each CLI takes
// is learned, and not all run at once.
func TestRealMemoryIsKept(t *testing.T) {
	if os.Getenv("AGENTHOST_CERTIFY") == "" {
		t.Skip("others use and free memory meanwhile: it runs with make certify")
	}
	if runtime.GOOS != "linux" {
		t.Skip("memory is looked at on Linux")
	}
	const sessions, each, room = 24, 64, 512 // MiB
	free, ok := actors.AvailableMemory()
	if !ok || free < (room+256)<<20 {
		t.Skip("too little memory is free")
	}
	l := quick()
	l.MaxConcurrentTurns, l.MinAvailableMemory = sessions, free-room<<20
	h := started(t, l, memory.New())
	var most int64
	var list []*actors.Posted
	for range sessions {
		// It keeps its memory for a while, and says so with the size of its block.
		list = append(list, create(t, h, fmt.Sprintf("timeout 2 dd if=/dev/zero of=/dev/null bs=%dM 2>/dev/null; echo '#final'", each)))
	}
	eventually(t, "all have run", func() bool {
		most = max(most, h.Stats().Trees)
		return h.Stats().Completed == sessions
	})
	for _, p := range list {
		follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	}
	if most < 2 || most > sessions/2 {
		t.Errorf("%d ran at once, and there was room for %d", most, room/each)
	}
	t.Logf("%d at once; a turn takes %d MiB", most, h.Stats().TurnMemory>>20)
}
