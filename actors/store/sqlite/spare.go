package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

const reserveName = "reserve"

// spare is room on the disk that nothing uses until the disk is full: then it is
// given to what must be stored all the same, the ends of turns that ran, and what makes
// room, which needs some itself. Everything else is refused until the reserve is whole
// again.
type spare struct {
	path   string
	size   int64 // 0: there is none
	faults *Faults
	held   bool
	spent  bool
}

func newSpare(dir string, size int64, faults *Faults) *spare {
	return &spare{path: filepath.Join(dir, reserveName), size: max(size, 0), faults: faults}
}

// hold makes the reserve whole, or says why it cannot be. One of a former run is taken
// over; one that the settings do not want any more is let go.
func (r *spare) hold() (err error) {
	if r.size == 0 {
		if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := r.faults.take(r.size); err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(f.Truncate(r.size), allocate(f, r.size), f.Close())
	}
	if err != nil {
		r.faults.give(r.size)
		_ = os.Remove(r.path) // a part of it is of no use, and the disk is full
		return fmt.Errorf("keep %d bytes of the disk in reserve: %w", r.size, err)
	}
	r.held, r.spent = true, false
	return nil
}

// spend gives the room away; false when there is none to give.
func (r *spare) spend() bool {
	if !r.held {
		return false
	}
	if err := os.Remove(r.path); err != nil {
		return false
	}
	r.held, r.spent = false, true
	r.faults.give(r.size)
	return true
}

// adds says that a commit only adds to what is stored, which a full disk refuses: it
// does not end a turn.
func adds(c *store.Commit) bool {
	if accepts(c) {
		return true
	}
	for i := range c.Events {
		if c.Events[i].Kind == event.TurnEnded {
			return false
		}
	}
	return len(c.Events) > 0
}

// ration refuses what only adds while the reserve is spent and cannot be made whole.
func (w *writer) ration(group []*request) {
	r := w.spare
	if !r.spent {
		return
	}
	if r.hold() == nil {
		w.store.opts.Logger.Info("the disk has room again", "dir", w.store.dir)
		return
	}
	refuseAdding(group)
}

// rescue spends the reserve on those of a group that may have it.
func (w *writer) rescue(group []*request) bool {
	if !w.spare.spend() {
		return false
	}
	w.store.opts.Logger.Error("the disk is full; the reserve is used for the ends of turns, and everything else is refused until there is room", "dir", w.store.dir, "reserve", w.spare.size)
	refuseAdding(group)
	return true
}

func refuseAdding(group []*request) {
	for _, r := range group {
		if r.adds && !r.low {
			r.low, r.err = true, fmt.Errorf("%w: what is left of the disk is kept for the ends of turns", store.ErrFull)
		}
	}
}
