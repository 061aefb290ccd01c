package agents

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// Metadata of a session whose next turn waits for a slot of the host: its place in the
// host's line, and, once it is known what turns take here, how long that may be. They
// are shown and not kept: a caller that sends back what it read does not set them.
const (
	metaPosition = "agenthost.queue_position"
	metaWait     = "agenthost.queue_wait_seconds"
)

// metaIsolation is where a session says with which levels of isolation its newest
// ended turn ran. It is shown and not kept as well.
const metaIsolation = "agenthost.isolation"

// reported is the metadata that a session shows.
func reported(m map[string]string, s *fold.Session) map[string]string {
	if s.Isolation == "" {
		return filled(m)
	}
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[metaIsolation] = s.Isolation
	return m
}

// waitingObject is a turn that waits for a slot.
type waitingObject struct {
	ID       string `json:"id"` // the turn's
	Object   string `json:"object" enum:"agent.queue.entry"`
	Position int    `json:"position"`
	// Principal is shown to admins.
	Principal   *string `json:"principal,omitempty"`
	QueuedAt    int64   `json:"queued_at"`
	SessionID   string  `json:"session_id"`
	WaitSeconds *int64  `json:"wait_seconds"`
}

// ListQueue is GET /agents/queue: the turns that wait for a slot, next ones first
// unless the caller asks otherwise; an admin sees everybody's.
func (w *Wire) ListQueue(c *call.Call) {
	p, err := page(c, event.PrefixTurn, event.PrefixResponse)
	if err != nil {
		c.Fail(err)
		return
	}
	if _, asked := c.Query("order"); !asked {
		p.Desc = false
	}
	owner := c.Principal
	if c.Admin {
		owner = ""
	}
	list, err := w.engine.Queue(c.Context(), owner)
	if err == nil {
		list = slices.Clone(list) // it is shared
		if p.Desc {
			slices.Reverse(list)
		}
		if !p.After.IsZero() {
			at := slices.IndexFunc(list, func(e *spec.Waiting) bool { return e.Turn == p.After })
			if at < 0 { // it waits no more
				c.Fail(noSuchPage())
				return
			}
			list = list[at+1:]
		}
	}
	n := min(len(list), p.Limit)
	answerList(c, list[:n], n < len(list), err, func(e *spec.Waiting) (string, any) {
		o := &waitingObject{
			ID: e.Turn.With(event.PrefixTurn), Object: "agent.queue.entry", Position: e.Position,
			QueuedAt: seconds(e.Since), SessionID: e.Session.With(event.PrefixSession), WaitSeconds: waitSeconds(e),
		}
		if c.Admin {
			o.Principal = &e.Principal
		}
		return o.ID, o
	})
}

// waitSeconds rounds up; nil while nothing is known.
func waitSeconds(e *spec.Waiting) *int64 {
	if e.Wait <= 0 {
		return nil
	}
	s := int64(math.Ceil(float64(e.Wait) / float64(time.Second)))
	return &s
}

// queued shows sessions with their places in the line.
func (w *Wire) queued(c *call.Call, list ...*fold.Session) {
	if !slices.ContainsFunc(list, func(s *fold.Session) bool { return s.Open > 0 && s.Settings != nil }) {
		return
	}
	line, err := w.engine.Queue(c.Context(), c.Principal)
	if err != nil {
		return // the session itself is there, and says that it is in progress
	}
	at := make(map[event.ID]*spec.Waiting, len(line))
	for _, e := range line {
		at[e.Session] = e
	}
	for _, s := range list {
		e := at[s.ID]
		if e == nil || s.Open == 0 || s.Settings == nil {
			continue
		}
		set := *s.Settings
		set.Metadata = maps.Clone(set.Metadata)
		if set.Metadata == nil {
			set.Metadata = map[string]string{}
		}
		set.Metadata[metaPosition] = strconv.Itoa(e.Position)
		if s := waitSeconds(e); s != nil {
			set.Metadata[metaWait] = strconv.FormatInt(*s, 10)
		}
		s.Settings = &set
	}
}
