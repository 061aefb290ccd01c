package opencode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// parser makes facts of lines. One goroutine uses it; it does no I/O and must not
// panic, whatever it reads. Lines of type step_start give no fact (see silent).
type parser struct {
	session string
	used    event.Usage
	failed  *event.Failure
}

// line has what is read of any line.
type line struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		ID, Text, Tool, CallID string
		State                  struct {
			Status   string
			Input    json.RawMessage
			Output   string
			Error    string
			Metadata struct {
				Exit   *int
				Exists bool
			}
		}
		Tokens struct {
			Input, Output, Reasoning int64
			Cache                    struct{ Read, Write int64 }
		}
	}
	Error struct {
		Name string
		Data struct {
			Message    string
			StatusCode int
		}
	}
}

// silent reports whether a line is known and tells nothing.
func silent(raw []byte) bool { return bytes.Contains(raw, []byte(`"type":"step_start"`)) }

// Feed reads one line. raw is only valid during the call: what is kept is copied,
// which decoding does.
func (p *parser) Feed(raw []byte, out *agent.Batch) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return
	}
	var l line
	if json.Unmarshal(raw, &l) != nil {
		unknown(raw, out)
		return
	}
	if l.Session != "" && l.Session != p.session {
		p.session = l.Session
		out.Add(agent.Fact{Kind: agent.FactSession, Text: l.Session})
	}
	switch l.Type {
	case "step_start":
	case "text":
		out.Add(agent.Fact{Kind: agent.FactDone, Key: l.Part.ID, Item: &event.Item{Type: event.Message, Text: l.Part.Text}})
	case "tool_use":
		out.Add(agent.Fact{Kind: agent.FactDone, Key: l.Part.CallID, Item: tool(&l)})
	case "step_finish":
		t := l.Part.Tokens
		p.used.Add(&event.Usage{
			Input: t.Input + t.Cache.Read + t.Cache.Write, Cached: t.Cache.Read, CacheWrite: t.Cache.Write,
			Output: t.Output + t.Reasoning, Reasoning: t.Reasoning,
		})
		used := p.used
		out.Add(agent.Fact{Kind: agent.FactUsage, Usage: &used})
	case "error":
		p.failed = failure(l.Error.Data.StatusCode, l.Error.Data.Message)
		out.Add(agent.Fact{Kind: agent.FactNotice, Text: p.failed.Message})
	default: // of a newer version: kept in the journal, so nothing is lost silently
		unknown(raw, out)
	}
}

func unknown(raw []byte, out *agent.Batch) {
	out.Add(agent.Fact{Kind: agent.FactUnknown, Text: strings.ToValidUTF8(string(raw), "\uFFFD")})
}

// tool is a finished tool call in the words that all agents share.
func tool(l *line) *event.Item {
	s := &l.Part.State
	var in struct{ Command, FilePath string }
	_ = json.Unmarshal(s.Input, &in) // what is not there is told as a tool call
	it := &event.Item{Output: s.Output, Error: s.Error}
	switch {
	case l.Part.Tool == "bash" && in.Command != "":
		it.Type, it.Command, it.ExitCode = event.Command, in.Command, s.Metadata.Exit
	case (l.Part.Tool == "write" || l.Part.Tool == "edit") && in.FilePath != "":
		kind := "add"
		if l.Part.Tool == "edit" || s.Metadata.Exists {
			kind = "update"
		}
		it.Type, it.Output, it.Changes = event.FileChange, "", []event.Change{{Path: in.FilePath, Kind: kind}}
	default:
		it.Type, it.Server, it.Tool, it.Arguments = event.ToolCall, "opencode", l.Part.Tool, string(s.Input)
	}
	if s.Status == "error" || it.ExitCode != nil && *it.ExitCode != 0 {
		it.Status = event.ItemFailed
	}
	return it
}

// failure finds the code of a provider's error. Codes are a closed set, because
// callers act on them.
func failure(status int, message string) *event.Failure {
	if message == "" {
		message = "opencode gave no reason"
	}
	code := event.CLICrashed
	switch {
	case status == 401 || status == 403:
		code, message = event.AuthenticationError, message+" (check the provider key)"
	case status == 404:
		code = event.ModelNotFound
	case status == 429:
		code = event.RateLimited
	case status >= 500:
		code = event.ProviderOverloaded
	case strings.Contains(message, "context length"):
		code = event.ContextTooLong
	case status >= 400:
		code = event.InvalidRequest
	}
	return event.Fail(code, message)
}

// Close judges the run by its exit. Without a verdict of ours the engine calls a bad
// exit a crash and tells standard error.
func (p *parser) Close(exit agent.Exit, out *agent.Batch) {
	v := &agent.Verdict{Final: true, Outcome: event.Completed}
	if p.used != (event.Usage{}) {
		v.Usage = &p.used
	}
	switch {
	case exit.Signal != "":
		return
	case p.failed != nil:
		v.Outcome, v.Failure = event.Failed, p.failed
	case strings.Contains(exit.Stderr, "Session not found"):
		v.Outcome, v.Failure = event.Failed, event.Fail(event.ResumeLost, fmt.Sprintf("opencode no longer knows this conversation (exit status %d); start a new session", exit.Code))
	case exit.Code != 0:
		return
	}
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
}
