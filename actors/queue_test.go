package actors_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// Ten inputs at once on a new session: never two CLIs at once, in the order of
// acceptance, and each resumes the native session that the one before it named.
func TestInputsAtOnceRunOneByOne(t *testing.T) {
	t.Parallel()
	log := t.TempDir() + "/log"
	h := started(t, quick(), memory.New())
	ses := create(t, h, "").Session.ID
	var mu sync.Mutex
	prompts := map[event.ID]string{}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			prompt := fmt.Sprintf("echo s %d $NATIVE >>%s; echo '#session n-%d'; echo e %d >>%s; echo '#final'", i, log, i, i, log)
			turn := send(t, h, ses, prompt).ID
			mu.Lock()
			prompts[turn] = fmt.Sprint(i)
			mu.Unlock()
		})
	}
	wg.Wait()
	eventually(t, "all done", func() bool {
		s, err := h.Session(ctx(t), "alice", ses)
		return err == nil && s.Open == 0 && s.Turns == 10
	})
	turns, _, err := h.Turns(ctx(t), "alice", ses, spec.Page{Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	native := ""
	for _, turn := range turns {
		n := prompts[turn.ID]
		fmt.Fprintf(&want, "s %s %s\ne %s\n", n, native, n)
		native = "n-" + n
	}
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), " \n", "\n") != strings.ReplaceAll(want.String(), " \n", "\n") {
		t.Errorf("the CLIs ran\n%s\nwant\n%s", got, want.String())
	}
}

// A full queue refuses a whole post and takes the next one after a turn.
func TestFullQueueRefusesAllOrNothing(t *testing.T) {
	t.Parallel()
	gate, l := gateIn(t), quick()
	l.MaxQueue = 2
	h := started(t, l, memory.New())
	p := create(t, h, blocker(gate))
	ses := p.Session.ID
	follow(t, h, ses, 0, spoke(p.Turns[0].ID))
	send(t, h, ses, "echo one")
	two := []spec.Action{{Input: input("echo two")}, {Input: input("echo three")}}
	_, err := h.Post(ctx(t), "alice", ses, two, nil)
	if f, ok := event.AsFailure(err); !ok || f.Code != event.QueueFull || f.RetryAfter == 0 {
		t.Errorf("two inputs for one place: %v", err)
	}
	last := send(t, h, ses, "echo two").ID
	openGate(t, gate)
	if got := judgeEnds(t, h, ses, ended(last)); len(got) != 3 {
		t.Errorf("%d turns, want 3", len(got))
	}
	if _, err := h.Post(ctx(t), "alice", ses, two, nil); err != nil {
		t.Errorf("an empty queue takes two: %v", err)
	}
}

// Below the memory floor one turn runs at a time, and one always may.
func TestMemoryFloorLetsOneTurnRun(t *testing.T) {
	t.Parallel()
	gate, l := gateIn(t), quick()
	l.MinAvailableMemory, l.MaxConcurrentTurns = 1<<62, 8
	h := started(t, l, memory.New())
	if h.Stats().Room {
		t.Error("there is room")
	}
	var list []*actors.Posted
	for range 3 {
		list = append(list, create(t, h, blocker(gate)))
	}
	follow(t, h, list[0].Session.ID, 0, spoke(list[0].Turns[0].ID))
	eventually(t, "two wait", func() bool { return h.Stats().Waiting == 2 })
	if s := h.Stats(); s.Running != 1 {
		t.Errorf("%d run", s.Running)
	}
	openGate(t, gate)
	for _, p := range list {
		follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	}
}
