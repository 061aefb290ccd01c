package sqlite

import (
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3/vfs"
)

// Faults makes a store's disk fail, for tests and chaos runs. The zero value
// does nothing; it may be changed at any time. Set it with Options.Faults.
type Faults struct {
	read, write, torn, sync atomic.Pointer[fault]
	slowSync                atomic.Int64
	// free is what is left of a small disk.
	free    atomic.Int64
	small   atomic.Bool
	lasting *lasting
}

type fault struct {
	err error
	// after counts calls that still succeed; times the ones that fail, forever
	// when negative.
	after, times atomic.Int64
}

// FailReads makes reads fail with err after some good ones; times < 0 is forever.
func (f *Faults) FailReads(err error, after, times int64) { f.read.Store(newFault(err, after, times)) }

// FailWrites makes writes fail with err, such as syscall.ENOSPC.
func (f *Faults) FailWrites(err error, after, times int64) {
	f.write.Store(newFault(err, after, times))
}

// TearWrites makes writes put half of their bytes down and fail with err, as a crash
// in their middle does.
func (f *Faults) TearWrites(err error, after, times int64) {
	f.torn.Store(newFault(err, after, times))
}

// FailSyncs makes syncs fail with err.
func (f *Faults) FailSyncs(err error, after, times int64) { f.sync.Store(newFault(err, after, times)) }

// SlowSyncs makes each sync take at least d longer.
func (f *Faults) SlowSyncs(d time.Duration) { f.slowSync.Store(int64(d)) }

// SmallDisk makes the disk have room for so many bytes more, after which writes that
// make a file longer fail with ENOSPC.
func (f *Faults) SmallDisk(free int64) {
	f.free.Store(free)
	f.small.Store(true)
}

// freeDisk is what is free of the disk, or of a small one.
func (f *Faults) freeDisk(dir string) (uint64, error) {
	free, err := freeDisk(dir)
	if f != nil && f.small.Load() {
		free = min(free, uint64(max(f.free.Load(), 0)))
	}
	return free, err
}

// take takes room on a small disk.
func (f *Faults) take(bytes int64) error {
	if f == nil || !f.small.Load() || bytes <= 0 {
		return nil
	}
	if f.free.Add(-bytes) < 0 {
		f.free.Add(bytes)
		return syscall.ENOSPC
	}
	return nil
}

// give gives room back.
func (f *Faults) give(bytes int64) {
	if f != nil {
		f.free.Add(bytes)
	}
}

// Clear ends all faults.
func (f *Faults) Clear() {
	f.read.Store(nil)
	f.write.Store(nil)
	f.torn.Store(nil)
	f.sync.Store(nil)
	f.slowSync.Store(0)
	f.small.Store(false)
}

func newFault(err error, after, times int64) *fault {
	n := &fault{err: err}
	n.after.Store(after)
	n.times.Store(times)
	return n
}

func (n *fault) hit() error {
	if n == nil || n.after.Add(-1) >= 0 {
		return nil
	}
	if left := n.times.Load(); left < 0 || left > 0 && n.times.Add(-1) >= 0 {
		return n.err
	}
	return nil
}

// image is what is kept of a file for a power cut; nil when nothing is.
func (f *Faults) image(name string, file vfs.File) (*image, error) {
	if f == nil {
		return nil, nil
	}
	return f.lasting.open(name, file)
}

func (f *Faults) onRead() error {
	if f == nil {
		return nil
	}
	return f.read.Load().hit()
}

func (f *Faults) onWrite() error {
	if f == nil {
		return nil
	}
	return f.write.Load().hit()
}

func (f *Faults) onTear() error {
	if f == nil {
		return nil
	}
	return f.torn.Load().hit()
}

func (f *Faults) onSync() error {
	if f == nil {
		return nil
	}
	if d := f.slowSync.Load(); d > 0 {
		time.Sleep(time.Duration(d))
	}
	return f.sync.Load().hit()
}
