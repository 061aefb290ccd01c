package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
)

// SendEvents is POST /agents/sessions/{session_id}/events: all of them are
// accepted, durably, or none.
func (w *Wire) SendEvents(c *call.Call) {
	id, err := sessionID(c)
	if err != nil {
		c.Fail(err)
		return
	}
	f, err := body(c)
	if err != nil {
		c.Fail(err)
		return
	}
	actions, inputs := readActions(f)
	err = f.fault()
	if err == nil {
		err = w.load(c, inputs...)
	}
	if err != nil {
		// A stranger's session is as missing with a bad body as with a good one.
		if _, missed := w.session(c); missed != nil {
			err = missed
		}
		c.Fail(err)
		return
	}
	if _, err := w.engine.Post(c.Context(), c.Principal, id, actions, c.Key()); err != nil {
		if event.CodeOf(err) == event.AdapterRequired { // a conversation without an agent
			err = notFound(event.SessionNotFound, "session", c.Param("session_id"))
		}
		c.Fail(missing(named(err, inputs), event.SessionNotFound, "session", c.Param("session_id")))
		return
	}
	c.Empty(202)
}

// StreamEvents is GET /agents/sessions/{session_id}/events: from now on, or behind
// a cursor (`after`, else Last-Event-ID). It stays open while the session is
// idle; close_on_idle=true ends it once everything was read and nothing is queued
// or running. include_obfuscation is accepted and changes nothing.
func (w *Wire) StreamEvents(c *call.Call) {
	s, err := w.session(c)
	if err != nil {
		c.Fail(err)
		return
	}
	src, err := w.openStream(c, s)
	if err != nil {
		c.Fail(missing(err, event.SessionNotFound, "session", c.Param("session_id")))
		return
	}
	c.Hijack(src)
}

func (w *Wire) openStream(c *call.Call, ses *fold.Session) (*source, error) {
	stop, err := c.Flag("close_on_idle")
	if err != nil {
		return nil, err
	}
	after, _ := c.Query("after")
	after = or(after, c.Header("Last-Event-ID"))
	subscribe := func(after int64) (call.Stream, error) {
		return w.engine.Subscribe(c.Context(), c.Principal, ses.ID, after)
	}
	src := &source{}
	if stop {
		src.stop = whenIdle
	}
	if after == "" {
		src.stream, err = subscribe(-1)
		if err != nil {
			return nil, err
		}
		src.after = src.stream.After()
		return src, nil
	}
	cursor, err := ParseCursor(after)
	if err != nil {
		// What the cursor is worth is told only to who may read the session.
		if _, missed := w.session(c); missed != nil {
			err = missed
		}
		return nil, err
	}
	src.idle = stop && cursor.Seq >= ses.Head && ses.Open == 0 // it has read everything
	return src, src.seek(cursor, subscribe)
}
