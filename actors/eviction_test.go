package actors_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// wallClock is a clock that stands until a test moves it.
type wallClock struct{ at atomic.Int64 }

func newWallClock() *wallClock {
	c := &wallClock{}
	c.at.Store(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *wallClock) now() time.Time          { return time.UnixMilli(c.at.Load()) }
func (c *wallClock) forward(d time.Duration) { c.at.Add(d.Milliseconds()) }

// resting creates a session that has done a turn, and moves the clock on.
func resting(t *testing.T, h *actors.Host, clock *wallClock, script string) event.ID {
	t.Helper()
	p := create(t, h, script)
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	idle(t, h, p.Session.ID)
	eventually(t, "its reader has left", func() bool { return h.Stats().Subscribers == 0 })
	clock.forward(time.Hour)
	return p.Session.ID
}

// kept fails unless exactly these of the sessions are there.
func kept(t *testing.T, h *actors.Host, want ...event.ID) {
	t.Helper()
	list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{})
	must(t, err)
	var got []event.ID
	for _, s := range list {
		got = append(got, s.ID)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("kept\n %v, want\n %v", got, want)
	}
}

// A session idle for longer than the limit goes with everything that is its; one
// that works, one that waits for its turn, and one with a reader stay.
func TestIdleSessionsGoByTheirAge(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T, string) store.Store{
		"memory": func(*testing.T, string) store.Store { return memory.New() },
		"sqlite": func(t *testing.T, dir string) store.Store {
			s, err := sqlite.Open(dir, sqlite.Options{})
			must(t, err)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, clock, gate := t.TempDir(), newWallClock(), gateIn(t)
			l := quick()
			l.SessionTTL, l.MaxConcurrentTurns = 24*time.Hour, 1
			h := startedIn(t, dir, l, open(t, dir), actors.WithClock(clock.now))
			old := resting(t, h, clock, "mkdir -p outputs; echo result > outputs/r.txt; echo done")
			watched := resting(t, h, clock, "true")
			sub, err := h.Subscribe(ctx(t), "alice", watched, 0)
			must(t, err)
			defer sub.Close()
			busy := create(t, h, blocker(gate))
			follow(t, h, busy.Session.ID, 0, spoke(busy.Turns[0].ID))
			queued := create(t, h, "true") // there is one slot
			turns, _, err := h.Turns(ctx(t), "alice", old, spec.Page{})
			must(t, err)
			arts, _, err := h.Artifacts(ctx(t), "alice", old, event.ID{}, spec.Page{})
			if err != nil || len(arts) != 1 {
				t.Fatalf("artifacts %v, %v", arts, err)
			}

			clock.forward(20 * time.Hour)
			if n := actors.Evict(h); n != 0 {
				t.Errorf("%d sessions were asked to go before their time", n)
			}
			clock.forward(10 * time.Hour)
			young := create(t, h, "")
			actors.Evict(h)
			kept(t, h, watched, busy.Session.ID, queued.Session.ID, young.Session.ID)

			for what, err := range map[string]error{
				"get":       second(h.Session(ctx(t), "alice", old)),
				"post":      second(h.Post(ctx(t), "alice", old, []spec.Action{{Input: input("true")}}, nil)),
				"subscribe": second(h.Subscribe(ctx(t), "alice", old, 0)),
				"delete":    h.DeleteSession(ctx(t), "alice", old),
			} {
				if event.CodeOf(err) != event.SessionNotFound {
					t.Errorf("%s of an evicted session: %v", what, err)
				}
			}
			if _, err := h.Turn(ctx(t), "alice", turns[0].ID); event.CodeOf(err) != event.TurnNotFound {
				t.Errorf("its turn: %v", err)
			}
			if _, err := h.Artifact(ctx(t), "alice", old, arts[0].ID); event.CodeOf(err) != event.ArtifactNotFound {
				t.Errorf("its artifact: %v", err)
			}
			for _, room := range []string{"artifacts", "workspaces"} {
				if left, _ := filepath.Glob(filepath.Join(dir, room, "*", old.Hex())); len(left) > 0 {
					t.Errorf("left in %s: %v", room, left)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "artifacts", "*", arts[0].Turn.Hex())); len(left) > 0 {
				t.Errorf("left of its artifacts: %v", left)
			}
			if n := h.Stats().Evicted; n != 1 {
				t.Errorf("%d counted", n)
			}

			// The reader leaves, the turns end: they rest from then on.
			sub.Close()
			openGate(t, gate)
			follow(t, h, busy.Session.ID, 0, ended(busy.Turns[0].ID))
			follow(t, h, queued.Session.ID, 0, ended(queued.Turns[0].ID))
			idle(t, h, queued.Session.ID)
			eventually(t, "the one that was watched goes", func() bool {
				actors.Evict(h)
				_, err := h.Session(ctx(t), "alice", watched)
				return event.CodeOf(err) == event.SessionNotFound
			})
			kept(t, h, busy.Session.ID, queued.Session.ID, young.Session.ID)
			clock.forward(25 * time.Hour)
			eventually(t, "all go", func() bool { actors.Evict(h); return h.Stats().Evicted == 5 })
			kept(t, h)
		})
	}
}

// At max_sessions a new session takes the place of the longest idle one, and is
// refused only when each is in use.
func TestNewSessionTakesThePlaceOfTheLongestIdle(t *testing.T) {
	t.Parallel()
	clock, gate := newWallClock(), gateIn(t)
	l := quick()
	l.MaxSessions = 3
	h := started(t, l, memory.New(), actors.WithClock(clock.now))
	first, second := resting(t, h, clock, "true"), resting(t, h, clock, "true")
	third := resting(t, h, clock, "true")
	eventually(t, "their turns are over", func() bool { return h.Stats().Running == 0 })
	turn := send(t, h, first, blocker(gate)) // now it is the newest, and busy
	follow(t, h, first, 0, spoke(turn.ID))
	clock.forward(time.Hour)
	fourth := create(t, h, blocker(gate))
	kept(t, h, first, third, fourth.Session.ID)
	fifth := create(t, h, blocker(gate))
	kept(t, h, first, fourth.Session.ID, fifth.Session.ID)
	_ = second
	_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}})
	if event.CodeOf(err) != event.TooManySessions {
		t.Errorf("a session too many: %v", err)
	}
	kept(t, h, first, fourth.Session.ID, fifth.Session.ID)
	openGate(t, gate)
	follow(t, h, fourth.Session.ID, 0, ended(fourth.Turns[0].ID))
	follow(t, h, fifth.Session.ID, 0, ended(fifth.Turns[0].ID))
	follow(t, h, first, 0, ended(turn.ID))
}

// A lower limit than before is reached by passes of bounded work, the longest idle
// first.
func TestLowerLimitIsReached(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), newWallClock()
	open := func() store.Store {
		s, err := sqlite.Open(dir, sqlite.Options{})
		must(t, err)
		return s
	}
	h := dropped(t, dir, quick(), open(), actors.WithClock(clock.now))
	var all []event.ID
	for range 150 {
		all = append(all, create(t, h, "").Session.ID)
		clock.forward(time.Minute)
	}
	stop(t, h)
	l := quick()
	l.MaxSessions = 10
	h = startedIn(t, dir, l, open(), actors.WithClock(clock.now))
	for _, want := range []int{64, 64, 12, 0} {
		if n := actors.Evict(h); n != want {
			t.Errorf("a pass asked %d sessions to go, want %d", n, want)
		}
	}
	kept(t, h, all[140:]...)
}

// Above store_max_bytes the longest idle sessions go until the rest fits.
func TestStoreStaysBelowItsLimit(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), newWallClock()
	s, err := sqlite.Open(dir, sqlite.Options{})
	must(t, err)
	l := quick()
	l.StoreMaxBytes = 3 << 20
	h := startedIn(t, dir, l, s, actors.WithClock(clock.now))
	var all []event.ID
	for range 6 {
		all = append(all, resting(t, h, clock, "head -c 750000 /dev/urandom | base64 -w 1000"))
	}
	eventually(t, "the store fits", func() bool {
		actors.Evict(h)
		used, purging, err := s.Used(ctx(t))
		must(t, err)
		return used <= l.StoreMaxBytes && !purging
	})
	list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{})
	must(t, err)
	if n := len(list); n == 0 || n == 6 {
		t.Fatalf("%d of 6 sessions are left", n)
	}
	kept(t, h, all[6-len(list):]...)
	if n := actors.Evict(h); n != 0 {
		t.Errorf("%d more were asked to go", n)
	}
}

// A session whose data is damaged cannot go; those behind it do.
func TestDamagedSessionDoesNotStopEviction(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), newWallClock()
	st := &faulty{Store: memory.New()}
	l := quick()
	l.SessionTTL = time.Hour
	h := startedIn(t, dir, l, st, actors.WithClock(clock.now))
	hurt := create(t, h, "").Session.ID
	other := create(t, h, "").Session.ID
	clock.forward(48 * time.Hour)
	st.hurt.Store(&hurt)
	actors.Evict(h)
	if _, err := st.Store.Session(ctx(t), "", hurt); err != nil {
		t.Errorf("the damaged one: %v", err)
	}
	if _, err := h.Session(ctx(t), "alice", other); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("the other one: %v", err)
	}
}
