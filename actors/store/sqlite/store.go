package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/agenthost/agenthost/actors/store"
)

// fileName is the database below the state directory; SQLite puts -wal and -shm
// beside it.
const fileName = "store.db"

// Store is an open state directory.
type Store struct {
	dir  string
	opts Options
	lock *os.File
	disk *disk
	pool *pool

	queue   queue
	recall  recall
	left    store.Places // of what was deleted
	count   atomic.Int64 // of sessions that are not deleted, as committed
	lowDisk atomic.Bool  // as Room saw it last
	writer  *writer      // nil when read-only
	copier  *copier      // nil when read-only
	ended   chan struct{}
	closing chan struct{}
	close   sync.Once
	closed  error

	// Set by open. uncertain: see Uncertain. era counts such openings.
	uncertain bool
	era       int64

	fatal chan struct{}
	mu    sync.Mutex
	err   error
}

var _ store.Store = (*Store)(nil)

// Open takes the state directory dir, creates or migrates its file and starts
// the writer. A *LockedError says that another server has the directory.
func Open(dir string, opts Options) (*Store, error) {
	s := newStore(dir, opts)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the store in %s: state directory: %w", dir, err)
	}
	lock, err := lockDir(dir, s.opts.Now())
	if err != nil {
		return nil, err
	}
	s.lock = lock
	if err := s.open(); err != nil {
		err = fmt.Errorf("open the store in %s: %w", dir, err)
		if errors.Is(err, store.ErrCorrupt) {
			err = fmt.Errorf("%w; agenthost store repair keeps what can be read", err)
		}
		return nil, errors.Join(err, s.release())
	}
	if err := s.writer.spare.hold(); err != nil {
		s.opts.Logger.Warn("no room is kept for a full disk", "dir", dir, "error", err)
	}
	go s.writer.run()
	go s.copier.run()
	return s, nil
}

// OpenReadOnly opens the directory beside the server that owns it, or without
// one. It takes no lock and changes nothing: commits and other changes are
// refused with ErrReadOnly.
func OpenReadOnly(dir string) (*Store, error) {
	s := newStore(dir, Options{})
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	if err := s.openReaders(path, true); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store in %s: %w", dir, err), s.release())
	}
	return s, nil
}

// ErrReadOnly refuses changes through a store of OpenReadOnly.
var ErrReadOnly = errors.New("store: opened for reading only")

func newStore(dir string, opts Options) *Store {
	s := &Store{
		dir: dir, opts: opts.withDefaults(), pool: newPool(),
		fatal: make(chan struct{}), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	s.queue.wake = make(chan struct{}, 1)
	return s
}

func (s *Store) open() error {
	path := filepath.Join(s.dir, fileName)
	// The driver would create the shared one with the umask's mode, and the log is
	// looked at before SQLite opens it.
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		if err := create(p); err != nil {
			return err
		}
	}
	damaged, err := s.inspectWAL(path + "-wal")
	if err != nil {
		return err
	}
	if s.disk, err = mount(s.opts.Faults, s.syncError); err != nil {
		return err
	}
	c, err := dial(path, s.disk.name, false)
	if err != nil {
		return err
	}
	s.writer = newWriter(s, newDB(c))
	if err := tune(c, writerCache); err != nil {
		return classify(err)
	}
	if err := migrate(c); err != nil {
		return classify(err)
	}
	if err := s.writer.load(); err != nil {
		return err
	}
	if err := s.begin(damaged); err != nil {
		return err
	}
	if err := s.openReaders(path, false); err != nil {
		return err
	}
	c, err = dial(path, s.disk.name, false)
	if err != nil {
		return err
	}
	s.copier = newCopier(s, newDB(c))
	return classify(tune(c, readerCache))
}

func (s *Store) openReaders(path string, readOnly bool) error {
	if s.disk == nil {
		var err error
		if s.disk, err = mount(nil, s.syncError); err != nil {
			return err
		}
	}
	for range readers {
		c, err := dial(path, s.disk.name, readOnly)
		if err != nil {
			return err
		}
		s.pool.add(newDB(c))
		if err := tune(c, readerCache); err != nil {
			return classify(err)
		}
		if !readOnly {
			continue
		}
		version, err := format(c)
		if err != nil {
			return err
		}
		if version != Format {
			return fmt.Errorf("the file has format %d and this program reads %d; start the server once to migrate it", version, Format)
		}
	}
	return nil
}

// create makes an empty file if there is none, and any file private.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// Fatal is closed when the store can no longer keep its promises.
func (s *Store) Fatal() <-chan struct{} { return s.fatal }

// Err wraps ErrFailed after Fatal, else it is nil.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fail ends the store's promises; everything is refused from here on.
func (s *Store) fail(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	if !errors.Is(cause, store.ErrFailed) {
		cause = fmt.Errorf("%w: %w", store.ErrFailed, cause)
	}
	s.err = cause
	s.opts.Logger.Error("the store failed; the process must end", "dir", s.dir, "error", cause)
	close(s.fatal)
}

func (s *Store) syncError(err error) { s.fail(fmt.Errorf("sync %s: %w", s.dir, err)) }

// Close waits for queued commits, ends the goroutines and closes the files. A
// second call returns what the first did.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.queue.end()
		if s.writer != nil {
			<-s.ended
			s.copier.end()
			s.end()
		}
		close(s.closing)
		s.closed = s.release()
	})
	return s.closed
}

// release closes what is open, the writer last: its connection copies the log
// into the file.
func (s *Store) release() error {
	errs := []error{s.pool.close()}
	if s.Err() != nil && s.writer != nil {
		// What the kernel has of the log may not be what was written to it; the next
		// start reads it from the disk.
		errs = append(errs, s.writer.db.KeepLog())
	}
	if s.copier != nil {
		errs = append(errs, s.copier.db.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.db.Close())
	}
	if s.disk != nil {
		s.disk.unmount()
	}
	if s.lock != nil {
		errs = append(errs, unlockDir(s.lock))
	}
	return errors.Join(errs...)
}

// Stats are counters since Open and the state now.
type Stats struct {
	Groups  int64 // transactions of the writer
	Synced  int64 // of them synced before they were answered
	Commits int64 // answered without an error
	Syncs   int64 // of any file
	WAL     int64 // bytes in the write-ahead log, as last seen
	Waiting int   // requests for the writer, now
}

// Stats returns the counters.
func (s *Store) Stats() Stats {
	st := Stats{Syncs: s.disk.syncs.Load(), Waiting: s.queue.depth()}
	if w := s.writer; w != nil {
		st.Groups, st.Synced, st.Commits, st.WAL = w.groups.Load(), w.synced.Load(), w.commits.Load(), w.walBytes.Load()
	}
	return st
}
