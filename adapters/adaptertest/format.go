package adaptertest

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

var kinds = map[agent.FactKind]string{
	agent.FactSession: "session", agent.FactStart: "start", agent.FactText: "text", agent.FactReasoning: "reasoning",
	agent.FactOutput: "output", agent.FactDone: "done", agent.FactNotice: "notice", agent.FactUnknown: "unknown", agent.FactVerdict: "verdict",
	agent.FactUsage: "usage",
}

var types = map[event.ItemType]string{
	event.Message: "message", event.Reasoning: "reasoning", event.Command: "command", event.FileChange: "file_change",
	event.ToolCall: "tool_call", event.WebSearch: "web_search", event.Subagent: "subagent",
}

// longest text in a golden file
const longest = 240

// Format writes a fact on one line, for golden files and failed tests.
func Format(f agent.Fact) string {
	var b strings.Builder
	b.WriteString(kinds[f.Kind])
	if f.Key != "" {
		fmt.Fprintf(&b, " %s", f.Key)
	}
	if f.Parent != "" {
		fmt.Fprintf(&b, " of=%s", f.Parent)
	}
	if f.Text != "" {
		fmt.Fprintf(&b, " %s", quote(f.Text))
	}
	if f.Item != nil {
		item(&b, f.Item)
	}
	if f.Verdict != nil {
		verdict(&b, f.Verdict)
	}
	if f.Usage != nil {
		fmt.Fprintf(&b, " %s", counts(f.Usage))
	}
	return b.String()
}

func counts(u *event.Usage) string {
	return fmt.Sprintf("%d/%d/%d/%d/%d", u.Input, u.Cached, u.CacheWrite, u.Output, u.Reasoning)
}

func quote(s string) string {
	if len(s) > longest {
		return fmt.Sprintf("%q... (%d bytes)", strings.ToValidUTF8(s[:longest], ""), len(s))
	}
	return fmt.Sprintf("%q", s)
}

func item(b *strings.Builder, it *event.Item) {
	fmt.Fprintf(b, " %s", types[it.Type])
	if it.Status != 0 {
		fmt.Fprintf(b, " %s", it.Status)
	}
	for _, f := range [...]struct{ name, value string }{
		{"text", it.Text}, {"command", it.Command}, {"cwd", it.Cwd}, {"server", it.Server}, {"tool", it.Tool},
		{"arguments", it.Arguments}, {"query", it.Query}, {"output", it.Output}, {"error", it.Error},
		{"prompt", it.Prompt},
	} {
		if f.value != "" {
			fmt.Fprintf(b, " %s=%s", f.name, quote(f.value))
		}
	}
	for _, c := range it.Changes {
		fmt.Fprintf(b, " %s=%q", c.Kind, c.Path)
	}
	if it.ExitCode != nil {
		fmt.Fprintf(b, " exit=%d", *it.ExitCode)
	}
}

func verdict(b *strings.Builder, v *agent.Verdict) {
	word := "tentative"
	if v.Final {
		word = "final"
	}
	fmt.Fprintf(b, " %s %s", word, v.Outcome)
	if f := v.Failure; f != nil {
		fmt.Fprintf(b, " %s %s", f.Code, quote(f.Message))
		if f.RetryAfter != 0 {
			fmt.Fprintf(b, " retry_after=%d", f.RetryAfter)
		}
	}
	if u := v.Usage; u != nil {
		fmt.Fprintf(b, " usage=%s", counts(u))
		if u.MicroUSD != 0 {
			fmt.Fprintf(b, " micro_usd=%d", u.MicroUSD)
		}
	}
	if v.Text != "" {
		fmt.Fprintf(b, " text=%s", quote(v.Text))
	}
	if v.Carry != nil {
		fmt.Fprintf(b, " carry=%s", v.Carry)
	}
}
