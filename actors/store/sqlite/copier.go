package sqlite

import (
	"sync/atomic"

	"github.com/agenthost/agenthost/actors/crash"
)

// Bounds of the write-ahead log.
const (
	pageSize = 8192
	// copyFrom is how much of the log may wait before it is copied into the file.
	copyFrom = 8 << 20
	// gateFrom is the size at which readers are held back once, so that the log
	// can start anew.
	gateFrom = 32 << 20
	// askEvery is how many groups pass between two looks at the log.
	askEvery = 4
)

// copier copies the log into the file on a connection of its own, so that the
// writer goes on meanwhile.
type copier struct {
	store *Store
	db    *db
	ask   chan struct{}
	ended chan struct{}
	// done says that a copy has ended since the writer last looked.
	done atomic.Bool
	busy atomic.Bool
	// failing keeps a full disk from filling the log with one line a try.
	failing atomic.Bool
}

func newCopier(s *Store, d *db) *copier {
	return &copier{store: s, db: d, ask: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (c *copier) run() {
	defer crash.Guard()
	defer close(c.ended)
	for range c.ask {
		err := c.store.guard("checkpointer", func() error {
			_, _, err := c.db.Checkpoint(checkpointPassive)
			return err
		})
		c.report(err)
		c.busy.Store(false)
		c.done.Store(true)
	}
}

func (c *copier) report(err error) {
	if err == nil {
		c.failing.Store(false)
	} else if !c.failing.Swap(true) && c.store.Err() == nil {
		c.store.opts.Logger.Warn("copying the write-ahead log failed", "error", err)
	}
}

// start asks for a copy unless one runs.
func (c *copier) start() {
	if c.busy.CompareAndSwap(false, true) {
		c.ask <- struct{}{} // room for one, and busy keeps it at one
	}
}

// end waits for the copy that runs.
func (c *copier) end() {
	close(c.ask)
	<-c.ended
}

// checkpoint keeps the log short: it counts, has the bulk copied aside, copies
// the rest itself, so that the next commit starts the log anew, and shuts
// readers out for a moment when they have not let that happen.
func (w *writer) checkpoint() {
	c := w.store.copier
	rest := c.done.Swap(false)
	if !rest && w.groups.Load()%askEvery != 0 || w.store.Err() != nil {
		return
	}
	mode := checkpointNoop
	if rest {
		mode = checkpointPassive
	}
	frames, copied := w.copy(mode)
	w.walBytes.Store(int64(frames) * pageSize)
	if frames*pageSize > gateFrom && copied < frames {
		w.store.pool.exclusive(func() { w.copy(checkpointPassive) })
		return
	}
	if (frames-copied)*pageSize >= copyFrom {
		c.start()
	}
}

func (w *writer) copy(mode checkpointMode) (frames, copied int) {
	err := w.store.guard("checkpoint", func() (err error) {
		frames, copied, err = w.db.Checkpoint(mode)
		return err
	})
	w.store.copier.report(err)
	return frames, copied
}
