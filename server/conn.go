package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds of what is read and thrown away from a client that still sends when its
// answer is out.
const (
	lingerBytes = 128 << 20
	lingerTime  = 2 * time.Second
)

// listener wraps accepted TCP connections.
type listener struct {
	net.Listener
	log      *slog.Logger
	crowd    *crowd
	visitors *addresses
	tls      *tls.Config // nil: plain HTTP
}

func (s *Server) listener(ln net.Listener) listener {
	l := listener{Listener: ln, log: s.log, crowd: &s.crowd, visitors: &s.visitors}
	if s.cfg.Certificate != nil {
		l.tls = s.cfg.Certificate.config()
	}
	return l
}

// Bounds of the pause after a connection could not be accepted.
const (
	minPause = 5 * time.Millisecond
	maxPause = 500 * time.Millisecond
)

// Accept waits for the next connection. What passes by itself, such as a lack of
// descriptors, is waited out: the server would end with an error of Accept.
func (l listener) Accept() (net.Conn, error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		c, err := l.Listener.Accept()
		if tcp, ok := c.(*net.TCPConn); ok && err == nil {
			c := &conn{TCPConn: tcp, crowd: l.crowd}
			switch in := l.crowd.enter(); {
			case in && l.visitors.enter(addressOf(tcp.RemoteAddr())):
				c.visitors = l.visitors
				if l.tls != nil {
					return tls.Server(c, l.tls), nil
				}
				return c, nil
			case l.tls != nil: // there is no telling why before the handshake
				l.crowd.refused.Add(1)
				_ = c.Close()
			case in:
				l.crowd.refuse(c, fmt.Sprintf("your address has %d open connections, as many as limits.max_address_connections allows; close some", l.visitors.conns))
			default:
				l.crowd.refuse(c, fmt.Sprintf("the server has %d open connections, as many as limits.max_connections allows; close some of yours or try again later", l.crowd.most))
			}
			pause = minPause / 2 // as if nothing had happened
			continue
		}
		if err == nil || !passes(err) {
			return c, err
		}
		if pause == minPause {
			l.log.Warn("connections wait: none can be accepted now", "error", err)
		}
		time.Sleep(pause) // a listener that is closed meanwhile says so next
	}
}

func passes(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// conn is a connection that can be closed without losing its last answer. A
// close with unread input sends a reset, and the reset overtakes the answer: a
// client with a body that is too large would see a broken connection, not 413.
type conn struct {
	*net.TCPConn
	early atomic.Bool
	crowd *crowd
	left  atomic.Bool // the crowd
	// visitors are whom its address counts among, nil when it was not let in.
	visitors *addresses
}

// connOf is the connection of a request, below TLS if there is any.
func connOf(c net.Conn) (*conn, bool) {
	if over, ok := c.(*tls.Conn); ok {
		c = over.NetConn()
	}
	own, ok := c.(*conn)
	return own, ok
}

// answersEarly says that the coming close follows an answer to input that was
// not read.
func (c *conn) answersEarly() { c.early.Store(true) }

// Close ends the connection; after an early answer it first lets the client
// finish sending, within bounds.
func (c *conn) Close() error {
	if !c.left.Swap(true) {
		c.crowd.leave()
		if c.visitors != nil {
			c.visitors.leave(addressOf(c.RemoteAddr()))
		}
	}
	if c.early.Swap(false) && c.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, c.TCPConn, lingerBytes)
	}
	return c.TCPConn.Close()
}
