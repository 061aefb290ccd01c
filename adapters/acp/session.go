package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/argv"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// opening is what a session is opened with.
type opening struct {
	Session jsonl.Str `json:"sessionId"`
	Modes   struct {
		Current jsonl.Str `json:"currentModeId"`
		List    []struct {
			ID jsonl.Str `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current jsonl.Str `json:"currentModelId"`
		List    []struct {
			ID   jsonl.Str `json:"modelId"`
			Name jsonl.Str `json:"name"`
		} `json:"availableModels"`
	} `json:"models"`
	Options []option `json:"configOptions"`
}

// option is a choice that a session has.
type option struct {
	ID       jsonl.Str `json:"id"`
	Category jsonl.Str `json:"category"`
	Current  jsonl.Str `json:"currentValue"`
	Values   []struct {
		Value jsonl.Str `json:"value"`
	} `json:"options"`
}

func (o *opening) option(category string) *option {
	for i := range o.Options {
		if string(o.Options[i].Category) == category {
			return &o.Options[i]
		}
	}
	return nil
}

// loaded: the turn's session is open, or cannot be had.
func (p *protocol) loaded(s *served, m *envelope, failed bool, out *agent.Talk) {
	if failed {
		c := complaint(m.Error)
		fallback := event.CLICrashed
		if s.r.Native != "" {
			fallback = event.ResumeLost
		}
		p.fail(s, c.failure(fallback), out)
		p.over(s, out)
		return
	}
	var o opening
	if !jsonl.Decode(m.Result, &o) {
		o = opening{}
	}
	id := s.r.Native
	if id == "" {
		if id = string(o.Session); id == "" {
			out.Break(p.agent.Name + " opened a session without an id")
			return
		}
	}
	p.opened(s, id, &o, out)
}

// opened prepares the session.
func (p *protocol) opened(s *served, id string, o *opening, out *agent.Talk) {
	s.session = id
	p.sessions[id] = s
	if !p.closes {
		p.begun[id] = true
	}
	if o == nil {
		o = &opening{}
	}
	if f := p.prepare(s, o); f != nil {
		p.fail(s, f, out)
	}
	p.next(s, out)
}

// prepare lists what has to be set before the prompt.
func (p *protocol) prepare(s *served, o *opening) *event.Failure {
	params := func(key, value string) map[string]any {
		return map[string]any{"sessionId": s.session, key: value}
	}
	if want := s.mode.ID; want != "" && want != string(o.Modes.Current) {
		var offered []string
		for _, m := range o.Modes.List {
			offered = append(offered, string(m.ID))
		}
		if c := o.option("mode"); c != nil && len(offered) == 0 {
			offered = c.values()
		}
		if len(offered) > 0 && !slices.Contains(offered, want) {
			return event.FailParam(event.InvalidRequest, "permissions", fmt.Sprintf("%s keeps %s by its mode %q, which this version does not have; it has %s", p.agent.Name, s.r.Permissions, want, strings.Join(offered, ", ")))
		}
		s.steps = append(s.steps, step{"mode", "session/set_mode", params("modeId", want)})
	}
	if s.r.Model != "" && !p.agent.OwnModel {
		st, f := p.model(s, o)
		if f != nil {
			return f
		}
		s.steps = append(s.steps, st...)
	}
	if c := o.option("thought_level"); c != nil && s.r.Reasoning.Effort != "" && slices.Contains(c.values(), s.r.Reasoning.Effort) {
		s.steps = append(s.steps, step{"reasoning.effort", "session/set_config_option", map[string]any{"sessionId": s.session, "configId": string(c.ID), "value": s.r.Reasoning.Effort}})
	}
	return nil
}

func (o *option) values() (out []string) {
	for _, v := range o.Values {
		out = append(out, string(v.Value))
	}
	return out
}

// model finds how the session is told of the model that was asked for.
func (p *protocol) model(s *served, o *opening) ([]step, *event.Failure) {
	want := s.r.Model
	c := o.option("model")
	if c != nil && string(c.Current) == want || string(o.Models.Current) == want {
		return nil, nil
	}
	if c != nil && slices.Contains(c.values(), want) {
		return []step{{"model", "session/set_config_option", map[string]any{"sessionId": s.session, "configId": string(c.ID), "value": want}}}, nil
	}
	var offered []string
	for _, m := range o.Models.List {
		if string(m.ID) == want || string(m.Name) == want {
			return []step{{"model", "session/set_model", map[string]any{"sessionId": s.session, "modelId": string(m.ID)}}}, nil
		}
		offered = append(offered, string(m.ID))
	}
	if c != nil {
		offered = append(offered, c.values()...)
	}
	if len(offered) == 0 {
		return nil, event.FailParam(event.ModelNotFound, "model", fmt.Sprintf("%s lets nobody choose a model; leave %q out", p.agent.Name, want))
	}
	const most = 20
	if len(offered) > most {
		offered = append(offered[:most], "...")
	}
	return nil, event.FailParam(event.ModelNotFound, "model", fmt.Sprintf("%s has no model %q; it has %s", p.agent.Name, want, strings.Join(offered, ", ")))
}

// tell tells the session's id, once there is something in it: the CLI keeps no
// conversation in which nothing was said.
func (s *served) tell(b *agent.Batch) {
	if s.running && !s.told {
		s.told = true
		b.Add(agent.Fact{Kind: agent.FactSession, Text: s.session})
	}
}

// next takes the next step to the prompt, or leaves a turn that is not to have one.
func (p *protocol) next(s *served, out *agent.Talk) {
	switch {
	case s.ended:
		p.leave(s, out)
	case s.cancelled:
		s.verdict(&agent.Verdict{Final: true, Outcome: event.Cancelled}, out)
		p.leave(s, out)
	case len(s.steps) > 0:
		st := s.steps[0]
		s.steps = s.steps[1:]
		p.request(call{setting, s, st.name}, st.method, st.params, out)
	default:
		s.running = true
		p.request(call{what: prompting, turn: s}, "session/prompt", map[string]any{
			"sessionId": s.session, "prompt": []any{map[string]any{"type": "text", "text": s.prompt()}},
		}, out)
	}
}

// set: a step was taken, or refused. A turn without what it asked for is none.
func (p *protocol) set(c call, m *envelope, failed bool, out *agent.Talk) {
	if failed {
		what := complaint(m.Error)
		f := what.failure(event.InvalidRequest)
		f.Param, f.Message = c.name, fmt.Sprintf("%s refused the %s: %s", p.agent.Name, c.name, f.Message)
		if c.name == "mode" {
			f.Param = "permissions"
		}
		p.fail(c.turn, f, out)
	}
	p.next(c.turn, out)
}

// pairs are names and values as the protocol has them, sorted.
func pairs(m map[string]string) []any {
	list := []any{}
	for _, name := range sorted(m) {
		list = append(list, map[string]any{"name": name, "value": m[name]})
	}
	return list
}

func sorted[V any](m map[string]V) []string { return argv.Sorted(m) }

// compact is JSON in one line; "{}" for what is none.
func compact(raw json.RawMessage) string { return jsonl.Args(raw) }
