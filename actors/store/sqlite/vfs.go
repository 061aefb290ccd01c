package sqlite

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// diskNumber makes the names of registered disks unique in the process.
var diskNumber atomic.Int64

// disk is the VFS of one store: the driver's own one, seen through the store's
// faults, with a full disk told from other errors and syncs counted.
type disk struct {
	vfs.VFSFilename
	name   string
	faults *Faults
	syncs  atomic.Int64
	// syncError is told about a failed sync of any file.
	syncError func(error)
}

// mount registers a disk; unmount ends it.
func mount(faults *Faults, syncError func(error)) (*disk, error) {
	base, ok := vfs.Find("").(vfs.VFSFilename)
	if !ok {
		return nil, errors.New("the SQLite driver has no file system on this platform")
	}
	d := &disk{VFSFilename: base, faults: faults, syncError: syncError}
	d.name = fmt.Sprintf("agenthost-%d", diskNumber.Add(1))
	vfs.Register(d.name, d)
	return d, nil
}

func (d *disk) unmount() { vfs.Unregister(d.name) }

func (d *disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFSFilename.Open(name, flags)
	return d.wrap(name, f, flags, err)
}

func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFSFilename.OpenFilename(name, flags)
	return d.wrap(name.String(), f, flags, err)
}

func (d *disk) wrap(name string, f vfs.File, flags vfs.OpenFlag, err error) (vfs.File, vfs.OpenFlag, error) {
	if err != nil {
		return nil, flags, full(err)
	}
	if c, ok := f.(interface{ Chmod(os.FileMode) error }); ok && flags&vfs.OPEN_CREATE != 0 {
		// The driver creates with the umask's mode.
		if err := c.Chmod(0o600); err != nil {
			return nil, flags, errors.Join(err, f.Close())
		}
	}
	image, err := d.faults.image(name, f)
	if err != nil {
		return nil, flags, errors.Join(err, f.Close())
	}
	return &diskFile{File: f, disk: d, image: image}, flags, nil
}

type diskFile struct {
	vfs.File
	disk  *disk
	image *image // nil but in chaos runs
}

func (f *diskFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.disk.faults.onRead(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.disk.faults.onWrite(); err != nil {
		return 0, full(err)
	}
	if err := f.disk.faults.onTear(); err != nil {
		n, _ := f.File.WriteAt(p[:len(p)/2], off) // the fault is the news
		f.image.wrote(off, n)
		return n, full(err)
	}
	if err := f.grow(off + int64(len(p))); err != nil {
		return 0, full(err)
	}
	n, err := f.File.WriteAt(p, off)
	f.image.wrote(off, n)
	return n, full(err)
}

// grow takes the room that a longer file needs, on a small disk.
func (f *diskFile) grow(to int64) error {
	if f.disk.faults == nil || !f.disk.faults.small.Load() {
		return nil
	}
	size, err := f.File.Size()
	if err != nil {
		return err
	}
	return f.disk.faults.take(to - size)
}

func (f *diskFile) Truncate(size int64) error {
	err := f.File.Truncate(size)
	if err == nil {
		f.image.truncated(size)
	}
	return full(err)
}

func (f *diskFile) Sync(flags vfs.SyncFlag) error {
	f.disk.syncs.Add(1)
	err := f.disk.faults.onSync()
	upTo := f.image.begin()
	if err == nil {
		err = f.File.Sync(flags)
	}
	if err == nil {
		err = f.image.synced(f.File, upTo)
	}
	if err != nil {
		f.disk.syncError(err)
	}
	return err
}

// full tells a full disk from other errors; the driver does not (it asserts the
// bare errno and gets a path error).
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}

// The optional sides of a file that SQLite asks for are passed on.

func (f *diskFile) Unwrap() vfs.File { return f.File }

func (f *diskFile) SharedMemory() vfs.SharedMemory {
	if s, ok := f.File.(vfs.FileSharedMemory); ok {
		return s.SharedMemory()
	}
	return nil
}

func (f *diskFile) LockState() vfs.LockLevel {
	if s, ok := f.File.(vfs.FileLockState); ok {
		return s.LockState()
	}
	return vfs.LOCK_EXCLUSIVE + 1 // unknown
}

func (f *diskFile) SizeHint(size int64) error {
	if s, ok := f.File.(vfs.FileSizeHint); ok {
		return full(s.SizeHint(size))
	}
	return sqlite3.NOTFOUND
}

// DeviceCharacteristics hides atomic batches, which the wrapper does not pass on.
func (f *diskFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ vfs.IOCAP_BATCH_ATOMIC
}

func (f *diskFile) HasMoved() (bool, error) {
	if s, ok := f.File.(vfs.FileHasMoved); ok {
		return s.HasMoved()
	}
	return false, sqlite3.NOTFOUND
}

var (
	_ vfs.FileUnwrap       = (*diskFile)(nil)
	_ vfs.FileSharedMemory = (*diskFile)(nil)
	_ vfs.FileLockState    = (*diskFile)(nil)
	_ vfs.FileSizeHint     = (*diskFile)(nil)
	_ vfs.FileHasMoved     = (*diskFile)(nil)
)
