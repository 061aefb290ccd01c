package toolbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Lock is the right to install an adapter's CLI.
type Lock struct {
	box     *Box
	adapter string
	file    *os.File
}

// lockEvery is the time between two tries to get a lock that another process has.
const lockEvery = 100 * time.Millisecond

// Lock waits until no other installation of the adapter runs, in any process.
// waiting, if not nil, is told once whose end is waited for.
func (b *Box) Lock(ctx context.Context, adapter string, waiting func(pid string)) (*Lock, error) {
	for told := false; ; {
		l, err := b.try(adapter)
		if err != nil || l != nil {
			return l, err
		}
		if !told && waiting != nil {
			told = true
			waiting(b.holder(adapter))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockEvery):
		}
	}
}

// try gives nil without an error when somebody else has the lock.
func (b *Box) try(adapter string) (*Lock, error) {
	dir := b.adapter(adapter)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("tools directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of %s: %w", adapter, err)
	}
	if err := own(f); err != nil {
		_ = f.Close()
		if errors.Is(err, errTaken) {
			return nil, nil
		}
		return nil, fmt.Errorf("lock of %s: %w", adapter, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0) // for people only
	}
	return &Lock{box: b, adapter: adapter, file: f}, nil
}

// holder is who wrote into the lock last.
func (b *Box) holder(adapter string) string {
	text, err := os.ReadFile(filepath.Join(b.adapter(adapter), lockName))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Unlock lets the next one in.
func (l *Lock) Unlock() { _ = l.file.Close() }

// sweep removes every version that no link leads to and nobody uses, and links
// that never got their name.
func (l *Lock) sweep() {
	dir := l.box.adapter(l.adapter)
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range list {
		version := filepath.Join(dir, e.Name())
		switch {
		case !e.IsDir():
		case strings.HasPrefix(e.Name(), removed):
			_ = os.RemoveAll(version)
		case !l.box.linked(version):
			l.remove(version)
		}
	}
	links, err := filepath.Glob(l.box.link(tempLink + l.adapter + "-*"))
	if err != nil {
		return
	}
	for _, link := range links {
		_ = os.Remove(link)
	}
}

// remove takes a version away unless somebody uses it.
func (l *Lock) remove(version string) {
	f, err := os.Open(filepath.Join(version, useName))
	if err == nil {
		defer func() { _ = f.Close() }()
		if own(f) != nil {
			return
		}
	}
	gone := filepath.Join(filepath.Dir(version), removed+filepath.Base(version))
	if os.Rename(version, gone) != nil {
		gone = version
	}
	_ = os.RemoveAll(gone)
}
