package actors

import (
	"encoding/json"
	"time"

	"github.com/agenthost/agenthost/actors/archive"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// committed is the store's answer to a session's group.
type committed struct{ err error }

// group is what a session stores with one commit. While one is in flight, what
// happens meanwhile gathers in the next one, so a flood makes large commits and
// a quiet turn makes prompt ones.
type group struct {
	head    int64 // the last event before it
	batch   *fold.Batch
	create  *store.NewSession
	spec    []byte
	body    bool // the session's record changes
	turns   []store.Turn
	key     *store.Key
	spend   *store.Spend
	durable bool
	// forgotten are the numbers of its TurnForgotten events.
	forgotten []int64
	// then runs on the session's actor when the commit landed or failed.
	then []func(c actor.Context, err error)
}

// maxGroup bounds the events of one commit.
const maxGroup = 4096

// group is the one that the next change joins. A commit carries one idempotency
// key at most.
func (s *session) group(key *store.Key) *group {
	if n := len(s.next); n > 0 {
		g := s.next[n-1]
		if len(g.batch.Events) < maxGroup && (key == nil || g.key == nil) {
			if key != nil {
				g.key = key
			}
			return g
		}
	}
	g := &group{head: s.state.Session().Head, batch: &fold.Batch{}, key: key}
	s.next = append(s.next, g)
	return g
}

// add stamps ev, folds it and puts it into g.
func (s *session) add(g *group, ev event.Event) *fold.View {
	return s.addAt(g, ev, s.host.now().UnixMilli())
}

// addAt is add for one of many events of the same moment.
func (s *session) addAt(g *group, ev event.Event, now int64) *fold.View {
	ev.At = now
	s.state.Stamp(&ev)
	if err := g.batch.Add(s.state, ev); err != nil {
		// The engine made an event its own fold refuses: a defect, which the guard
		// turns into the end of this actor and a reload from the store.
		panic(err)
	}
	s.sinceBytes += len(ev.Text) + 64
	return g.batch.View(len(g.batch.Events) - 1)
}

// record puts a turn's record into g.
func (s *session) record(g *group, t *fold.Turn, state store.TurnState) {
	row := archive.Record(t, state)
	for i := range g.turns {
		if g.turns[i].ID == row.ID {
			g.turns[i] = row
			return
		}
	}
	g.turns = append(g.turns, row)
}

// flush starts the commit of the oldest waiting group unless one is in flight.
func (s *session) flush(c actor.Context) {
	if s.flight != nil {
		return
	}
	for len(s.next) > 0 && s.next[0].empty() {
		g := s.shift()
		for _, f := range g.then {
			f(c, nil)
		}
		if s.flight != nil {
			return // one of them flushed
		}
	}
	if len(s.next) == 0 {
		return
	}
	g := s.shift()
	s.flight = g
	self, root := c.Self(), s.host.root
	started := s.host.now()
	com := &store.Commit{
		Session: s.id, Host: s.owner, Epoch: s.epoch, Head: g.head, Events: g.batch.Events,
		Create: g.create, Spec: g.spec, Turns: g.turns, Key: g.key, Spend: g.spend, Durable: g.durable,
		Done: func(err error) {
			s.host.stats.commit(time.Since(started))
			root.Send(self, &committed{err})
		},
	}
	s.summary(com, g)
	s.host.store.Commit(com)
}

// shift takes the oldest waiting group out. The list lets go of it too: a session that
// rests would hold on to all that its newest group was about.
func (s *session) shift() *group {
	g := s.next[0]
	s.next[0] = nil
	if s.next = s.next[1:]; len(s.next) == 0 {
		s.next = nil
	}
	return g
}

// summary adds the session's record, and a checkpoint when it is worth one. Both
// speak of the fold's present state, so they wait while newer events are still
// to come.
func (s *session) summary(com *store.Commit, g *group) {
	if !g.body {
		return
	}
	state := store.Active
	com.State = &state
	if len(s.next) > 0 && g.create == nil {
		s.next[len(s.next)-1].body = true
		return
	}
	ses := s.state.Session()
	com.Active = ses.LastActive
	com.Body, _ = json.Marshal(&ses)
	if !s.state.AtRest() || len(s.next) > 0 {
		return
	}
	state = store.Idle
	if since := ses.Head - s.lastCheckpoint; since < 64 && s.sinceBytes < 64<<10 && s.lastCheckpoint > 0 {
		return
	}
	if cp, err := s.state.Checkpoint(); err == nil {
		com.Checkpoint = cp
		s.lastCheckpoint, s.sinceBytes = ses.Head, 0
	}
}

func (g *group) empty() bool {
	return len(g.batch.Events) == 0 && !g.body && g.create == nil && len(g.turns) == 0 && g.spec == nil && g.key == nil
}

// landed publishes a stored group and starts the next.
func (s *session) landed(c actor.Context, err error) {
	g := s.flight
	s.flight = nil
	if err != nil {
		s.lost(c, g, err)
		return
	}
	s.pause = retryAfter
	switch {
	case len(g.batch.Events) == 0:
	case g.create != nil && s.subs == 0 && s.state.AtRest():
		s.ring.pass(g.batch.Last()) // nobody waits for what a new session without work began with
	default:
		s.ring.publish(g.batch)
	}
	s.ring.forget(g.forgotten...)
	// What then starts may gather in the next group; keep order by flushing after.
	for _, f := range g.then {
		f(c, nil)
	}
	s.flush(c)
	if s.state.AtRest() {
		s.trim(c)
	}
	s.erase(c)
	s.quiet(c)
	s.rest(c)
}

// lost: the store refused g, so nothing folded since is true. Everyone who waits
// is told, and the session is read again.
func (s *session) lost(c actor.Context, g *group, err error) {
	failure := storeFailure(err)
	for _, g := range append([]*group{g}, s.next...) {
		for _, f := range g.then {
			f(c, failure)
		}
	}
	s.flight, s.next = nil, nil
	s.quiet(c)
	if g.create != nil {
		s.behavior.Become(s.missing) // it never came to be
		c.Send(s.supervisor, &restful{s.id})
		return
	}
	s.break_(c, err)
}
