package storetest

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// rest makes a session idle since at.
func (s *suite) rest(id event.ID, head, at int64, state store.SessionState) {
	s.Helper()
	c := s.after(id, head, 1)
	c.State, c.Active, c.Body = &state, at, []byte("b")
	s.must(c)
}

// idle walks the list in pages of limit.
func (s *suite) idle(limit int) (ids []event.ID) {
	s.Helper()
	var at store.IdleSession
	for range 100 {
		list, err := s.IdleSessions(s.ctx(), at, limit)
		s.ok("idle sessions", err)
		if len(list) > limit {
			s.Fatalf("%d sessions in a page of %d", len(list), limit)
		}
		if len(list) == 0 {
			return ids
		}
		for _, one := range list {
			ids = append(ids, one.ID)
		}
		at = list[len(list)-1]
	}
	s.T.Fatal("the pages do not end")
	return nil
}

func idleSessionsByAge(s *suite) {
	const n = 9
	want := make([]event.ID, n)
	for _, i := range shuffled(n) {
		want[i] = s.createAt("ann", 1, 500)
		s.rest(want[i], 1, int64(1000+i), store.Idle)
	}
	fresh, busy, gone := s.createAt("bob", 1, 999), s.createAt("bob", 1, 10), s.createAt("bob", 1, 10)
	s.rest(busy, 1, 11, store.Active)
	s.ok("remove", s.Remove(s.ctx(), gone))
	want = append([]event.ID{fresh}, want...) // never active: as old as it is
	twin := s.createAt("ann", 1, 1001)        // the same moment: in the order of their making
	want = append(want[:3:3], append([]event.ID{twin}, want[3:]...)...)
	for _, limit := range []int{1, 3, 50} {
		equalIDs(s.T, "idle", s.idle(limit), want)
	}
	// One that does something again goes to the end, one that works leaves the list.
	s.rest(want[2], 2, 5000, store.Idle)
	s.rest(want[4], 2, 6000, store.Active)
	if got := s.session(want[2]).Active; got != 5000 {
		s.Errorf("active at %d, want 5000", got)
	}
	moved := want[2]
	left := append(append(want[:2:2], want[3]), want[5:]...)
	equalIDs(s.T, "idle", s.idle(4), append(left, moved))
	s.reopen()
	equalIDs(s.T, "idle after a restart", s.idle(4), append(left, moved))
}

func usedFollowsWhatIsKept(s *suite) {
	used := func() int64 {
		s.Helper()
		n, _, err := s.Used(s.ctx())
		s.ok("used", err)
		return n
	}
	before := used()
	id := s.create("ann", 1)
	c := s.after(id, 1, 40)
	for i := range c.Events {
		c.Events[i].Text = incompressible(64 << 10)
	}
	s.must(c)
	full := used()
	if full <= before {
		s.Fatalf("%d bytes are used, %d before anything was written", full, before)
	}
	s.ok("remove", s.Remove(s.ctx(), id))
	for deadline := time.Now().Add(wait); ; {
		n, purging, err := s.Used(s.ctx())
		s.ok("used", err)
		if !purging && n < full {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("%d bytes are used after the removal, %d before (purging %v)", n, full, purging)
		}
		time.Sleep(time.Millisecond) // between two looks at the condition
	}
}

// incompressible is a text that no compression makes smaller than half.
func incompressible(n int) string {
	b := make([]byte, n/2)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
