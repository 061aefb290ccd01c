package process

import (
	"bytes"
	"sync"
)

// readSize is how much of stdout is read at once: more brings nothing, a pipe
// holds no more.
const readSize = 64 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, readSize); return &b }}

// splitter cuts stdout into lines, at LF and nowhere else, in one buffer that
// grows only for a long line and is given back after it.
type splitter struct {
	spec  *Spec
	small *[]byte // from the pool
	buf   []byte  // *small, or a larger one
	long  []byte  // buf, when it is to be given back
	used  int     // bytes of the unfinished line at the front of buf
	lines [][]byte

	dropping bool  // inside a line that is too long
	dropped  int64 // its bytes so far
	total    int64
	limited  bool // MaxOutput was exceeded
}

func newSplitter(spec *Spec) *splitter {
	small := buffers.Get().(*[]byte)
	return &splitter{spec: spec, small: small, buf: *small}
}

func (s *splitter) release() {
	s.giveBack()
	buffers.Put(s.small)
	s.small, s.buf, s.lines = nil, nil, nil
}

// space is where the next bytes are to be put, never empty.
func (s *splitter) space() []byte {
	if s.used == len(s.buf) {
		s.grow()
	}
	return s.buf[s.used:]
}

// grow makes room for more of an unfinished line, which is at most MaxLine and a
// CR, see feed.
func (s *splitter) grow() {
	most := s.spec.MaxLine + 1 + readSize
	grown := takeLong(most)
	if grown != nil {
		s.long = grown
	} else {
		grown = make([]byte, min(2*len(s.buf), most))
	}
	copy(grown, s.buf[:s.used])
	s.buf = grown
}

func (s *splitter) giveBack() {
	if s.long != nil {
		giveLong(s.long)
		s.long = nil
	}
}

// feed takes n bytes that were put into space.
func (s *splitter) feed(n int) {
	s.total += int64(n)
	if s.limited {
		return
	}
	over := int64(0)
	if s.spec.MaxOutput > 0 {
		over = min(int64(n), max(0, s.total-s.spec.MaxOutput))
	}
	s.split(s.used + n - int(over))
	if over > 0 {
		s.limited, s.used, s.dropping = true, 0, false
		if s.spec.OnLimit != nil {
			s.spec.OnLimit()
		}
	}
	s.shrink()
}

// split delivers the lines in buf[:end] and keeps the rest at the front.
func (s *splitter) split(end int) {
	data, start, from := s.buf[:end], 0, s.used
	for {
		i := bytes.IndexByte(data[from:], '\n')
		if i < 0 {
			break
		}
		s.add(data[start : from+i])
		start = from + i + 1
		from = start
	}
	s.flush()
	if start > 0 {
		copy(s.buf, data[start:])
	}
	s.used = end - start
	switch {
	case s.dropping:
		s.dropped += int64(s.used)
		s.used = 0
	case s.used > s.spec.MaxLine+1: // one for a CR that may not belong to it
		s.dropping, s.dropped, s.used = true, int64(s.used), 0
	}
}

// add puts a finished line into the batch or reports it as too long.
func (s *splitter) add(line []byte) {
	if s.dropping {
		s.dropping = false
		s.drop(s.dropped + int64(len(line)))
		return
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) > s.spec.MaxLine {
		s.drop(int64(len(line)))
		return
	}
	s.lines = append(s.lines, line)
}

// drop tells of a line that is too long, behind the lines that came before it.
func (s *splitter) drop(n int64) {
	s.flush()
	if s.spec.OnDropped != nil {
		s.spec.OnDropped(n)
	}
}

func (s *splitter) flush() {
	if len(s.lines) > 0 && s.spec.OnLines != nil {
		s.spec.OnLines(s.lines)
	}
	s.lines = s.lines[:0]
}

// end delivers a last line that has no end.
func (s *splitter) end() {
	if s.used > 0 || s.dropping {
		s.add(s.buf[:s.used])
		s.flush()
		s.used = 0
	}
}

// shrink goes back to the small buffer when the long line is over.
func (s *splitter) shrink() {
	if len(s.buf) > readSize && s.used < readSize {
		copy(*s.small, s.buf[:s.used])
		s.buf = *s.small
		s.giveBack()
	}
	if cap(s.lines) > 4<<10 { // a flood of tiny lines
		s.lines = nil
	}
}
