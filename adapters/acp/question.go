package acp

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// question is a request of the CLI's that waits for a person.
type question struct {
	id        json.RawMessage // of the JSON-RPC request
	yes, deny string          // options; "" for none
	about     *tool
}

type asking struct {
	Session jsonl.Str `json:"sessionId"`
	Call    struct {
		toolCall
		Content []content `json:"content"`
		Meta    meta      `json:"_meta"`
	} `json:"toolCall"`
	Options []struct {
		ID   jsonl.Str `json:"optionId"`
		Kind jsonl.Str `json:"kind"`
	} `json:"options"`
}

// asks takes a question for permission. It waits for the answer, so it gets one.
func (p *protocol) asks(m *envelope, size int, out *agent.Talk) {
	var q asking
	ok := !jsonl.Null(m.Params) && jsonl.Decode(m.Params, &q)
	s := p.sessions[string(q.Session)]
	one := question{id: append(json.RawMessage(nil), m.ID...), yes: q.pick("allow_once"), deny: q.pick("reject_once", "reject_always")}
	if !ok || s == nil || !s.running || s.ended || s.cancelled {
		p.answer(question{id: one.id}, false, out)
		return
	}
	said := out.Turn(s.id)
	said.Bytes += int64(size)
	one.about = s.asked(p.agent, &q, said.Batch)
	switch s.judge(p.agent, one.about) {
	case Allow:
		p.answer(one, true, out)
		one.about.begin(s, p.agent, "", said.Batch)
	case AskCaller:
		key := string(one.id)
		s.questions[key] = one
		said.Questions = append(said.Questions, agent.Question{ID: key, Prompt: s.show(p.agent, one.about, string(q.Call.Title))})
	default:
		s.denied = true
		p.answer(one, false, out)
	}
}

// asked is the call that a question is about. Some CLIs tell its input here only.
func (s *served) asked(a *Agent, q *asking, b *agent.Batch) *tool {
	t := s.call(string(q.Call.ID), b)
	if t == nil || t.done {
		t = &tool{}
	}
	t.learn(s, a, &update{Meta: q.Call.Meta, toolCall: q.Call.toolCall})
	for _, c := range q.Call.Content {
		if path := string(c.Path); c.Type == "diff" && path != "" && !slices.Contains(t.paths, path) {
			t.paths = append(t.paths, path)
		}
	}
	return t
}

// pick finds the option of one of these kinds. One that allows for ever is never taken:
// the CLI would keep it for turns with fewer permissions.
func (q *asking) pick(kinds ...string) string {
	for _, k := range kinds {
		for _, o := range q.Options {
			kind := string(o.Kind)
			if kind == "" {
				kind = string(o.ID)
			}
			if strings.ReplaceAll(kind, "-", "_") == k {
				return string(o.ID)
			}
		}
	}
	return ""
}

// judge says what a question about a call gets.
func (s *served) judge(a *Agent, t *tool) Answer {
	answer := s.mode.Answer
	if h := s.r.Host; h != nil && t.server == h.Name {
		return Allow
	}
	if server, ok := s.r.MCP[t.server]; ok {
		switch {
		case server.Allowed != nil && !slices.Contains(server.Allowed, t.name):
			return Deny
		case answer == AskCaller:
			return AskCaller
		}
		return Allow
	}
	switch {
	case t.kind == "switch_mode": // to do more than the turn may
		return Deny
	case answer == Allow && s.r.Permissions == spec.WorkspaceWrite && t.files():
		for _, path := range t.paths {
			if !within(s.r.Workspace, path) {
				return Deny
			}
		}
	}
	return answer
}

// within reports whether a path lies in a directory, by its words.
func within(dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// show is the question as a caller sees it.
func (s *served) show(a *Agent, t *tool, title string) agent.Prompt {
	t.describe(s, a)
	prompt := agent.Prompt{Tool: t.name, Arguments: compact(t.input), Message: title}
	encode := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			return "{}" // only strings come here
		}
		return string(b)
	}
	switch {
	case t.server != a.Name:
		prompt.Server = t.server
	case t.item.Type == event.Command:
		prompt.Tool = "command_execution"
		prompt.Arguments = encode(struct {
			Command string `json:"command"`
			Cwd     string `json:"cwd,omitempty"`
		}{t.item.Command, t.item.Cwd})
	case t.files():
		prompt.Tool = "file_change"
		prompt.Arguments = encode(struct {
			Paths []string `json:"paths"`
		}{append([]string{}, t.paths...)})
	}
	return prompt
}

// answer replies to a question; without an option that says it, that it was withdrawn.
func (p *protocol) answer(q question, approved bool, out *agent.Talk) {
	option := q.deny
	if approved {
		option = q.yes
	}
	outcome := map[string]any{"outcome": "cancelled"}
	if option != "" {
		outcome = map[string]any{"outcome": "selected", "optionId": option}
	}
	p.reply(q.id, map[string]any{"outcome": outcome}, out)
}

// withdraw answers what nobody will answer any more.
func (p *protocol) withdraw(s *served, out *agent.Talk) {
	for _, key := range sorted(s.questions) {
		p.answer(question{id: s.questions[key].id}, false, out)
	}
	clear(s.questions)
}

// Permit answers a question. The protocol has no place for a reason.
func (p *protocol) Permit(turn event.ID, key string, approved bool, _ string, out *agent.Talk) {
	s := p.turns[turn]
	if s == nil {
		return
	}
	q, ok := s.questions[key]
	if !ok {
		return
	}
	delete(s.questions, key)
	s.denied = s.denied || !approved
	p.answer(q, approved, out)
	if approved {
		q.about.begin(s, p.agent, "", out.Turn(turn).Batch)
	}
}
