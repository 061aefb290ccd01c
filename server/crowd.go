package server

import (
	"bufio"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
)

// crowd counts the open connections.
type crowd struct {
	most           int64
	open, refusing atomic.Int64
	refused        atomic.Int64
}

// maxRefusing is how many connections are told at once why they are refused; further
// ones are only closed.
const maxRefusing = 64

// enter takes a place; false when all are taken. Each connection that was accepted
// leaves once, whether or not it was let in.
func (c *crowd) enter() bool { return c.open.Add(1) <= c.most }

func (c *crowd) leave() { c.open.Add(-1) }

// refuse answers without reading the request, and closes. The goroutine ends within
// the bounds of conn's Close.
func (c *crowd) refuse(conn *conn, why string) {
	c.refused.Add(1)
	if !conn.left.Swap(true) {
		c.leave() // now: its place is not one of those that are bounded
	}
	if c.refusing.Add(1) > maxRefusing {
		c.refusing.Add(-1)
		_ = conn.Close()
		return
	}
	go func() {
		defer crash.Guard()
		defer c.refusing.Add(-1)
		var ctx fasthttp.RequestCtx
		id := event.NewID().With(event.PrefixRequest)
		f := event.Fail(event.HostBusy, why)
		apierr.Write(&ctx, id, f)
		ctx.Response.SetConnectionClose()
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		w := bufio.NewWriter(conn)
		if ctx.Response.Write(w) == nil && w.Flush() == nil {
			conn.answersEarly()
		}
		_ = conn.Close()
	}()
}
