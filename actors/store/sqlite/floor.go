package sqlite

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/store"
)

// floorMargin is the part of the floor that must be free above it before new work is
// taken again: turns that write would else be let in and ended by turns.
const floorMargin = 16

// Room compares the disk with Options.MinFreeDisk. A disk that does not say how full it
// is has room.
func (s *Store) Room() error {
	o := &s.opts
	if o.MinFreeDisk == 0 {
		return nil
	}
	was := s.lowDisk.Load()
	need := o.MinFreeDisk
	if was {
		need += o.MinFreeDisk / floorMargin
	}
	free, err := o.freeDisk(s.dir)
	low := err == nil && free < need
	switch s.lowDisk.Store(low); {
	case low && !was:
		o.Logger.Warn("the disk is below its floor; new input is refused, and running turns are ended", "dir", s.dir, "free", free, "floor", o.MinFreeDisk)
	case was && !low:
		o.Logger.Info("the disk is above its floor again", "dir", s.dir, "free", free, "floor", o.MinFreeDisk)
	}
	if !low {
		return nil
	}
	return fmt.Errorf("%w: %d bytes are free, of which %d are left alone", store.ErrFull, free, o.MinFreeDisk)
}
