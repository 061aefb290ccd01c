package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/ncruces/go-sqlite3/vfs"
)

// lasting keeps copies of a store's files as a power cut would leave them: what was
// written reaches a copy only with the next sync of its file. It is a part of Faults;
// the kernel's own cache outlives any process, so a killed one proves nothing about
// syncs.
type lasting struct {
	dir    string
	mu     sync.Mutex
	images map[string]*image // by the file's base name
}

// image is the copy of one file, however many connections have it open.
type image struct {
	mu      sync.Mutex
	copy    *os.File
	pending []change // in order
}

// change is a write, or a truncation when n is below zero.
type change struct{ off, n int64 }

// KeepLasting keeps copies in dir of what a power cut would leave of the store's
// files. It is called before the store is opened.
func (f *Faults) KeepLasting(dir string) { f.lasting = &lasting{dir: dir, images: map[string]*image{}} }

// RestoreLasting makes the files of a closed or killed store in stateDir what a power
// cut would have left.
func RestoreLasting(dir, stateDir string) error {
	for _, name := range []string{fileName, fileName + "-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("restore what lasted: %w", err)
		}
		if err := os.WriteFile(filepath.Join(stateDir, name), b, 0o600); err != nil {
			return fmt.Errorf("restore what lasted: %w", err)
		}
	}
	err := os.Remove(filepath.Join(stateDir, fileName+"-shm"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// open is the image of a file that was just opened; nil for one that is not copied.
// What a file has when this process first opens it is taken to last.
func (l *lasting) open(name string, f vfs.File) (*image, error) {
	base := filepath.Base(name)
	if l == nil || base != fileName && base != fileName+"-wal" {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.images[base]; i != nil {
		return i, nil
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	c, err := os.OpenFile(filepath.Join(l.dir, base), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err == nil {
		_, err = io.Copy(c, io.NewSectionReader(f, 0, size))
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	i := &image{copy: c}
	l.images[base] = i
	return i, nil
}

func (i *image) wrote(off int64, n int) {
	if i == nil || n <= 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if last := len(i.pending) - 1; last >= 0 && i.pending[last].n >= 0 && i.pending[last].off+i.pending[last].n == off {
		i.pending[last].n += int64(n)
		return
	}
	i.pending = append(i.pending, change{off, int64(n)})
}

func (i *image) truncated(size int64) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pending = append(i.pending, change{size, -1})
}

// begin takes what the sync that follows makes last.
func (i *image) begin() (upTo int) {
	if i == nil {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.pending)
}

// synced brings the first changes to the copy.
func (i *image) synced(f vfs.File, upTo int) error {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range i.pending[:min(upTo, len(i.pending))] {
		var err error
		if c.n < 0 {
			err = i.copy.Truncate(c.off)
		} else {
			_, err = io.Copy(io.NewOffsetWriter(i.copy, c.off), io.NewSectionReader(f, c.off, c.n))
		}
		if err != nil {
			return err
		}
	}
	i.pending = i.pending[min(upTo, len(i.pending)):]
	return nil
}
