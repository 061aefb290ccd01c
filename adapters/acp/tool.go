package acp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// toolCall is what the protocol tells of a call; an update has what is new only.
type toolCall struct {
	ID        jsonl.Str       `json:"toolCallId"`
	Title     jsonl.Str       `json:"title"`
	Tool      jsonl.Str       `json:"kind"`
	Status    jsonl.Str       `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Locations []struct {
		Path jsonl.Str `json:"path"`
	} `json:"locations"`
}

// tool is one call of the model.
type tool struct {
	id, kind, name, server string
	input                  json.RawMessage
	paths                  []string
	item                   event.Item
	told                   int // bytes of output
	open, done, mute       bool
}

// input are the fields of tools' inputs that items show.
type input struct {
	Command json.RawMessage `json:"command"`
	Cwd     jsonl.Str       `json:"cwd"`
	Query   jsonl.Str       `json:"query"`
}

// result are the fields of tools' results that items show.
type result struct {
	Output   *jsonl.Str `json:"output"`
	ExitCode *jsonl.Num `json:"exitCode"`
	Meta     struct {
		Exit   *jsonl.Num  `json:"exit"`
		Exists *jsonl.Flag `json:"exists"`
	} `json:"metadata"`
	Error jsonl.Str `json:"error"`
}

// content is one piece of what a call produced.
type content struct {
	Type    jsonl.Str       `json:"type"`
	Content json.RawMessage `json:"content"`
	Path    jsonl.Str       `json:"path"`
	Old     *jsonl.Str      `json:"oldText"`
}

// maxTools bounds how many calls one turn may have.
const maxTools = 100_000

// tool takes a call's beginning, progress or end.
func (s *served) tool(a *Agent, u *update, b *agent.Batch) {
	t := s.call(string(u.ID), b)
	if t == nil || t.done {
		return
	}
	t.learn(s, a, u)
	var pieces struct {
		List []content `json:"l"`
	}
	if !jsonl.Null(u.Content) {
		jsonl.Decode(append(append([]byte(`{"l":`), u.Content...), '}'), &pieces)
	}
	var out result
	if !jsonl.Null(u.Output) {
		jsonl.Decode(u.Output, &out)
	}
	switch u.Status {
	case "completed", "failed":
		t.end(s, a, u.Status == "failed", pieces.List, &out, b)
	default:
		t.begin(s, a, string(u.Status), b)
		if !a.Titled || u.Kind != "tool_call" { // its beginning is described there, by words
			t.progress(pieces.List, &out, b)
		}
	}
}

// call is the call of an id, a new one if need be; nil for none.
func (s *served) call(id string, b *agent.Batch) *tool {
	t := s.tools[id]
	if t != nil || id == "" || len(s.tools) >= maxTools {
		return t
	}
	t = &tool{id: id}
	s.tools[id] = t
	s.speech.Close(b) // what is said from here on is another message
	s.plan.Close(b)
	return t
}

// learn takes what an update says of the call.
func (t *tool) learn(s *served, a *Agent, u *update) {
	if u.Tool != "" {
		t.kind = string(u.Tool)
	}
	if t.name == "" {
		if t.name = string(u.Meta.Tool); t.name == "" {
			t.name = string(u.Title)
		}
		t.server, t.name = s.owner(a, t.name, string(u.Meta.Server))
		t.mute = s.r.Host != nil && t.server == s.r.Host.Name
	}
	if a.Titled && t.input == nil && jsonl.Null(u.Input) && t.kind == "execute" && t.server == a.Name && u.Title != "" {
		if in, err := json.Marshal(map[string]string{"command": string(u.Title)}); err == nil {
			t.input = in
		}
	}
	if in := strings.TrimSpace(string(u.Input)); !jsonl.Null(u.Input) && in != "{}" {
		t.input = append(json.RawMessage(nil), u.Input...)
	}
	for _, l := range u.Locations {
		if path := string(l.Path); path != "" && !slices.Contains(t.paths, path) {
			t.paths = append(t.paths, path)
		}
	}
	switch t.kind {
	case "read", "edit", "delete", "move", "search", "think", "fetch", "switch_mode":
	default:
		s.leaves = true
	}
}

// owner parts the name of an MCP server's tool; one of the CLI's own is the agent's.
// The separators differ, and a name may hold them, so the known ones come first.
func (s *served) owner(a *Agent, name, told string) (server, tool string) {
	if title, ok := strings.CutSuffix(name, " MCP Server)"); ok && a.Titled { // TOOL (SERVER MCP Server)
		if tool, server, ok := strings.Cut(title, " ("); ok {
			return server, tool
		}
	}
	bare, prefixed := strings.CutPrefix(name, "mcp_")
	bare = strings.TrimPrefix(bare, "_")
	names := sorted(s.r.MCP)
	if s.r.Host != nil {
		names = append(names, s.r.Host.Name)
	}
	best := ""
	for _, n := range names {
		if len(n) > len(best) && (n == told || strings.HasPrefix(bare, n+"_")) {
			best = n
		}
	}
	if rest, ok := strings.CutPrefix(bare, best); best != "" && ok {
		return best, strings.TrimPrefix(strings.TrimPrefix(rest, "_"), "_")
	}
	switch {
	case best != "":
		return best, name
	case prefixed && strings.Contains(bare, "__"):
		server, tool, _ = strings.Cut(bare, "__")
		return server, tool
	case name == "task" || name == "agent":
		name = "subagent"
	}
	return a.Name, name
}

// files reports whether the call changes files.
func (t *tool) files() bool { return t.kind == "edit" || t.kind == "delete" || t.kind == "move" }

// describe makes the item of the call.
func (t *tool) describe(s *served, a *Agent) {
	var in input
	if len(t.input) > 0 {
		jsonl.Decode(t.input, &in)
	}
	own := t.server == a.Name
	switch line := commandLine(in.Command); {
	case own && t.kind == "execute" && line != "":
		cwd := string(in.Cwd)
		if cwd == "" {
			cwd = s.r.Workspace
		}
		t.item = event.Item{Type: event.Command, Command: line, Cwd: cwd}
	case own && t.name == "web_search" && in.Query != "":
		t.item = event.Item{Type: event.WebSearch, Query: string(in.Query)}
	default:
		t.item = event.Item{Type: event.ToolCall, Server: t.server, Tool: t.name, Arguments: compact(t.input)}
	}
}

// commandLine is a command as it would be typed.
func commandLine(raw json.RawMessage) string {
	var v struct {
		Line jsonl.Str   `json:"c"`
		List []jsonl.Str `json:"l"`
	}
	if jsonl.Null(raw) {
		return ""
	}
	jsonl.Decode(append(append([]byte(`{"c":`), raw...), '}'), &v)
	if v.Line != "" {
		return string(v.Line)
	}
	if raw[0] != '[' || !jsonl.Decode(append(append([]byte(`{"l":`), raw...), '}'), &v) {
		return ""
	}
	words := make([]string, len(v.List))
	for i, w := range v.List {
		words[i] = string(w)
	}
	return strings.Join(words, " ")
}

// begin tells of a call once its input is known. A change of files is told at its end:
// only then it is known which and how.
func (t *tool) begin(s *served, a *Agent, status string, b *agent.Batch) {
	if t.open || t.done || t.mute || t.id == "" || t.files() || len(t.input) == 0 {
		return
	}
	t.describe(s, a)
	if t.kind == "execute" && t.server == a.Name && t.item.Type != event.Command && status == "pending" {
		return // its command is still to come
	}
	t.open = true
	start := t.item
	start.Status = event.InProgress
	b.Add(agent.Fact{Kind: agent.FactStart, Key: t.id, Item: &start})
}

// progress tells what a command has printed; each update has all of it so far.
func (t *tool) progress(list []content, r *result, b *agent.Batch) {
	if !t.open || t.item.Type != event.Command {
		return
	}
	if all := output(list, r); len(all) > t.told {
		b.Add(agent.Fact{Kind: agent.FactOutput, Key: t.id, Text: all[t.told:]})
		t.told = len(all)
	}
}

// output is what a call has produced, as text.
func output(list []content, r *result) string {
	if r.Output != nil {
		return string(*r.Output)
	}
	var parts []string
	for _, c := range list {
		if c.Type != "content" || jsonl.Null(c.Content) {
			continue
		}
		if text := jsonl.Texts(append(append([]byte{'['}, c.Content...), ']')); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// end closes a call.
func (t *tool) end(s *served, a *Agent, failed bool, list []content, r *result, b *agent.Batch) {
	t.done = true
	if t.mute {
		return
	}
	if t.files() && t.server == a.Name {
		t.changed(failed, list, r, b)
		return
	}
	if !t.open {
		t.describe(s, a)
	}
	it, said := t.item, output(list, r)
	it.Status = event.Done
	if failed {
		it.Status = event.ItemFailed
	}
	switch {
	case it.Type == event.Command:
		it.Output = said
		if it.Output == "" && r.Error != "" {
			it.Output = string(r.Error)
		}
		code := r.ExitCode
		if code == nil {
			code = r.Meta.Exit
		}
		if code == nil && s.cancelled {
			it.Status = event.Incomplete
		}
		if code != nil {
			n := int(*code)
			it.ExitCode = &n
			if n != 0 {
				it.Status = event.ItemFailed
			}
		}
	case failed:
		if it.Error = said; it.Error == "" {
			it.Error = string(r.Error)
		}
	default:
		it.Output = said
	}
	b.Add(agent.Fact{Kind: agent.FactDone, Key: t.id, Item: &it})
}

// changed closes a change of files.
func (t *tool) changed(failed bool, list []content, r *result, b *agent.Batch) {
	it := event.Item{Type: event.FileChange, Status: event.Done}
	seen := map[string]bool{}
	add := func(path, kind string) {
		if path != "" && !seen[path] {
			seen[path] = true
			it.Changes = append(it.Changes, event.Change{Path: path, Kind: kind})
		}
	}
	kind := "update"
	switch {
	case t.kind == "delete":
		kind = "delete"
	case r.Meta.Exists != nil && !bool(*r.Meta.Exists):
		kind = "add"
	}
	for _, c := range list {
		if c.Type != "diff" {
			continue
		}
		if c.Old == nil || *c.Old == "" {
			add(string(c.Path), "add")
		} else {
			add(string(c.Path), kind)
		}
	}
	for _, path := range t.paths {
		add(path, kind)
	}
	if failed {
		it.Status = event.ItemFailed
		if it.Error = output(list, r); it.Error == "" {
			it.Error = string(r.Error)
		}
	}
	if len(it.Changes) == 0 {
		it.Type, it.Server, it.Tool, it.Arguments = event.ToolCall, t.server, t.name, compact(t.input)
	}
	b.Add(agent.Fact{Kind: agent.FactDone, Key: t.id, Item: &it})
}
