package actors

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/turn"
	"github.com/asynkron/protoactor-go/actor"
)

// A message that is to become part of the running turn is stored as such before it is
// acknowledged (InputSteered). From there on the session keeps it until the turn's CLI
// has it, or until it is an input of its own: when the CLI refuses it, and when the turn
// ends, however it does, in the same commit. So a crash between any two steps loses
// and doubles nothing: a session that is read from the store ends its turn.

// Messages about what is said to a running turn.
type (
	// steer hands a stored message to the turn's actor.
	steer struct{ in turn.Steer }
	// unsteered says to the session that one does not become part of the turn.
	unsteered struct{ turn, input event.ID }
	// steering hands one to the turn's runner, steered says what the CLI made of it.
	steering struct {
		turn event.ID
		pid  *actor.PID // of the turn's actor
		s    *agent.Steering
	}
	steered struct{ what agent.Steered }
)

// busy is what becomes of inputs that come while a turn runs.
type busy struct {
	policy spec.OnBusy // of those that do not say
	able   bool        // the agent's CLI can be steered
	cli    string
}

// busy is what the session, its agent and the configuration say. It may run the CLI
// to have its version, so it is not for a Receive.
func (h *Host) busy(s *spec.Session) (b busy, err error) {
	r, err := h.runtime(s.Agent.Adapter)
	if err != nil {
		return b, err
	}
	b = busy{policy: r.OnBusy, able: h.capabilities(r).Steer, cli: r.Adapter.Name()}
	for _, said := range []map[string]string{s.Agent.Metadata, s.Metadata} {
		if p := spec.OnBusy(said[spec.OnBusyKey]); p != "" {
			b.policy = p
		}
	}
	return b, nil
}

// of is what one input wishes. A response is a turn of its own, so what is said of
// the agent's other messages does not hold for it.
func (b *busy) of(in *spec.NewInput) spec.OnBusy {
	switch {
	case in.OnBusy != "":
		return in.OnBusy
	case b.policy == "" || b.policy == spec.Steer && in.Wire == "responses":
		return spec.Queue
	}
	return b.policy
}

// steers reports whether the input is to become part of the running turn, and refuses
// it when it cannot or does not want to wait.
func (s *session) steers(in *spec.NewInput, b *busy) (bool, error) {
	refuse := func(words string) (bool, error) {
		return false, event.FailParam(event.SteerRefused, "metadata."+spec.OnBusyKey, words)
	}
	switch b.of(in) {
	case spec.Reject:
		if s.state.Session().Open > 0 {
			return refuse("a turn of this session is running or waits, and input meanwhile is to be rejected (agenthost.on_busy is reject); send it again when the session is idle, or with agenthost.on_busy queue")
		}
	case spec.Steer:
		switch {
		case !s.steerable(): // a turn of its own
		case in.Wire == "responses":
			return refuse("a response is a turn of its own and cannot become part of the one that runs; send the message to POST /v1/agents/sessions/{id}/events, or leave agenthost.on_busy out to have the response wait")
		case !b.able:
			return refuse(fmt.Sprintf("the running turn cannot be steered: %s as it is run here takes no further message into a turn; use agenthost.on_busy queue, or an agent whose runtime says capabilities.steer", b.cli))
		case s.run.deaf:
			return refuse("the running turn cannot be steered: its CLI refused a message before; use agenthost.on_busy queue")
		default:
			return true, nil
		}
	}
	return false, nil
}

// steerable reports whether a turn runs, and its start is on the way to the store: one that
// is queued again after a crash must have no messages.
func (s *session) steerable() bool {
	if s.run == nil {
		return false
	}
	t, open := s.state.Turn(s.run.turn)
	return open && t.Status != fold.Queued
}

// steer folds into g that in is on its way into the running turn.
func (s *session) steer(g *group, in *spec.NewInput, posted *Posted) event.ID {
	id := event.NewTurnID()
	body := s.inputOf(id, in)
	body.ID = id
	s.add(g, event.Event{Kind: event.InputSteered, Turn: s.run.turn, Body: body})
	if t, ok := s.state.Turn(s.run.turn); ok {
		posted.Turns = append(posted.Turns, t)
	}
	return id
}

// steering counts the messages on their way into the running turn.
func (s *session) steering() int {
	if s.run == nil {
		return 0
	}
	return len(s.state.Steering(s.run.turn))
}

// hand gives a stored message to the turn that it is for. One whose turn has ended
// meanwhile is a turn of its own by now.
func (s *session) hand(c actor.Context, id event.ID) {
	if s.run == nil {
		return
	}
	for _, in := range s.state.Steering(s.run.turn) {
		if in.ID == id {
			c.Send(s.run.pid, &steer{turn.Steer{Input: id, Items: in.Items}})
		}
	}
}

// unsteered makes a turn of a message that the running turn's CLI refused.
func (s *session) unsteered(c actor.Context, m *unsteered) {
	if s.run == nil || s.run.turn != m.turn {
		return
	}
	s.run.deaf = true
	for _, in := range s.state.Steering(m.turn) {
		if in.ID == m.input {
			g := s.group(nil)
			s.release(g, in)
			s.flush(c)
		}
	}
	s.requeue(c)
}

// release makes a turn of a message that is not taken.
func (s *session) release(g *group, in *event.Input) {
	own := *in
	own.Waiting = true
	v := s.add(g, event.Event{Kind: event.InputAccepted, Turn: in.ID, Body: &own})
	s.record(g, v.Turn, store.TurnOpen)
	g.durable, g.body = true, true
	s.released = append(s.released, in.ID)
}

// requeue puts the turns that were made of messages into the fifo. They were
// acknowledged long ago, so this need not wait for the commit: nothing runs before it
// is stored that it does.
func (s *session) requeue(c actor.Context) {
	for _, id := range s.released {
		t, ok := s.state.Turn(id)
		if !ok {
			continue
		}
		s.effects(c, s.fifo.Accept(id, t.Input.Number))
		if len(s.removals) > 0 {
			s.cancel(c, id)
		}
	}
	if s.released != nil {
		s.released = nil
		s.hurry(c)
	}
}

// hand gives a message to the turn's CLI, from a goroutine: its pictures are written
// to the disk.
func (t *turnActor) hand(c actor.Context, input event.ID) {
	m := t.steers[input]
	delete(t.steers, input)
	self, host, process, job, id := c.Self(), t.host, t.process, t.job, t.turn.ID
	if job.berth == nil || process == nil {
		c.Send(self, &steered{agent.Steered{Input: input, Why: "a process of the turn's own takes no further message"}})
		return
	}
	if job.dir == "" {
		job.dir = job.request.Dir // there may be pictures in it from now on
	}
	job.writing.Add(1)
	host.work.Go(func() {
		defer job.writing.Done()
		s, err := host.steeringOf(job, m)
		if err != nil {
			host.root.Send(self, &steered{agent.Steered{Input: input, Why: err.Error()}})
			return
		}
		host.root.Send(process, &steering{turn: id, pid: self, s: s})
	})
}

// steeringOf makes a message for a runner, with its pictures in the turn's directory.
func (h *Host) steeringOf(j *job, m turn.Steer) (*agent.Steering, error) {
	r, err := h.runtime(j.adapter)
	if err != nil {
		return nil, err
	}
	req := *j.request
	req.Prompt, req.Images = spec.Prompt("", m.Items), nil
	files, err := h.pictures(r, m.Items)
	if err != nil {
		return nil, err
	}
	if len(files) > 0 {
		for i := range files { // the turn has pictures of its own
			files[i].Name = m.Input.Hex() + "-" + files[i].Name
		}
		if _, err := writeFiles(r, &req, &agent.Invocation{}, files); err != nil {
			return nil, err
		}
		req.Images = pathsIn(req.Dir, files)
	}
	return &agent.Steering{Input: m.Input, Request: &req}, nil
}

// steer gives a message to the CLI.
func (r *runner) steer(c actor.Context, m *steering) {
	g := r.guests[m.turn]
	s, can := r.proto.(agent.Steerer)
	if g == nil || g.ended || g.told || r.state != serving || !can {
		c.Send(m.pid, &steered{agent.Steered{Input: m.s.Input, Why: "the turn is not served any more"}})
		return
	}
	r.speak(c, func() { s.Steer(m.turn, m.s, &r.talk) })
}
