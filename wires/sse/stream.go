package sse

import (
	"errors"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
)

// stream is one open connection. conn, started, dropped and cut are guarded by
// the hub's lock.
type stream struct {
	hub     *Hub
	src     Source
	head    []byte
	chunked bool // the client knows chunks, and so the end of a stream from its loss
	slot    int
	born    time.Time
	conn    net.Conn
	parted  bool // CloseWrite was called; serve's alone
	started bool
	dropped bool // src is closed, nothing may run
	cut     bool // close conn as soon as there is one
}

const (
	bufferSize = 16 << 10  // of the pooled buffers
	gather     = 64 << 10  // pending frames are gathered up to this
	sendBuffer = 256 << 10 // of the kernel, for one stream
	piece      = 256 << 10 // written under one deadline, so a slow but living reader gets large frames
	maxUnread  = 64 << 10  // what a client may send after its request
	lingerTime = time.Second
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, bufferSize); return &b }}

// serve is the hijack handler. A panic here would end the process.
func (s *stream) serve(conn net.Conn) {
	defer crash.Guard() // what recover itself panics of
	defer s.recover("stream")
	if !s.hub.start(s, rawConn(conn)) {
		return
	}
	defer s.hub.end(s)
	defer s.closeSource()
	// A full send buffer is writable again only when a third of it is free: in one
	// that the kernel lets grow to megabytes that takes a slow but living reader
	// longer than a write may take.
	if tcp, ok := s.conn.(interface{ SetWriteBuffer(int) error }); ok {
		_ = tcp.SetWriteBuffer(sendBuffer)
	}
	gone := make(chan struct{})
	go s.watch(conn, gone)
	defer func() { // conn belongs to the server again when serve returns
		s.linger(gone)
		_ = s.conn.Close()
		<-gone
	}()
	if s.write(nil, s.head, nil) != nil {
		return
	}
	s.head = nil
	s.pull(gone)
}

// pull writes frames until the source is done, the client left or stopped
// reading, or the hub closes and nothing is pending.
func (s *stream) pull(gone <-chan struct{}) {
	beat := s.hub.wheel.beat(s.slot)
	for last := false; ; {
		wake, done, err := s.flush()
		if done || err != nil {
			if err != nil && s.lost(err) {
				return
			}
			s.farewell()
			return
		}
		if wake == nil { // more is pending
			select {
			case <-gone:
				s.hub.gone.Add(1)
				return
			default:
				continue
			}
		}
		select {
		case <-wake:
		case <-s.hub.closing:
			if !last { // once more around: something may have come meanwhile
				last = true
				continue
			}
			s.farewell()
			return
		case <-gone:
			s.hub.gone.Add(1)
			return
		case <-beat:
			beat = s.hub.wheel.beat(s.slot)
			if err := s.ping(); err != nil {
				s.lost(err)
				return
			}
		}
	}
}

// flush writes what is pending in one write, which ends the answer if the source
// is done. wake is nil when there may be more.
func (s *stream) flush() (wake <-chan struct{}, done bool, err error) {
	frames, wake, done, err := s.src.Next()
	switch {
	case err != nil:
		return wake, done, err
	case wake != nil || len(frames) == 0:
		if done && s.chunked {
			err = s.write(nil, lastAlone, nil)
		}
		return wake, done, err
	case done || len(frames) >= gather:
		return nil, done, s.send(frames, done)
	}
	buf, _ := buffers.Get().(*[]byte)
	b := append(append((*buf)[:0], noRoom[:]...), frames...)
	for err == nil && wake == nil && !done && len(b) < gather {
		frames, wake, done, err = s.src.Next()
		b = append(b, frames...)
	}
	from := room
	if s.chunked {
		from = sizeLine(b, len(b)-room)
		b = append(b, tail(done && err == nil)...)
	}
	if werr := s.write(nil, b[from:], nil); werr != nil {
		err = werr
	}
	if cap(b) <= 2*gather {
		*buf = b
		buffers.Put(buf)
	}
	return wake, done, err
}

// send writes frames from where they are, as one chunk.
func (s *stream) send(frames []byte, last bool) error {
	if !s.chunked {
		return s.write(nil, frames, nil)
	}
	line := noRoom
	from := sizeLine(line[:], len(frames))
	return s.write(line[from:], frames, tail(last))
}

// tail closes a chunk, and with the last one the answer.
func tail(last bool) []byte {
	if last {
		return streamEnd
	}
	return chunkEnd
}

func (s *stream) ping() error {
	if s.chunked {
		return s.write(nil, chunkedPing, nil)
	}
	return s.write(nil, plainPing, nil)
}

// errWrite marks failures of the connection, as opposed to those of the source.
type errWrite struct{ error }

// write sends b between head and tail, which are short or nil. What is larger than
// a piece takes several writes, each under a deadline of its own.
func (s *stream) write(head, b, tail []byte) error {
	for len(b) > 0 {
		n := min(len(b), piece)
		end := tail
		if n < len(b) {
			end = nil
		}
		if err := s.conn.SetWriteDeadline(time.Now().Add(s.hub.writeTimeout)); err != nil {
			return errWrite{err}
		}
		sent, err := s.writeAtOnce(head, b[:n], end)
		s.hub.bytes.Add(sent)
		if err != nil {
			return errWrite{err}
		}
		head, b = nil, b[n:]
	}
	return nil
}

// writeAtOnce is one system call, and copies nothing.
func (s *stream) writeAtOnce(head, b, tail []byte) (int64, error) {
	if len(head)+len(tail) == 0 {
		n, err := s.conn.Write(b)
		return int64(n), err
	}
	parts := make(net.Buffers, 0, 3)
	for _, p := range [...][]byte{head, b, tail} {
		if len(p) > 0 {
			parts = append(parts, p)
		}
	}
	return parts.WriteTo(s.conn)
}

// lost counts a failed write; false when err is the source's.
func (s *stream) lost(err error) bool {
	var w errWrite
	if !errors.As(err, &w) {
		return false
	}
	if errors.Is(w.error, os.ErrDeadlineExceeded) {
		s.hub.slow.Add(1)
	} else {
		s.hub.gone.Add(1)
	}
	return true
}

// farewell says that nothing more comes.
func (s *stream) farewell() {
	if half, ok := s.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		s.parted = true
	}
}

// linger lets the client close first, for a while: a close with unread input of the
// client's, such as the body that openai-go gives a GET, sends a reset, which takes
// the last frames with it. The source is not held meanwhile.
func (s *stream) linger(gone <-chan struct{}) {
	s.closeSource()
	if s.parted && s.conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		<-gone
	}
}

func (s *stream) closeSource() {
	if s.src != nil {
		s.src.Close()
		s.src = nil
	}
}

// watch reads the connection until the client is gone or serve closes it.
func (s *stream) watch(conn net.Conn, gone chan<- struct{}) {
	defer crash.Guard()
	defer close(gone)
	defer s.recover("reader")
	var small [64]byte
	for unread := 0; unread < maxUnread; {
		n, err := conn.Read(small[:])
		if err != nil {
			return
		}
		if n == 0 {
			unread++
		}
		unread += n
	}
}

func (s *stream) recover(where string) {
	if p := recover(); p != nil {
		s.hub.panics.Add(1)
		s.hub.log.Error("panic in an event stream", "where", where, "panic", p, "stack", string(debug.Stack()))
	}
}

// rawConn is the connection itself: closing fasthttp's wrapper does nothing.
func rawConn(c net.Conn) net.Conn {
	if u, ok := c.(interface{ UnsafeConn() net.Conn }); ok {
		return u.UnsafeConn()
	}
	return c
}
