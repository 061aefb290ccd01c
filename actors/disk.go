package actors

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages about a disk that is nearly full.
type (
	// disk says whether the disk below the store is below its floor.
	disk struct{ low bool }
	// giveUp ends the running turn of a session.
	giveUp struct{ failure *event.Failure }
)

// lookAtDisk asks the store in a goroutine, for a disk may keep one waiting; the next
// look is not begun before it.
func (h *Host) lookAtDisk() {
	if !h.stats.asksDisk.CompareAndSwap(false, true) {
		return
	}
	h.work.Go(func() {
		defer h.stats.asksDisk.Store(false)
		low := h.store.Room() != nil
		if h.stats.lowDisk.Swap(low) || low {
			h.root.Send(h.supervisor, &disk{low})
		}
	})
}

// giveUp ends the running turn, once: a second stop would kill it at once.
func (s *session) giveUp(c actor.Context, f *event.Failure) {
	if s.run != nil && !s.run.givenUp {
		s.run.givenUp = true
		s.stopTurn(c, f)
	}
}

// disked lets no further turn start while the disk is low, and ends those that run while
// there is room to store how: what they and their tools write is what fills it. Those
// that wait for their caller without a slot write nothing and are left alone, and what
// is queued waits.
func (s *supervisor) disked(c actor.Context, low bool) {
	if low {
		for _, session := range s.holders {
			s.deliver(c, session, &giveUp{event.Fail(event.StorageFailed,
				"this turn was ended because the disk below the state directory has less free than limits.min_free_disk; what it said so far is stored")}, fromStore)
		}
	}
	s.grant(c, s.admit.Hold(low))
}
