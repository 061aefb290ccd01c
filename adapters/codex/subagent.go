package codex

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// spawn is a subagent at work: the call that set it to work.
type spawn struct {
	key  string
	item event.Item
}

// collab takes a call about subagents.
func (p *Parser) collab(it *item, closes bool, out *agent.Batch) {
	p.states(it.States, out)
	if string(it.Tool) != "spawn_agent" {
		p.call(it, p.about(it), closes, out)
		return
	}
	e := event.Item{Type: event.Subagent, Status: event.Done, Server: p.name, Prompt: string(it.Prompt), Arguments: arguments(struct {
		Prompt string `json:"prompt,omitempty"`
	}{string(it.Prompt)})}
	switch {
	case string(it.Status) == "failed":
		e.Status, e.Error = event.ItemFailed, "the subagent could not be started"
	case closes && len(it.Threads) > 0:
		p.call(it, &e, false, out) // it works on
		if p.spawned == nil {
			p.spawned = map[string]*spawn{}
		}
		p.spawned[string(it.Threads[0])] = &spawn{key: p.key(it), item: e}
		return
	}
	p.call(it, &e, closes, out)
}

// about is the item of a call that concerns subagents already at work.
func (p *Parser) about(it *item) *event.Item {
	var threads []string
	for _, id := range it.Threads {
		threads = append(threads, string(id))
	}
	e := &event.Item{Type: event.ToolCall, Status: event.Done, Server: p.name, Tool: string(it.Tool), Arguments: arguments(struct {
		Agents []string `json:"agents,omitempty"`
		Prompt string   `json:"prompt,omitempty"`
	}{threads, string(it.Prompt)})}
	if string(it.Status) == "failed" {
		e.Status = event.ItemFailed
	}
	return e
}

func arguments(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}" // only strings come here
	}
	return string(b)
}

// states takes what a call says of subagents; one that is over closes the call that
// set it to work, with its last message as what it reported.
func (p *Parser) states(raw json.RawMessage, out *agent.Batch) {
	if len(p.spawned) == 0 || jsonl.Null(raw) {
		return
	}
	var states map[string]json.RawMessage
	if !jsonl.Decode(raw, &states) {
		return
	}
	threads := make([]string, 0, len(states))
	for id := range states {
		threads = append(threads, id)
	}
	slices.Sort(threads)
	for _, id := range threads {
		s := p.spawned[id]
		var state struct {
			Status  jsonl.Str `json:"status"`
			Message jsonl.Str `json:"message"`
		}
		if s == nil || !jsonl.Decode(states[id], &state) {
			continue
		}
		switch state.Status {
		case "", "pending_init", "running":
			continue
		case "completed":
			s.item.Output = string(state.Message)
		default:
			s.item.Status = event.ItemFailed
			s.item.Error = strings.TrimSpace(string(state.Status) + " " + string(state.Message))
		}
		delete(p.spawned, id)
		delete(p.open, s.key)
		if state.Message != "" {
			out.Add(agent.Fact{Kind: agent.FactDone, Key: s.key + "/report", Parent: s.key, Item: &event.Item{Type: event.Message, Text: string(state.Message)}})
		}
		out.Add(agent.Fact{Kind: agent.FactDone, Key: s.key, Item: &s.item})
	}
}
