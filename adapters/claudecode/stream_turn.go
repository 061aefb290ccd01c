package claudecode

import (
	"slices"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// mark is in the environment of every tool's process, and in no tool server's.
const mark = "CLAUDE_CODE_CHILD_SESSION=1"

// served is a turn.
type served struct {
	id     event.ID
	r      *agent.Request
	parser *Parser
	prompt string // the uuid of the message that the CLI answers

	told      bool                // the prompt was written
	done      bool                // the CLI has answered it, or gave it up
	cancelled bool                // an interrupt is wanted
	verdict   *agent.Verdict      // the newest
	stopped   []string            // background tasks that were told to end
	questions map[string]question // by their request
	steered   map[string]event.ID // messages of which the CLI has not told yet, by uuid
}

// Ask begins a turn. The CLI is given the turn's own address of the caller's functions
// first.
func (p *protocol) Ask(id event.ID, r *agent.Request, out *agent.Talk) {
	t := &served{id: id, r: r, parser: NewParser(r, Name), prompt: uuid(id), questions: map[string]question{}, steered: map[string]event.ID{}}
	p.turn = t
	switch {
	case p.lost != nil:
		f := *p.lost
		p.over(&agent.Verdict{Outcome: event.Failed, Failure: &f}, out)
	case r.Host != nil || p.hosted:
		list := map[string]server{}
		if h := r.Host; h != nil {
			list[h.Name] = hostServer(h, h.Token)
		}
		p.hosted = r.Host != nil
		p.request(call{what: equip, turn: t}, "mcp_set_servers", map[string]any{"servers": list}, out)
	default:
		p.say(t, out)
	}
}

// equipped: the functions are there.
func (p *protocol) equipped(t *served, failed bool, why string, out *agent.Talk) {
	switch {
	case t != p.turn:
	case t.cancelled:
		p.over(nil, out)
	case failed:
		p.over(&agent.Verdict{Outcome: event.Failed, Failure: event.Fail(event.CLICrashed, "Claude Code did not take the caller's functions: "+why)}, out)
	default:
		p.say(t, out)
	}
}

// say gives the CLI the turn's prompt.
func (p *protocol) say(t *served, out *agent.Talk) {
	t.told, p.running = true, true
	message(t.r.Prompt, t.prompt, out)
}

func message(text, uuid string, out *agent.Talk) {
	write(map[string]any{"type": "user", "uuid": uuid, "message": map[string]any{
		"role": "user", "content": []any{map[string]any{"type": "text", "text": text}},
	}}, out)
}

// hears takes a line of the turn. One of none is dropped.
func (p *protocol) hears(raw []byte, out *agent.Talk) {
	t := p.turn
	if t == nil {
		return
	}
	said := out.Turn(t.id)
	said.Bytes += int64(len(raw))
	at := len(said.Batch.Facts)
	t.parser.Feed(raw, said.Batch)
	for _, f := range said.Batch.Facts[at:] {
		if f.Kind == agent.FactVerdict {
			t.verdict, t.done = f.Verdict, true
		}
	}
	if len(t.steered) > 0 { // the CLI goes on with them; the verdict is not the turn's
		kept := slices.DeleteFunc(said.Batch.Facts[at:], func(f agent.Fact) bool { return f.Kind == agent.FactVerdict })
		said.Batch.Facts = said.Batch.Facts[:at+len(kept)]
	}
	if len(t.parser.tools) > 0 {
		said.Tools, said.Mark = true, mark
	}
}

// became tells what the CLI did with a message: queued, started, then completed or
// cancelled.
func (p *protocol) became(uuid, state string, out *agent.Talk) {
	t := p.turn
	if t == nil || state == "queued" {
		return
	}
	if uuid == t.prompt {
		t.done = t.done || state != "started"
		return
	}
	id, ok := t.steered[uuid]
	if !ok {
		return
	}
	delete(t.steered, uuid)
	s := agent.Steered{Input: id, Taken: state == "started" || state == "completed"}
	if s.Taken && t.done { // it came too late for the answer; there will be another
		t.prompt, t.done = uuid, state != "started"
	}
	if !s.Taken {
		s.Why = "Claude Code gave the message up (" + state + ")"
	}
	said := out.Turn(t.id)
	said.Steered = append(said.Steered, s)
}

// Steer adds a message to a turn that runs. The CLI shows it to the model with the
// next tool's result; when the turn ends before, the CLI goes on with it as if it had
// been in time, and so does our turn.
func (p *protocol) Steer(turn event.ID, s *agent.Steering, out *agent.Talk) {
	t := p.turn
	why := ""
	switch {
	case t == nil || t.id != turn:
		why = "the turn is over"
	case t.done:
		why = "the turn is ending"
	case t.cancelled:
		why = "the turn is being stopped"
	case !t.told:
		why = "the turn has not begun"
	}
	if why != "" {
		said := out.Turn(turn)
		said.Steered = append(said.Steered, agent.Steered{Input: s.Input, Why: why})
		return
	}
	u := uuid(s.Input)
	if _, twice := t.steered[u]; twice || u == t.prompt {
		return
	}
	t.steered[u] = s.Input
	message(s.Request.Prompt, u, out)
}

// Interrupt ends a turn, with what waits to be added to it.
func (p *protocol) Interrupt(turn event.ID, out *agent.Talk) {
	t := p.turn
	if t == nil || t.id != turn {
		return
	}
	t.cancelled = true
	if t.told && !p.owes(interrupt) {
		p.request(call{what: interrupt, turn: t}, "interrupt", map[string]any{"cancel_queued": true}, out)
	}
}

// settle ends the turn when the CLI has done with it and all that was added to it,
// and runs nothing any more: what it leaves running would have it begin to work by
// itself later.
func (p *protocol) settle(out *agent.Talk) {
	t := p.turn
	if t == nil || !t.done || p.running || len(t.steered) > 0 || p.owes(interrupt, stopTask) {
		return
	}
	for _, id := range p.tasks {
		if !slices.Contains(t.stopped, id) {
			t.stopped = append(t.stopped, id)
			p.request(call{what: stopTask, turn: t, task: id}, "stop_task", map[string]any{"task_id": id}, out)
		}
	}
	if !p.owes(stopTask) {
		p.over(t.verdict, out)
	}
}

// over ends the turn with its verdict, nil when there is none.
func (p *protocol) over(v *agent.Verdict, out *agent.Talk) {
	t := p.turn
	p.turn = nil
	said := out.Turn(t.id)
	t.parser.flush(said.Batch)
	last := agent.Verdict{Outcome: event.Cancelled}
	if v != nil {
		last = *v // the turn may be reading the one that it was given
	}
	last.Final = true
	if t.cancelled && last.Outcome == event.Failed {
		last.Outcome, last.Failure = event.Cancelled, nil
	}
	if v != nil || t.cancelled {
		said.Batch.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &last})
	}
	said.Over = true
}
