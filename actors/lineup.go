package actors

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/asynkron/protoactor-go/actor"
)

// showLine asks the supervisor for the line. Reply: *lineup.
type showLine struct{ reply chan answer[*lineup] }

// lineup is the line as it was at one moment, shared by all who look at it.
type lineup struct {
	version int64
	at      time.Time
	list    []*spec.Waiting
}

// A long line is put in order at most so often; a short one whenever it has changed.
const (
	longLine  = 256
	lineStays = 250 * time.Millisecond
)

// Queue lists the turns of owner, of everybody for "", that wait for a slot, in the
// order in which they are expected to get one.
func (h *Host) Queue(ctx context.Context, owner string) ([]*spec.Waiting, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	if h.stats.waiting.Load() == 0 {
		return nil, nil
	}
	l := h.line.Load()
	if l == nil || l.version != h.stats.line.Load() && (len(l.list) <= longLine || time.Since(l.at) > lineStays) {
		m := &showLine{reply: make(chan answer[*lineup], 1)}
		h.root.Send(h.supervisor, m)
		var err error
		if l, err = await(ctx, h, m.reply); err != nil {
			return nil, err
		}
	}
	if owner == "" {
		return l.list, nil
	}
	var own []*spec.Waiting
	for _, w := range l.list {
		if w.Principal == owner {
			own = append(own, w)
		}
	}
	return own, nil
}

// showLine puts the line in order.
func (s *supervisor) showLine() *lineup {
	mean := s.host.stats.turnTime.Load()
	l := &lineup{version: s.host.stats.line.Load(), at: time.Now()}
	of := map[string]int{}
	for i, e := range s.admit.Line(mean) {
		of[e.Principal]++
		w := &spec.Waiting{
			Session: e.Session, Turn: e.Turn, Principal: e.Principal, Position: i + 1,
			Since: s.lined[e.Turn],
		}
		if mean > 0 {
			w.Wait = max(waitFor(i+1, s.admit.Slots(), mean), waitFor(of[e.Principal], s.admit.SlotsOf(e.Principal), mean))
		}
		l.list = append(l.list, w)
	}
	s.host.line.Store(l)
	return l
}

// waitFor is how long until so many slots have come free, if every turn takes mean
// milliseconds.
func waitFor(position, slots int, mean int64) time.Duration {
	return time.Duration(int64(position)*mean/int64(max(slots, 1))) * time.Millisecond
}

// turnWeight is the part of a new turn in the average, 1 in so many.
const turnWeight = 8

// took notes how long a turn held its slot.
func (s *supervisor) took(millis int64) {
	mean := &s.host.stats.turnTime
	if old := mean.Load(); old > 0 {
		millis = old + (millis-old)/turnWeight
	}
	mean.Store(max(millis, 1))
}

// Retry hints are between a second and ten minutes.
const maxRetry = 10 * time.Minute

// freeSlot is when one of so many turns that run may be expected to end; fallback
// while nothing is known of turns here.
func (h *Host) freeSlot(of int, fallback time.Duration) int {
	if mean := h.stats.turnTime.Load(); mean > 0 {
		fallback = min(waitFor(1, of, mean), maxRetry)
	}
	return wholeSeconds(fallback)
}

// nextPlace is when a place in the session's queue may be expected to come free.
func (s *session) nextPlace() int {
	after := s.host.freeSlot(1, 5*time.Second)
	if mean := s.host.stats.turnTime.Load(); s.run == nil && mean > 0 { // it waits for a slot itself
		after += wholeSeconds(waitFor(int(s.host.stats.waiting.Load()), s.host.cfg.limits.MaxConcurrentTurns, mean))
	}
	return min(after, int(maxRetry/time.Second))
}

// lineStats are the counts of the line and of what turns take.
type lineStats struct {
	// line changes with the line; turnTime is the moving average of the time that a
	// turn holds its slot, in milliseconds, 0 before the first.
	line, turnTime atomic.Int64
}

// ask puts a turn into the line.
func (s *supervisor) ask(c actor.Context, m *askSlot) {
	e := &m.entry
	if !s.admit.Has(e.Turn) {
		s.lined[e.Turn] = s.host.now().UnixMilli()
	}
	s.grant(c, s.admit.Ask(*e))
	if _, has := s.holders[e.Turn]; m.prompt && !has {
		s.deliver(c, e.Session, &lined{e.Turn}, fromStore)
	}
}

// unlined forgets a turn that waits no more.
func (s *supervisor) unlined(turn event.ID) { delete(s.lined, turn) }
