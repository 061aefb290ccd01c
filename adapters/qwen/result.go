package qwen

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// Exit codes of the CLI's own caps, which come without a result line.
const (
	exitTurns  = 53 // --max-session-turns
	exitBudget = 55 // --max-tool-calls, --max-wall-time
)

// result takes the terminal line, a tentative verdict.
func (p *parser) result(obj []byte, out *agent.Batch) bool {
	var l struct {
		Subtype jsonl.Str  `json:"subtype"`
		IsError jsonl.Flag `json:"is_error"`
		Result  jsonl.Str  `json:"result"`
		Error   struct {
			Message jsonl.Str `json:"message"`
		} `json:"error"`
		Usage      json.RawMessage `json:"usage"`
		Structured json.RawMessage `json:"structured_result"`
	}
	if !jsonl.Decode(obj, &l) {
		return false
	}
	v := &agent.Verdict{Outcome: event.Completed, Usage: readUsage(l.Usage)}
	failed := bool(l.IsError) || strings.HasPrefix(string(l.Subtype), "error")
	if failed && p.held != "" {
		notice(out, p.held)
		p.held = ""
	}
	p.release(out)
	p.flush(out)
	switch {
	case failed:
		said := string(l.Error.Message)
		if said == "" {
			said = string(l.Result)
		}
		v.Outcome, v.Failure = event.Failed, failure(said, event.CLICrashed)
		if v.Usage != nil && *v.Usage == (event.Usage{}) {
			v.Usage = nil // nothing was counted
		}
	case !jsonl.Null(l.Structured):
		v.Text = jsonl.Args(l.Structured)
		out.Add(agent.Fact{Kind: agent.FactDone, Key: "structured_output", Item: &event.Item{Type: event.Message, Text: v.Text}})
	default:
		v.Text = string(l.Result)
	}
	p.verdict = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
	return true
}

// failure finds the code for what the CLI said about an error.
func failure(said string, fallback event.Code) *event.Failure {
	inner := said
	if rest, ok := strings.CutPrefix(said, apiError); ok {
		inner, _, _ = strings.Cut(rest, "]\n") // advice about the CLI's own settings follows
		inner = strings.TrimSuffix(strings.TrimSpace(inner), "]")
	}
	return reason.Failure(reason.Code(said, fallback), inner)
}

// readUsage reads a turn's usage. Cached input is part of the input.
func readUsage(raw json.RawMessage) *event.Usage {
	var u struct {
		Input  *jsonl.Num `json:"input_tokens"`
		Cached jsonl.Num  `json:"cache_read_input_tokens"`
		Output *jsonl.Num `json:"output_tokens"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(raw, &u) || u.Input == nil && u.Output == nil {
		return nil
	}
	usage := &event.Usage{Cached: int64(u.Cached)}
	if u.Input != nil {
		usage.Input = int64(*u.Input)
	}
	if u.Output != nil {
		usage.Output = int64(*u.Output)
	}
	return usage
}

// Close gives the verdict that only the exit tells: the CLI refused to start, or
// stopped at a cap of its own.
func (p *parser) Close(exit agent.Exit, out *agent.Batch) {
	said := p.held
	if said != "" {
		notice(out, said)
		p.held = ""
	}
	p.flush(out)
	if p.verdict || exit.Signal != "" || exit.Code == 0 {
		return
	}
	if said == "" {
		said = complaint(exit.Stderr)
	}
	var f *event.Failure
	switch exit.Code {
	case exitTurns:
		f = event.Fail(event.TurnLimit, "the limit of agent turns is reached (exit status 53)")
	case exitBudget:
		f = reason.Failure(event.TurnLimit, said)
	default:
		if reason.Code(said, "") == "" {
			return // the turn tells exit status and stderr as they are
		}
		f = failure(fmt.Sprintf("%s (exit status %d)", said, exit.Code), event.CLICrashed)
	}
	p.verdict = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Failed, Failure: f}})
}

// complaint is the part of standard error that says why, without the chatter before
// it and the manual behind it.
func complaint(stderr string) string {
	stderr, _, _ = strings.Cut(stderr, "\nUsage: qwen")
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "Ripgrep not available") || strings.HasPrefix(line, "Warning: running headless") || strings.HasPrefix(line, "Retrying provider attempt") {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
