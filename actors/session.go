package actors

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages a session understands. Each with a reply channel gets exactly one
// answer on it; the channels are buffered (1).
type (
	// open creates the session. Its actor is new and empty.
	open struct {
		settings *spec.Session
		input    *spec.NewInput
		key      *store.Key
		reply    chan answer[*Posted]
	}
	post struct {
		owner   string
		actions []spec.Action
		key     *store.Key
		reply   chan answer[*Posted]
	}
	update struct {
		owner  string
		change *spec.Update
		reply  chan answer[*fold.Session]
	}
	cancelTurn struct {
		owner string
		turn  event.ID
		reply chan answer[*fold.Turn]
	}
	// showTurn asks for a queued or running turn as it is now; nil when it has
	// ended.
	showTurn struct {
		owner string
		turn  event.ID
		reply chan answer[*fold.Turn]
	}
	forgetTurn struct {
		owner string
		turn  event.ID
		reply chan answer[struct{}]
	}
	remove struct {
		owner string
		reply chan answer[struct{}]
	}
	subscribe struct {
		owner string
		after int64 // -1: from now
		reply chan answer[*Subscription]
	}
	unsubscribe struct{}
	// wake only makes sure that the actor is there, so that it recovers.
	wake struct{}

	granted struct{ turn event.ID }
	// turnEvents are what a turn did next. release is called once they are stored
	// or were refused.
	turnEvents struct {
		turn    event.ID
		events  []event.Event
		release func(error)
	}
	// turnGone says that a turn's actor stopped, in its place behind what that
	// actor sent.
	turnGone struct{ who *actor.PID }
	// turnFinished says that nothing of the turn is left, its process included.
	turnFinished struct{ turn event.ID }

	loaded struct {
		rec   *store.Session
		state *fold.State
		err   error
	}
	committed struct{ err error }
	removed   struct{ err error }
	passivate struct{}
	idleUp    struct{ gen int }
	retryUp   struct{ gen int }
)

// answer is a reply or a refusal.
type answer[T any] struct {
	value T
	err   error
}

// session is the only owner of one session's queue, fold and journal. Its
// states are loading, serving, missing, broken and closing; receive says which
// messages each takes.
type session struct {
	host       *Host
	id         event.ID
	supervisor *actor.PID
	behavior   actor.Behavior

	state *fold.State
	fifo  *queue.Session
	ring  *ring
	subs  int

	owner event.ID // the host that owns the session, and its epoch
	epoch int64

	// flight is the group being committed, next those that wait for it.
	flight *group
	next   []*group
	// staged counts inputs that are folded but not yet in the fifo.
	staged int

	run    *running
	forget map[event.ID]bool // open turns to forget at their end

	lastCheckpoint int64
	sinceBytes     int
	trimming       bool

	waiting  []any // messages that came while loading
	removals []chan answer[struct{}]
	erasing  bool

	idle, retry timer
	failure     error // why it is broken
}

// running is the turn whose actor lives.
type running struct {
	turn event.ID
	pid  *actor.PID
}

func newSession(h *Host, id event.ID, supervisor *actor.PID, fresh bool) *session {
	s := &session{host: h, id: id, supervisor: supervisor, behavior: actor.NewBehavior()}
	s.reset()
	if fresh {
		s.owner, s.epoch = h.id, 1
		s.behavior.Become(s.serving)
	} else {
		s.behavior.Become(s.loading)
	}
	return s
}

func (s *session) reset() {
	s.state = fold.New()
	s.fifo = queue.NewSession(s.host.cfg.limits.MaxQueue)
	s.ring = newRing(0, s.host.cfg.limits.RingBytes)
	s.flight, s.next, s.staged = nil, nil, 0
	s.forget = map[event.ID]bool{}
	s.lastCheckpoint, s.sinceBytes = 0, 0
}

func (s *session) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		if s.epoch == 0 {
			s.load(c)
		}
	case *actor.Stopping:
		s.idle.stop()
		s.retry.stop()
		s.ring.close(event.Fail(event.ShuttingDown, "the session was closed; come back with the last cursor"))
		s.abandon(event.Fail(event.ShuttingDown, "the server stopped before it could answer"))
	case *unsubscribe:
		s.subs--
		s.host.stats.subscribers.Add(-1)
		s.rest(c)
	case *actor.Terminated:
		// It overtook what the turn sent before it stopped.
		c.Send(c.Self(), &turnGone{m.Who})
	case *turnGone:
		s.turnGone(c, m.who)
	case *turnFinished:
		s.finished(c, m.turn)
	case *endStreams:
		s.ring.close(m.reason)
	case *halt:
		s.stopTurn(c, event.Fail(event.ServerStopped, "the server was stopped before this turn ended"))
	default:
		s.behavior.Receive(c)
	}
}

// loading: the store is being read. Left for serving, missing or broken.
func (s *session) loading(c actor.Context) {
	switch m := c.Message().(type) {
	case *loaded:
		s.arrive(c, m)
	case *passivate:
		c.Send(s.supervisor, &awake{s.id})
	default:
		s.waiting = append(s.waiting, m)
	}
}

// serving: the ordinary state. Left for broken when the store refuses a commit,
// for closing when the session is removed.
func (s *session) serving(c actor.Context) {
	switch m := c.Message().(type) {
	case *open:
		s.create(c, m)
	case *post:
		s.post(c, m)
	case *update:
		s.update(c, m)
	case *cancelTurn:
		s.cancelOne(c, m)
	case *showTurn:
		s.show(m)
	case *forgetTurn:
		s.forgetOne(c, m)
	case *forgetLoaded:
		s.forgetEnded(c, m.turn.ID, m.turn, m.reply)
	case *subscribe:
		s.subscribe(c, m)
	case *remove:
		s.remove(c, m)
	default:
		s.always(c)
	}
}

// closing: the session is being removed; what runs is ended first. Left by
// stopping.
func (s *session) closing(c actor.Context) {
	switch m := c.Message().(type) {
	case *remove:
		s.removals = append(s.removals, m.reply)
	case *removed:
		s.erased(c, m.err)
	default:
		if !refuse(m, s.notFound()) {
			s.always(c)
		}
	}
}

// missing: there is no such session. Left by stopping.
func (s *session) missing(c actor.Context) {
	if m, ok := c.Message().(*passivate); ok {
		_ = m
		c.Stop(c.Self())
		return
	}
	refuse(c.Message(), s.notFound())
}

// broken: the store refused a commit, so the fold is ahead of the journal. The
// running turn is ended, then the session is read again. Left for loading.
func (s *session) broken(c actor.Context) {
	switch m := c.Message().(type) {
	case *granted:
		c.Send(s.supervisor, &returnSlot{m.turn})
	case *turnEvents:
		m.release(s.failure)
	case *retryUp:
		if s.retry.is(m.gen) && s.run == nil {
			s.reset()
			s.behavior.Become(s.loading)
			s.load(c)
		}
	case *passivate:
		c.Send(s.supervisor, &awake{s.id})
	default:
		refuse(m, s.failure)
	}
}

// always is what serving and closing share.
func (s *session) always(c actor.Context) {
	switch m := c.Message().(type) {
	case *granted:
		s.effects(c, s.fifo.Granted(m.turn))
	case *turnEvents:
		s.took(c, m)
	case *committed:
		s.landed(c, m.err)
	case *idleUp:
		if s.idle.is(m.gen) && s.restful() {
			c.Send(s.supervisor, &restful{s.id})
		}
	case *passivate:
		if s.restful() {
			c.Stop(c.Self())
		} else {
			c.Send(s.supervisor, &awake{s.id})
		}
	case *trimmed:
		s.trimming = false
	case *wake:
		s.rest(c)
	}
}

// load reads the session in a goroutine that ends by sending loaded.
func (s *session) load(c actor.Context) {
	self := c.Self()
	s.host.work.Go(func() {
		m := &loaded{}
		m.rec, m.state, m.err = s.host.loadSession(context.Background(), s.id)
		s.host.root.Send(self, m)
	})
}

// arrive takes the loaded session in and settles what a former owner left.
func (s *session) arrive(c actor.Context, m *loaded) {
	switch {
	case event.CodeOf(m.err) == event.NotFound, m.err == nil && m.rec.State == store.Deleted:
		s.behavior.Become(s.missing)
		s.refuseWaiting(s.notFound())
		c.Send(s.supervisor, &restful{s.id})
		return
	case m.err != nil:
		s.break_(c, m.err)
		s.refuseWaiting(s.failure)
		return
	}
	s.state, s.owner, s.epoch = m.state, s.host.id, m.rec.Epoch
	s.ring = newRing(m.state.Session().Head, s.host.cfg.limits.RingBytes)
	s.behavior.Become(s.serving)
	s.recover(c, m.rec)
	held := s.waiting
	s.waiting = nil
	self := c.Self()
	for _, msg := range held {
		c.Send(self, msg)
	}
	s.rest(c)
}

// recover settles the turns that ran when the former owner went, and queues the
// others again in the order they were accepted.
func (s *session) recover(c actor.Context, rec *store.Session) {
	f := event.Fail(event.ServerRestarted, "the server was restarted while this turn ran; the turn was not run again")
	if rec.Host == s.host.id {
		f = event.Fail(event.StorageFailed, "the store refused to keep this turn's events, so the turn was ended; the server's log has the cause")
	}
	g := s.group(nil)
	for _, t := range s.state.OpenTurns() {
		if t.Status == fold.Running {
			s.settle(g, t.ID, &event.End{Outcome: event.Failed, Failure: f})
			continue
		}
		s.effects(c, s.fifo.Accept(t.ID, t.Input.Number))
	}
	s.flush(c)
}

func (s *session) create(c actor.Context, m *open) {
	raw, err := json.Marshal(m.settings)
	if err != nil {
		m.reply <- answer[*Posted]{err: event.Fail(event.InvalidRequest, "the session's settings cannot be stored: "+err.Error())}
		c.Stop(c.Self())
		return
	}
	g := s.group(m.key)
	g.create = &store.NewSession{Owner: m.settings.Owner, Created: m.settings.Created}
	g.spec, g.body = raw, true
	g.durable = true
	posted := &Posted{}
	s.add(g, event.Event{Kind: event.SessionCreated, Body: &event.Settings{JSON: raw}})
	var turn event.ID
	if m.input != nil {
		turn = s.accept(g, m.input, posted)
	}
	posted.Session = s.state.Session()
	answerOf(g.key, posted)
	g.then = append(g.then, func(c actor.Context, err error) {
		if err != nil {
			m.reply <- answer[*Posted]{err: err}
			return
		}
		m.reply <- answer[*Posted]{value: posted}
		if m.input != nil {
			s.enqueue(c, turn)
		}
	})
	s.flush(c)
}

func (s *session) post(c actor.Context, m *post) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*Posted]{err: err}
		return
	}
	inputs := 0
	for _, a := range m.actions {
		if a.Input == nil {
			continue
		}
		inputs++
		if err := s.latest(a.Input.After); err != nil {
			m.reply <- answer[*Posted]{err: err}
			return
		}
	}
	if inputs > 0 && s.fifo.Full(inputs+s.staged) {
		f := event.Fail(event.QueueFull, "this session's queue is full; wait for a turn to end, or raise limits.max_queue")
		f.RetryAfter = 5
		m.reply <- answer[*Posted]{err: f}
		return
	}
	posted := &Posted{Before: s.state.Session().Head}
	var turns, cancels []event.ID
	var g *group
	if inputs > 0 || m.key != nil {
		g = s.group(m.key)
		g.durable, g.body = true, inputs > 0 || g.body
	}
	for _, a := range m.actions {
		switch {
		case a.Input != nil:
			turns = append(turns, s.accept(g, a.Input, posted))
		case a.Cancel:
			if t, _, ok := s.fifo.CancelTarget(); ok {
				cancels = append(cancels, t)
			} else if len(turns) > 0 {
				cancels = append(cancels, turns[0])
			}
		}
	}
	posted.Session = s.state.Session()
	done := func(c actor.Context, err error) {
		if err != nil {
			m.reply <- answer[*Posted]{err: err}
			return
		}
		m.reply <- answer[*Posted]{value: posted}
		for _, t := range turns {
			s.enqueue(c, t)
		}
		for _, t := range cancels {
			s.cancel(c, t)
		}
	}
	if g == nil {
		done(c, nil)
		return
	}
	answerOf(g.key, posted)
	g.then = append(g.then, done)
	s.flush(c)
}

// accept folds the acceptance of in into g and returns the turn's id.
func (s *session) accept(g *group, in *spec.NewInput, posted *Posted) event.ID {
	turn := event.NewTurnID()
	ses := s.state.Session()
	body := &event.Input{
		Number: s.host.number.Add(1), Items: make([]*event.Item, len(in.Items)), Prompt: in.Prompt(),
		WasIdle: ses.Open == 0, Waiting: ses.Open > 0 || s.host.stats.full(s.host.cfg.limits.MaxConcurrentTurns),
		Wire: in.Wire, Echo: in.Echo, Background: in.Background, Forget: in.Forget,
	}
	for i, it := range in.Items {
		own := *it
		own.ID, own.Status, own.User, own.Type = event.ItemID(turn, uint32(i)), event.Done, true, event.Message
		body.Items[i] = &own
	}
	if in.Overrides != nil {
		body.Overrides, _ = json.Marshal(in.Overrides)
	}
	v := s.add(g, event.Event{Kind: event.InputAccepted, Turn: turn, Body: body})
	posted.Turns = append(posted.Turns, v.Turn)
	s.staged++
	s.record(g, v.Turn, store.TurnOpen)
	return turn
}

// enqueue puts a stored input into the fifo.
func (s *session) enqueue(c actor.Context, turn event.ID) {
	s.staged--
	t, ok := s.state.Turn(turn)
	if !ok {
		return
	}
	s.effects(c, s.fifo.Accept(turn, t.Input.Number))
	s.hurry(c)
}

// hurry tells the running turn that others wait, so that a process that lingers
// after its answer is not given all its time.
func (s *session) hurry(c actor.Context) {
	if s.run != nil && s.fifo.Waiting() > 0 {
		c.Send(s.run.pid, &hurry{})
	}
}

func (s *session) effects(c actor.Context, effects []queue.SessionEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case queue.Ask:
			c.Send(s.supervisor, &askSlot{queue.Entry{
				Session: s.id, Turn: e.Turn, Number: e.Number, Principal: s.state.Session().Owner,
			}})
		case queue.Withdraw:
			c.Send(s.supervisor, &withdrawSlot{e.Turn})
		case queue.Return:
			c.Send(s.supervisor, &returnSlot{e.Turn})
		case queue.Start:
			s.start(c, e.Turn)
		}
	}
}

func (s *session) start(c actor.Context, id event.ID) {
	t, ok := s.state.Turn(id)
	if !ok {
		s.effects(c, s.fifo.Done(id))
		c.Send(s.supervisor, &returnSlot{id})
		return
	}
	t.Settings = s.state.Settings() // an update since the acceptance counts
	ses := s.state.Session()
	self := c.Self()
	pid := c.Spawn(s.host.props(func() actor.Actor { return newTurn(s.host, self, &ses, t) }))
	s.run = &running{turn: id, pid: pid}
	s.hurry(c)
}

// took folds what the running turn did.
func (s *session) took(c actor.Context, m *turnEvents) {
	if s.run == nil || s.run.turn != m.turn {
		m.release(nil)
		return
	}
	if _, open := s.state.Turn(m.turn); !open {
		m.release(nil) // nothing follows a turn's end
		return
	}
	g := s.group(nil)
	for _, ev := range m.events {
		ev.Turn = m.turn
		if end, ok := ev.Body.(*event.End); ok {
			s.end(g, ev, end)
			continue
		}
		s.add(g, ev)
		if ev.Kind == event.ItemDone || ev.Kind == event.TurnStarted {
			g.durable = true
		}
	}
	g.then = append(g.then, func(_ actor.Context, err error) { m.release(err) })
	s.flush(c)
}

// settle ends a turn that has no actor: its open items, then the turn.
func (s *session) settle(g *group, id event.ID, end *event.End) {
	t, ok := s.state.Turn(id)
	if !ok {
		return
	}
	for _, it := range t.Items {
		if it.Status != event.InProgress {
			continue
		}
		cut := *it
		cut.Status = event.Incomplete
		s.add(g, event.Event{Kind: event.ItemDone, Turn: id, Item: it.ID, Body: &cut})
	}
	s.end(g, event.Event{Kind: event.TurnEnded, Turn: id}, end)
}

// end folds a turn's last event.
func (s *session) end(g *group, ev event.Event, end *event.End) {
	end.Idle = s.state.Session().Open == 1
	ev.Body = end
	v := s.add(g, ev)
	s.record(g, v.Turn, store.TurnEnded)
	g.durable, g.body = true, true
	s.host.ended(v)
	if v.Turn.Input.Forget || s.forget[ev.Turn] {
		turn := ev.Turn
		delete(s.forget, turn)
		g.then = append(g.then, func(c actor.Context, err error) {
			if err == nil {
				s.forgetEnded(c, turn, v.Turn, nil)
			}
		})
	}
}

// finished: the turn's process is gone, its slot and place are free.
func (s *session) finished(c actor.Context, turn event.ID) {
	if s.run == nil || s.run.turn != turn {
		return
	}
	if s.flight != nil || len(s.next) > 0 {
		// Its last events first: a drained host has stored everything.
		g := s.group(nil)
		g.then = append(g.then, func(c actor.Context, _ error) {
			if c != nil { // nil: this actor is stopping, and its parent takes the slot back
				s.free(c, turn)
			}
		})
		return
	}
	s.free(c, turn)
}

func (s *session) free(c actor.Context, turn event.ID) {
	if s.run == nil || s.run.turn != turn {
		return
	}
	s.run = nil
	// The session's next ask goes first: its place in the host's line is by
	// acceptance, and the slot may be its own.
	s.effects(c, s.fifo.Done(turn))
	c.Send(s.supervisor, &returnSlot{turn})
	s.afterTurn(c)
}

// turnGone: a turn's actor stopped. Without turnFinished it crashed.
func (s *session) turnGone(c actor.Context, who *actor.PID) {
	if s.run == nil || s.run.pid.GetId() != who.GetId() {
		return
	}
	turn := s.run.turn
	if s.failure == nil {
		g := s.group(nil)
		s.settle(g, turn, &event.End{Outcome: event.Failed, Failure: event.Fail(event.ServerRestarted,
			"an internal error ended this turn; the server's log has the cause")})
		s.flush(c)
	}
	s.finished(c, turn)
}

func (s *session) afterTurn(c actor.Context) {
	s.erase(c)
	s.rest(c)
}

// cancel ends a turn: the running one through its actor, a queued one at once.
func (s *session) cancel(c actor.Context, turn event.ID) {
	if s.run != nil && s.run.turn == turn {
		c.Send(s.run.pid, &cancel{})
		return
	}
	if _, open := s.state.Turn(turn); !open {
		return
	}
	s.effects(c, s.fifo.Drop(turn))
	g := s.group(nil)
	s.settle(g, turn, &event.End{Outcome: event.Cancelled})
	s.flush(c)
}

func (s *session) stopTurn(c actor.Context, f *event.Failure) {
	if s.run != nil {
		c.Send(s.run.pid, &stop{failure: f})
	}
}

func (s *session) cancelOne(c actor.Context, m *cancelTurn) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*fold.Turn]{err: err}
		return
	}
	s.cancel(c, m.turn)
	t, _ := s.state.Turn(m.turn)
	m.reply <- answer[*fold.Turn]{value: t}
}

func (s *session) show(m *showTurn) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*fold.Turn]{err: err}
		return
	}
	t, _ := s.state.Turn(m.turn)
	m.reply <- answer[*fold.Turn]{value: t}
}

func (s *session) update(c actor.Context, m *update) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*fold.Session]{err: err}
		return
	}
	next := m.change.Apply(s.state.Settings())
	raw, err := json.Marshal(next)
	if err != nil {
		m.reply <- answer[*fold.Session]{err: event.Fail(event.InvalidRequest, "the settings cannot be stored: "+err.Error())}
		return
	}
	g := s.group(nil)
	s.add(g, event.Event{Kind: event.SessionUpdated, Body: &event.Settings{JSON: raw}})
	g.spec, g.body, g.durable = raw, true, true
	now := s.state.Session()
	g.then = append(g.then, func(_ actor.Context, err error) {
		m.reply <- answer[*fold.Session]{value: &now, err: err}
	})
	s.flush(c)
}

// forgetOne removes a turn's items; one that still runs is cancelled first.
func (s *session) forgetOne(c actor.Context, m *forgetTurn) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[struct{}]{err: err}
		return
	}
	if _, open := s.state.Turn(m.turn); open {
		s.forget[m.turn] = true
		s.cancel(c, m.turn)
		m.reply <- answer[struct{}]{}
		return
	}
	reply := m.reply
	self, host, id, turn := c.Self(), s.host, s.id, m.turn
	host.work.Go(func() {
		t, err := host.loadTurn(context.Background(), id, turn)
		if err != nil {
			reply <- answer[struct{}]{err: err}
			return
		}
		host.root.Send(self, &forgetLoaded{turn: t, reply: reply})
	})
}

// forgetLoaded brings the ended turn that is to be forgotten.
type forgetLoaded struct {
	turn  *fold.Turn
	reply chan answer[struct{}]
}

func (s *session) forgetEnded(c actor.Context, id event.ID, t *fold.Turn, reply chan answer[struct{}]) {
	g := s.group(nil)
	s.add(g, event.Event{Kind: event.TurnForgotten, Turn: id})
	gone := *t
	gone.Forgotten, gone.Items = true, nil
	s.record(g, &gone, store.TurnForgotten)
	g.durable = true
	g.then = append(g.then, func(_ actor.Context, err error) {
		s.ring.forget()
		if reply != nil {
			reply <- answer[struct{}]{err: err}
		}
	})
	s.flush(c)
}

func (s *session) subscribe(c actor.Context, m *subscribe) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*Subscription]{err: err}
		return
	}
	if s.subs >= s.host.cfg.limits.MaxSubscribers {
		f := event.Fail(event.TooManySubscribers, "this session has as many open streams as limits.max_subscribers allows")
		f.RetryAfter = 5
		m.reply <- answer[*Subscription]{err: f}
		return
	}
	head := s.ring.window.Load().head
	pos := m.after
	switch {
	case pos < 0:
		pos = head
	case pos > head:
		m.reply <- answer[*Subscription]{err: event.Fail(event.CursorNotFound, "this cursor was never issued for the session")}
		return
	}
	s.subs++
	s.host.stats.subscribers.Add(1)
	s.idle.stop()
	m.reply <- answer[*Subscription]{value: &Subscription{host: s.host, session: s.id, pid: c.Self(), ring: s.ring, pos: pos}}
}

// remove begins the end of the session: what is queued is cancelled, what runs
// is ended, then the records go.
func (s *session) remove(c actor.Context, m *remove) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[struct{}]{err: err}
		return
	}
	s.removals = append(s.removals, m.reply)
	s.behavior.Become(s.closing)
	for _, t := range s.state.OpenTurns() {
		s.cancel(c, t.ID)
	}
	s.erase(c)
}

// erase removes the records once nothing runs and everything is stored.
func (s *session) erase(c actor.Context) {
	if len(s.removals) == 0 || s.erasing || s.run != nil || s.flight != nil || len(s.next) > 0 {
		return
	}
	s.erasing = true
	s.ring.close(io.EOF)
	self, host, id, ws := c.Self(), s.host, s.id, s.state.Settings()
	host.work.Go(func() {
		err := host.store.Remove(context.Background(), id)
		if err == nil {
			host.removeWorkspace(ws)
		}
		host.root.Send(self, &removed{err})
	})
}

func (s *session) erased(c actor.Context, err error) {
	if err != nil {
		err = storeFailure(err)
	}
	s.answerRemovals(err)
	s.behavior.Become(s.missing)
	c.Send(s.supervisor, &restful{s.id})
}

// abandon answers everyone who still waits.
func (s *session) abandon(err error) {
	s.refuseWaiting(err)
	s.answerRemovals(err)
	groups := s.next
	if s.flight != nil {
		groups = append([]*group{s.flight}, groups...)
	}
	s.flight, s.next = nil, nil
	for _, g := range groups {
		for _, f := range g.then {
			f(nil, err)
		}
	}
}

func (s *session) answerRemovals(err error) {
	for _, r := range s.removals {
		r <- answer[struct{}]{err: err}
	}
	s.removals = nil
}

// check refuses a principal that does not own the session, in the words of an
// unknown id.
func (s *session) check(owner string) error {
	if owner != "" && owner != s.state.Session().Owner {
		return s.notFound()
	}
	return nil
}

func (s *session) notFound() error {
	return event.Fail(event.SessionNotFound, "there is no such session")
}

// latest refuses an input that does not continue the newest turn.
func (s *session) latest(after event.ID) error {
	ses := s.state.Session()
	if after.IsZero() || after == ses.Latest || ses.Failing && after == ses.Completed {
		return nil
	}
	return event.FailParam(event.PreviousNotLatest, "previous_response_id",
		"previous_response_id must name the newest response of its conversation; to branch, send the transcript as input without it")
}

// restful reports whether the actor can be read back from the store as it is.
func (s *session) restful() bool {
	return s.subs == 0 && s.run == nil && s.flight == nil && len(s.next) == 0 && s.state.AtRest() && len(s.removals) == 0
}

// rest arms the passivation clock when there is nothing to do.
func (s *session) rest(c actor.Context) {
	if s.restful() {
		s.idle.arm(c, s.host.cfg.limits.PassivateAfter, func(gen int) any { return &idleUp{gen} })
	}
}

// refuseWaiting answers what came while loading.
func (s *session) refuseWaiting(err error) {
	for _, m := range s.waiting {
		refuse(m, err)
	}
	s.waiting = nil
}

// refuse answers a message that wants an answer; it reports whether m was one.
func refuse(m any, err error) bool {
	switch m := m.(type) {
	case *open:
		m.reply <- answer[*Posted]{err: err}
	case *post:
		m.reply <- answer[*Posted]{err: err}
	case *update:
		m.reply <- answer[*fold.Session]{err: err}
	case *cancelTurn:
		m.reply <- answer[*fold.Turn]{err: err}
	case *showTurn:
		m.reply <- answer[*fold.Turn]{err: err}
	case *forgetTurn:
		m.reply <- answer[struct{}]{err: err}
	case *forgetLoaded:
		m.reply <- answer[struct{}]{err: err}
	case *remove:
		m.reply <- answer[struct{}]{err: err}
	case *subscribe:
		m.reply <- answer[*Subscription]{err: err}
	default:
		return false
	}
	return true
}

// timer sends its actor a message and ignores its own stale firings.
type timer struct {
	t   *time.Timer
	gen int
}

func (t *timer) arm(c actor.Context, d time.Duration, msg func(gen int) any) {
	t.stop()
	m, self, root := msg(t.gen), c.Self(), c.ActorSystem().Root
	t.t = time.AfterFunc(d, func() { root.Send(self, m) })
}

func (t *timer) stop() {
	t.gen++
	if t.t != nil {
		t.t.Stop()
		t.t = nil
	}
}

func (t *timer) is(gen int) bool { return t.t != nil && t.gen == gen }
