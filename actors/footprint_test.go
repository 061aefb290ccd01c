package actors_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// live is the size of what can be reached.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one finalized
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// roomy is a host that puts no session away by itself.
func roomy(t *testing.T, st store.Store) *actors.Host {
	t.Helper()
	l := quick()
	l.PassivateAfter = time.Hour
	h, err := actors.New(actors.WithStateDir(t.TempDir()), actors.WithStore(st), actors.WithLimits(l), actors.WithShortRest(time.Hour, 1000), with(script{}))
	must(t, err)
	must(t, h.Start(t.Context()))
	return h
}

func unused(t *testing.T, h *actors.Host, n int) []event.ID {
	t.Helper()
	ids := make([]event.ID, n)
	for i := range ids {
		p, err := h.CreateSession(t.Context(), "alice", &spec.NewSession{
			Agent:    spec.Agent{Adapter: "script", Model: "small", Instructions: "Be brief."},
			Metadata: map[string]string{"place": "shelf"},
		})
		must(t, err)
		ids[i] = p.Session.ID
	}
	return ids
}

// An idle session takes little memory, and next to none once it was put away. It is
// not parallel: it looks at all memory of the process. The bounds are generous: what
// they are for is an object that comes back, a map made too early, a buffer kept.
func TestIdleSessionsTakeLittleMemory(t *testing.T) {
	const n, fresh, away = 2000, 3800, 1000
	st := memory.New()
	before := live()
	h := roomy(t, st)
	empty := live() - before
	ids := unused(t, h, n)
	held := live()
	actors.PutAway(h, ids...)
	passivated(t, h)
	kept := live()
	must(t, h.Stop(t.Context()))
	stored := live()
	if each := (held - kept) / n; each > fresh {
		t.Errorf("a session without a turn takes %d B in memory, more than %d", each, fresh)
	} else {
		t.Logf("a session without a turn: %d B", each)
	}
	if each := (kept - stored - empty) / n; each > away {
		t.Errorf("a session that was put away leaves %d B in memory, more than %d", each, away)
	} else {
		t.Logf("one that was put away: %d B", each)
	}
	runtime.KeepAlive(st)
}

// What a turn said does not stay in memory behind its end, once nobody reads it.
func TestFinishedTurnsTakeLittleMemory(t *testing.T) {
	const n, bound = 60, 12 << 10
	st := memory.New()
	h := roomy(t, st)
	ids := unused(t, h, n)
	for _, id := range ids {
		turn := send(t, h, id, "for i in 1 2 3 4 5 6 7 8 9 10; do echo a message of some length, the number of which is $i; done; echo '#final'")
		follow(t, h, id, 0, ended(turn.ID))
	}
	eventually(t, "nobody reads and nothing runs", func() bool { s := h.Stats(); return s.Subscribers == 0 && s.Running == 0 && s.Trees == 0 })
	held := live()
	actors.PutAway(h, ids...)
	passivated(t, h)
	if each := (held - live()) / n; each > bound {
		t.Errorf("a session whose turn has ended takes %d B in memory, more than %d", each, bound)
	} else {
		t.Logf("a session whose turn has ended: %d B", each)
	}
	must(t, h.Stop(t.Context()))
	runtime.KeepAlive(st)
}

// A session that never had a turn does not stay as long as one that had.
func TestUnusedSessionsArePutAwaySooner(t *testing.T) {
	t.Parallel()
	l := quick()
	l.PassivateAfter = time.Hour
	h, err := actors.New(actors.WithStateDir(t.TempDir()), actors.WithStore(memory.New()), actors.WithLimits(l), actors.WithShortRest(time.Millisecond, 1000), with(script{}))
	must(t, err)
	must(t, h.Start(ctx(t)))
	t.Cleanup(func() { must(t, h.Stop(t.Context())) })
	unused(t, h, 3)
	passivated(t, h)
	p := create(t, h, "echo hi; echo '#final'")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	unused(t, h, 3)
	eventually(t, "only the one with a turn is there", func() bool { return h.Stats().Active == 1 })
	if used, err := h.Session(ctx(t), "alice", p.Session.ID); err != nil || used.Turns != 1 {
		t.Errorf("the one that stayed: %+v, %v", used, err)
	}
}

// Of very many sessions those that have come to rest do not wait for the whole time in
// memory, and go on from the store.
func TestACrowdIsPutAwaySooner(t *testing.T) {
	t.Parallel()
	l := quick()
	l.PassivateAfter = time.Hour
	h, err := actors.New(actors.WithStateDir(t.TempDir()), actors.WithStore(memory.New()), actors.WithLimits(l), actors.WithShortRest(time.Millisecond, 2), with(script{}))
	must(t, err)
	must(t, h.Start(ctx(t)))
	t.Cleanup(func() { must(t, h.Stop(t.Context())) })
	var all []*actors.Posted
	for range 6 {
		all = append(all, create(t, h, "echo hi; echo '#final'"))
	}
	for _, p := range all {
		follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	}
	eventually(t, "two are left at most", func() bool { return h.Stats().Active <= 2 })
	for _, p := range all {
		turn := send(t, h, p.Session.ID, "echo again; echo '#final'")
		follow(t, h, p.Session.ID, 0, ended(turn.ID))
	}
	eventually(t, "two are left at most", func() bool { return h.Stats().Active <= 2 })
}
