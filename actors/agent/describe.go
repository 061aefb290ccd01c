package agent

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

var factNames = map[FactKind]string{
	FactSession: "session", FactStart: "start", FactText: "text", FactReasoning: "reasoning",
	FactOutput: "output", FactDone: "done", FactNotice: "notice", FactUnknown: "unknown", FactVerdict: "verdict",
	FactUsage: "usage",
}

var itemNames = map[event.ItemType]string{
	event.Message: "message", event.Reasoning: "reasoning", event.Command: "command", event.FileChange: "file_change",
	event.ToolCall: "tool_call", event.WebSearch: "web_search", event.Subagent: "subagent",
}

// longest is the longest text that a description shows whole.
const longest = 240

// String describes the fact on one line, for people and golden files.
func (f Fact) String() string {
	var b strings.Builder
	b.WriteString(factNames[f.Kind])
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
		describeItem(&b, f.Item)
	}
	if f.Verdict != nil {
		describeVerdict(&b, f.Verdict)
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

func describeItem(b *strings.Builder, it *event.Item) {
	fmt.Fprintf(b, " %s", itemNames[it.Type])
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

func describeVerdict(b *strings.Builder, v *Verdict) {
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
