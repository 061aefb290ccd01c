package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agenthost/agenthost/actors/store"
)

// Compact writes what the file in dir holds into a new file without free pages, and
// puts that in its place in one step: a crash leaves the one or the other. It returns
// the bytes before and after. A *LockedError says that a server has the directory.
func Compact(dir string) (before, after int64, err error) {
	m, err := openAlone(dir, Options{})
	if err != nil {
		return 0, 0, err
	}
	before, after, err = m.compact()
	return before, after, errors.Join(err, m.close())
}

// alone is a state directory that is worked on without a server.
type alone struct {
	dir  string
	opts Options
	lock *os.File
	disk *disk
	db   *db // nil when it could not be opened
}

func (m *alone) path() string { return filepath.Join(m.dir, fileName) }

// openAlone locks dir, which must have a file. The file is opened by dial.
func openAlone(dir string, opts Options) (*alone, error) {
	m := &alone{dir: dir, opts: opts.withDefaults()}
	if _, err := os.Stat(m.path()); err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	var err error
	if m.lock, err = lockDir(dir, m.opts.Now()); err != nil {
		return nil, err
	}
	if m.disk, err = mount(m.opts.Faults, func(error) {}); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// dial opens the file and brings it to this program's format.
func (m *alone) dial() error {
	c, err := dial(m.path(), m.disk.name, false)
	if err != nil {
		return err
	}
	m.db = newDB(c)
	if err := tune(c, writerCache); err != nil {
		return classify(err)
	}
	return classify(migrate(c))
}

// hang closes the file, which copies the log into it. The error says that something
// may be left in the log.
func (m *alone) hang() error {
	if m.db == nil {
		return nil
	}
	err := m.db.Close()
	m.db = nil
	if err != nil {
		return classify(err)
	}
	if info, err := os.Stat(m.path() + "-wal"); err == nil && info.Size() > 0 {
		return fmt.Errorf("the write-ahead log of %s could not be copied into the file", m.path())
	}
	return nil
}

func (m *alone) close() error {
	err := m.hang()
	if m.disk != nil {
		m.disk.unmount()
	}
	return errors.Join(err, unlockDir(m.lock))
}

func (m *alone) compact() (before, after int64, err error) {
	if err := m.dial(); err != nil {
		return 0, 0, err
	}
	lines, err := integrity(m.db)
	if err == nil && len(lines) > 0 {
		err = fmt.Errorf("%w: %s; run agenthost store repair first", store.ErrCorrupt, lines[0])
	}
	if err != nil {
		return 0, 0, err
	}
	fresh := m.path() + ".compact"
	defer func() { _ = os.Remove(fresh) }() // it is gone when all went well
	if err := errors.Join(removeAll(fresh), create(fresh)); err != nil {
		return 0, 0, err
	}
	if err := classify(m.db.on("VACUUM INTO ?1").text(fresh).exec()); err != nil {
		return 0, 0, fmt.Errorf("write %s: %w", fresh, err)
	}
	if err := m.hang(); err != nil {
		return 0, 0, err
	}
	if before, err = sizeOf(m.path()); err != nil {
		return 0, 0, err
	}
	if after, err = sizeOf(fresh); err != nil {
		return 0, 0, err
	}
	return before, after, m.replace(fresh)
}

// replace puts a whole new file in the place of the old one. The log of the old one
// must not be taken for that of the new one, so it goes first: it is empty, or its
// content is in the new file.
func (m *alone) replace(fresh string) error {
	if err := syncPath(fresh); err != nil {
		return err
	}
	if err := removeAll(m.path()+"-wal", m.path()+"-shm"); err != nil {
		return err
	}
	if err := os.Rename(fresh, m.path()); err != nil {
		return err
	}
	return syncPath(m.dir)
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// removeAll removes files that may not be there.
func removeAll(paths ...string) error {
	var errs []error
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// syncPath makes a file, or the names in a directory, durable.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
