package actors

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a session about new work.
type (
	// open creates the session. Its actor is new and empty.
	open struct {
		settings *spec.Session
		input    *spec.NewInput
		items    []*event.Item // posted into it before
		key      *store.Key
		reply    chan answer[*Posted]
	}
	post struct {
		owner   string
		actions []spec.Action
		// joined are the settings with the agent that the first input brings to a
		// session that has none.
		joined *spec.Session
		busy   busy
		key    *store.Key
		reply  chan answer[*Posted]
	}
)

func (s *session) create(c actor.Context, m *open) {
	raw, err := json.Marshal(m.settings)
	if err != nil {
		m.reply <- answer[*Posted]{err: event.Fail(event.InvalidRequest, "the session's settings cannot be stored: "+err.Error())}
		s.behavior.Become(s.missing)
		c.Send(s.supervisor, &restful{s.id})
		return
	}
	g := s.group(m.key)
	g.create = &store.NewSession{Owner: m.settings.Owner, Created: m.settings.Created}
	g.spec, g.body = raw, true
	g.durable = true
	posted := &Posted{}
	s.add(g, event.Event{Kind: event.SessionCreated, Body: &event.Settings{JSON: raw}})
	if len(m.items) > 0 {
		s.note(g, m.items, posted)
	}
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
	s.reckon(c)
	if len(m.actions) > 0 && m.actions[0].Answer != nil {
		s.answerTurn(c, m)
		return
	}
	if err := s.postable(m); err != nil {
		m.reply <- answer[*Posted]{err: err}
		return
	}
	inputs := inputsOf(m.actions)
	posted := &Posted{Before: s.state.Session().Head}
	var turns, steers, cancels []event.ID
	var g *group
	if inputs > 0 || m.key != nil {
		g = s.group(m.key)
		g.durable, g.body = true, inputs > 0 || g.body
	}
	for _, a := range m.actions {
		switch {
		case a.Input != nil:
			s.join(g, m.joined)
			if part, _ := s.steers(a.Input, &m.busy); part { // postable has heard what it refuses
				steers = append(steers, s.steer(g, a.Input, posted))
				continue
			}
			turns = append(turns, s.accept(g, a.Input, posted))
		case a.Cancel:
			if t, ok := s.cancelTarget(); ok {
				cancels = append(cancels, t)
			} else if len(turns) > 0 {
				cancels = append(cancels, turns[0])
			}
		}
	}
	posted.Session = s.state.Session()
	started := false
	done := func(c actor.Context, err error) {
		if err != nil {
			m.reply <- answer[*Posted]{err: err}
			return
		}
		m.reply <- answer[*Posted]{value: posted}
		if started {
			return
		}
		for _, t := range turns {
			s.enqueue(c, t)
		}
		for _, id := range steers {
			s.hand(c, id)
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
	if started = len(turns) == 1 && len(m.actions) == 1 && s.prompt(c, g, turns[0]); !started || s.hasty.IsZero() {
		s.flush(c)
	}
}

func inputsOf(actions []spec.Action) (n int) {
	for _, a := range actions {
		if a.Input != nil {
			n++
		}
	}
	return n
}

// postable refuses, as a whole, actions of which one cannot be done.
func (s *session) postable(m *post) error {
	if err := s.check(m.owner); err != nil {
		return err
	}
	first := true
	for _, a := range m.actions {
		if a.Input == nil {
			continue
		}
		if with, has := a.Input.Agent, s.state.Settings(); with != nil && has.Settled() {
			if _, err := has.Agent.Continue(with); err != nil {
				return err
			}
		}
		if !first && !a.Input.After.IsZero() {
			return notLatest() // the one before it will be
		}
		if err := s.latest(a.Input.After); err != nil {
			return err
		}
		if _, err := s.steers(a.Input, &m.busy); err != nil {
			return err
		}
		first = false
	}
	if inputsOf(m.actions) > 0 {
		if b := s.reached(nil); b != nil {
			return budget.Refused(b)
		}
	}
	if n := inputsOf(m.actions); n > 0 && s.fifo.Full(n+s.staged+s.steering()) {
		f := event.Fail(event.QueueFull, "this session's queue is full; wait for a turn to end, or raise limits.max_queue")
		f.RetryAfter = s.nextPlace()
		return f
	}
	return nil
}

// latest refuses an input that does not continue the newest turn.
func (s *session) latest(after event.ID) error {
	ses := s.state.Session()
	if after.IsZero() || after == ses.Latest || ses.Failing && after == ses.Completed {
		return nil
	}
	return notLatest()
}

func notLatest() error {
	return event.FailParam(event.PreviousNotLatest, "previous_response_id",
		"previous_response_id must name the newest response of its conversation; to branch, send the transcript as input without it")
}

// accept folds the acceptance of in into g and returns the turn's id.
func (s *session) accept(g *group, in *spec.NewInput, posted *Posted) event.ID {
	turn := event.NewTurnID()
	ses := s.state.Session()
	body := s.inputOf(turn, in)
	body.WasIdle = ses.Open == 0
	body.Waiting = ses.Open > 0 || s.host.stats.full(s.host.cfg.limits.MaxConcurrentTurns)
	v := s.add(g, event.Event{Kind: event.InputAccepted, Turn: turn, Body: body})
	posted.Turns = append(posted.Turns, v.Turn)
	s.staged++
	if in.Forget {
		s.claim(posted.Before)
	}
	s.record(g, v.Turn, store.TurnOpen)
	return turn
}

// inputOf is what is stored of in, as the input of a turn.
func (s *session) inputOf(turn event.ID, in *spec.NewInput) *event.Input {
	body := &event.Input{
		Number: s.host.number.Add(1), Items: make([]*event.Item, len(in.Items)), Prompt: in.Prompt(),
		Wire: in.Wire, Echo: in.Echo, Background: in.Background, Forget: in.Forget,
	}
	body.Before, _ = spec.Newest(in.Before)
	for i, it := range in.Items {
		own := *it
		own.ID, own.Status, own.User, own.Type = event.ItemID(turn, uint32(i)), event.Done, true, event.Message
		body.Items[i] = &own
	}
	if o := s.overrides(in); o != nil {
		body.Overrides, _ = json.Marshal(o)
	}
	return body
}

// join gives the session the agent of its first input, if it has none.
func (s *session) join(g *group, joined *spec.Session) {
	now := s.state.Settings()
	if joined == nil || now.Settled() {
		return
	}
	next := *now
	next.Agent, next.Environment = joined.Agent, joined.Environment
	raw, err := json.Marshal(&next)
	if err != nil {
		panic(err) // the host has encoded these settings already
	}
	s.add(g, event.Event{Kind: event.SessionUpdated, Body: &event.Settings{JSON: raw}})
	g.spec = raw
}

// overrides are the input's own, and the model of the agent it wished for where
// another input was first to bring one.
func (s *session) overrides(in *spec.NewInput) *spec.Overrides {
	if in.Agent == nil {
		return in.Overrides
	}
	model, err := s.state.Settings().Agent.Continue(in.Agent)
	if err != nil || model == nil || in.Overrides != nil && in.Overrides.Model != nil {
		return in.Overrides
	}
	o := spec.Overrides{}
	if in.Overrides != nil {
		o = *in.Overrides
	}
	o.Model = model
	return &o
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
