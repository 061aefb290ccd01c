package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
)

// Options of a Log. Zero fields get the values that they name.
type Options struct {
	// File is the newest part of the book. Required.
	File string
	// MaxBytes is the size at which it is turned. 64 MiB
	MaxBytes int64
	// MaxFiles is how many parts are kept, the newest among them. 10
	MaxFiles int
	// Queue is how many records may wait to be written. 4096
	Queue int
	Now   func() time.Time // time.Now
	Log   *slog.Logger     // slog.DiscardHandler
}

func (o *Options) fill() {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.MaxFiles <= 0 {
		o.MaxFiles = 10
	}
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Log is an open book. A nil one takes records and keeps none. Its methods may be
// called from many goroutines.
type Log struct {
	o       Options
	queue   chan *Record
	dropped atomic.Int64 // since the last gap was written
	lost    atomic.Int64 // ever
	written atomic.Int64

	mu     sync.RWMutex // Add holds it shared, Close for itself
	closed bool
	done   chan struct{}

	// The rest belongs to the one goroutine.
	file  *os.File
	bytes int64  // of the file and of what is held for it
	text  []byte // lines that are held for the file,
	held  int64  // and their number
	ill   bool   // the last write failed, and that was said
}

// Open opens the book, behind what is there.
func Open(o Options) (*Log, error) {
	o.fill()
	if o.File == "" {
		return nil, errors.New("audit: no file is named")
	}
	l := &Log{o: o, queue: make(chan *Record, o.Queue), done: make(chan struct{})}
	if err := l.open(); err != nil {
		return nil, err
	}
	go l.write()
	return l, nil
}

// Add puts a record into the book, with the time if it has none. It never blocks.
func (l *Log) Add(r Record) {
	if l == nil {
		return
	}
	if r.Time.IsZero() {
		r.Time = l.o.Now().UTC()
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		l.lose(1)
		return
	}
	select {
	case l.queue <- &r:
	default:
		l.lose(1)
	}
}

// Counts are how many records were written and how many are missing.
func (l *Log) Counts() (written, lost int64) {
	if l == nil {
		return 0, 0
	}
	return l.written.Load(), l.lost.Load()
}

// Close writes what waits and closes the file. Further records are lost.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	if !again {
		close(l.queue)
	}
	<-l.done
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Sync(), l.file.Close())
	l.file = nil
	return err
}

func (l *Log) lose(n int64) {
	l.dropped.Add(n)
	l.lost.Add(n)
}

// write is the goroutine of the file. It ends when Close closed the queue.
func (l *Log) write() {
	defer crash.Guard()
	defer close(l.done)
	for r := range l.queue {
		l.put(r)
		for waiting := len(l.queue); waiting > 0; waiting-- {
			next, ok := <-l.queue
			if !ok {
				break
			}
			l.put(next)
		}
		l.flush()
	}
	if l.dropped.Load() > 0 {
		l.gap()
		l.flush()
	}
}

// put holds one record for the file, behind the gap before it.
func (l *Log) put(r *Record) {
	if l.dropped.Load() > 0 && !l.gap() || !l.line(r) {
		l.lose(1)
		return
	}
	l.held++
}

// gap says how many records are missing here.
func (l *Log) gap() bool {
	n := l.dropped.Swap(0)
	if n == 0 || l.line(&Record{Time: l.o.Now().UTC(), Operation: OpGap, Lost: n}) {
		return true
	}
	l.dropped.Add(n)
	return false
}

// maxHeld is how many bytes are held for the file.
const maxHeld = 64 << 10

func (l *Log) line(r *Record) bool {
	text, err := json.Marshal(r)
	if err != nil { // a struct of texts and numbers: never
		l.o.Log.Error("audit record", "error", err)
		return false
	}
	if l.file != nil && l.bytes > 0 && l.bytes+int64(len(text)) >= l.o.MaxBytes {
		l.turn()
	}
	if l.file == nil {
		if err := l.open(); err != nil {
			l.failed(err)
			return false
		}
	}
	if len(l.text) > maxHeld {
		l.flush()
	}
	l.text = append(append(l.text, text...), '\n')
	l.bytes += int64(len(text)) + 1
	return l.file != nil
}

// flush gives the kernel what is held. What it does not take is lost, and the file is
// opened anew for the next record: the line that was cut off is ended there.
func (l *Log) flush() {
	if l.file == nil || len(l.text) == 0 {
		return
	}
	if _, err := l.file.Write(l.text); err != nil {
		l.failed(err)
		return
	}
	l.written.Add(l.held)
	l.text, l.held, l.ill = l.text[:0], 0, false
}

// failed ends the use of a file that cannot be written to. All that was held for it
// counts as lost, though some of it may have been written.
func (l *Log) failed(err error) {
	if !l.ill {
		l.o.Log.Error("the audit file cannot be written; records are lost until it can", "file", l.o.File, "error", err)
	}
	l.lose(l.held)
	l.text, l.held, l.ill = l.text[:0], 0, true
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// turn makes the full file the first of the old ones.
func (l *Log) turn() {
	if l.flush(); l.file == nil {
		return
	}
	err := errors.Join(l.file.Sync(), l.file.Close())
	l.file = nil
	if l.o.MaxFiles == 1 {
		err = errors.Join(err, os.Remove(l.o.File))
	}
	for n := l.o.MaxFiles - 1; n > 0; n-- {
		older, newer := part(l.o.File, n), part(l.o.File, n-1)
		if rename := os.Rename(newer, older); rename != nil && !errors.Is(rename, os.ErrNotExist) {
			err = errors.Join(err, rename)
		}
	}
	if err != nil {
		l.o.Log.Error("turn the audit file", "file", l.o.File, "error", err)
	}
}

// part names a part of the book; 0 is the newest.
func part(file string, n int) string {
	if n == 0 {
		return file
	}
	return file + "." + strconv.Itoa(n)
}

// open opens the newest part for appending. A line that a crash cut off gets its end,
// so that the next one stands by itself.
func (l *Log) open() error {
	if err := os.MkdirAll(filepath.Dir(l.o.File), 0o700); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	f, err := openOwn(l.o.File)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	size, err := settle(f)
	if err != nil {
		return errors.Join(fmt.Errorf("audit: %s: %w", l.o.File, err), f.Close())
	}
	l.file, l.bytes = f, size
	return nil
}

func settle(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("is no regular file")
	}
	if info.Mode().Perm() != 0o600 {
		if err := f.Chmod(0o600); err != nil {
			return 0, err
		}
	}
	size := info.Size()
	if size == 0 {
		return 0, nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if bytes.Equal(last, []byte("\n")) {
		return size, nil
	}
	_, err = f.Write([]byte("\n"))
	return size + 1, err
}
