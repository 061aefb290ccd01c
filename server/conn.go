package server

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Bounds of what is read and thrown away from a client that still sends when its
// answer is out.
const (
	lingerBytes = 128 << 20
	lingerTime  = 2 * time.Second
)

// listener wraps accepted TCP connections.
type listener struct{ net.Listener }

// Accept waits for the next connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return &conn{TCPConn: tcp}, nil
	}
	return c, nil
}

// conn is a connection that can be closed without losing its last answer. A
// close with unread input sends a reset, and the reset overtakes the answer: a
// client with a body that is too large would see a broken connection, not 413.
type conn struct {
	*net.TCPConn
	early atomic.Bool
}

// answersEarly says that the coming close follows an answer to input that was
// not read.
func (c *conn) answersEarly() { c.early.Store(true) }

// Close ends the connection; after an early answer it first lets the client
// finish sending, within bounds.
func (c *conn) Close() error {
	if c.early.Swap(false) && c.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, c.TCPConn, lingerBytes)
	}
	return c.TCPConn.Close()
}
