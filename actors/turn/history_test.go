package turn

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

var update = flag.Bool("update", false, "rewrite the effects in testdata/*.txt")

// TestHistories plays the inputs of each file and compares the effects. Lines
// that start with "> " are inputs, "config" sets the turn up, "#" is for people.
func TestHistories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if got == string(want) {
				return
			}
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("effects differ (-update rewrites the file); got\n%s", got)
		})
	}
}

// play runs a history's inputs and returns it with the effects they gave.
func play(t *testing.T, history string) string {
	t.Helper()
	var out strings.Builder
	id := event.ID{0xab}
	cfg := Config{Turn: id, FirstOutput: 1, Adapter: "codex"}
	var turn *Turn
	j := newJudge(id)
	var now int64
	lines := bufio.NewScanner(strings.NewReader(history))
	for lines.Scan() {
		line := lines.Text()
		words := tokens(t, line)
		switch {
		case strings.HasPrefix(line, "  "):
			continue
		case len(words) > 0 && words[0] == "config":
			configure(t, &cfg, words[1:])
		case len(words) > 1 && words[0] == ">":
			if turn == nil {
				turn = New(cfg)
			}
			words = words[1:]
			if after, ok := strings.CutPrefix(words[0], "+"); ok {
				now += duration(t, after).Milliseconds()
				words = words[1:]
			}
			in := input(t, words)
			j.input(in)
			effects := turn.Step(in, now)
			if err := j.effects(effects); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			fmt.Fprintln(&out, line)
			for _, e := range effects {
				show(&out, e)
			}
			continue
		}
		fmt.Fprintln(&out, line)
	}
	if turn != nil && turn.Dropped() > 0 && !strings.Contains(history, "# drops facts") {
		t.Errorf("%d facts dropped in a history that does not say so", turn.Dropped())
	}
	return out.String()
}

func configure(t *testing.T, c *Config, words []string) {
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "turn":
			c.TurnTimeout = duration(t, value)
		case "idle":
			c.IdleTimeout = duration(t, value)
		case "quiet":
			c.SettleQuiet = duration(t, value)
		case "linger":
			c.Linger = duration(t, value)
		case "max":
			c.MaxItemBytes = int(number(t, value))
		case "environment":
			c.Environment.Type = value
		case "adapter":
			c.Adapter = value
		case "provider":
			c.Provider = value
		case "gather":
			c.Gather = duration(t, value)
		case "wait":
			c.ToolTimeout = duration(t, value)
		case "server":
			c.HostServer = value
		case "asks":
			c.Asks = true
		case "cpu":
			c.Limits.CPU = duration(t, value)
		case "memory":
			c.Limits.Memory = number(t, value)
		case "processes":
			c.Limits.Processes = int(number(t, value))
		case "file":
			c.Limits.FileSize = number(t, value)
		case "files":
			c.Limits.OpenFiles = int(number(t, value))
		case "exit_is_verdict":
			c.ExitIsVerdict = true
		case "tokens": // of the session, with what was used before the turn
			limit, used, _ := strings.Cut(value, "/")
			c.Budgets = append(c.Budgets, event.Budget{Name: "limits.max_session_tokens", Scope: event.SessionScope, Limit: number(t, limit), Used: number(t, used)})
		case "micro_usd":
			limit, used, _ := strings.Cut(value, "/")
			c.Budgets = append(c.Budgets, event.Budget{Name: "limits.max_day_usd", Scope: event.DayScope, Money: true, Limit: number(t, limit), Used: number(t, used)})
		default:
			t.Fatalf("config %q", w)
		}
	}
}

func input(t *testing.T, words []string) Input {
	rest := words[1:]
	switch words[0] {
	case "start":
		return Start{}
	case "environment":
		return Environment{Status: event.EnvironmentStatus(rest[0]), Failure: failure(rest[1:])}
	case "prepared":
		return Prepared{}
	case "prepare_failed":
		return PrepareFailed{failure(rest)}
	case "spawned":
		return Spawned{Pid: 7}
	case "spawn_failed":
		return SpawnFailed{failure(rest)}
	case "output":
		return Output{Facts: facts(t, rest)}
	case "line_dropped":
		return LineDropped{Bytes: number(t, rest[0])}
	case "output_limit":
		return OutputLimit{Limit: number(t, rest[0])}
	case "exited":
		return exited(t, rest)
	case "used":
		return used(t, rest)
	case "gone":
		return Gone{}
	case "cancel":
		return Cancel{}
	case "stop":
		return Stop{failure(rest)}
	case "hurry":
		return Hurry{}
	case "called":
		return Called{Call: number(t, rest[0]), Item: itemOf(t, rest[1:])}
	case "callleft":
		return CallLeft{Call: number(t, rest[0])}
	case "answered":
		return answered(t, rest)
	case "resumed":
		return Resumed{}
	case "steer":
		return Steer{Input: steerID(rest[0]), Items: []*event.Item{{Type: event.Message, User: true, Text: rest[1]}}}
	case "steered":
		return Steered{Input: steerID(rest[0]), Taken: rest[1] == "taken"}
	case "elapsed":
		for timer := range timers {
			if timer.String() == rest[0] {
				return Elapsed{timer}
			}
		}
	}
	t.Fatalf("input %q", words)
	return nil
}

// steerID is the id of an input with a name of one letter.
func steerID(name string) event.ID { return event.ID{0xcd, 15: name[0]} }

// answered reads "leg", "conclude", "cancel", and answers separated by "|": the item's
// ordinal and what is said to it.
func answered(t *testing.T, words []string) Input {
	var in Answered
	for len(words) > 0 {
		n := 0
		for n < len(words) && words[n] != "|" {
			n++
		}
		switch w := words[:n]; w[0] {
		case "leg":
			in.Leg = &event.Leg{Wire: "responses"}
		case "conclude":
			in.Conclude = true
		case "cancel":
			in.Cancel = true
		default:
			it := itemOf(t, w[1:])
			it.Call = event.ItemID(event.ID{0xab}, uint32(number(t, w[0])))
			in.Answers = append(in.Answers, it)
		}
		words = words[min(n+1, len(words)):]
	}
	return in
}

// used takes what a tree takes: cpu=2s memory=100 processes=3.
func used(t *testing.T, words []string) (in Used) {
	for _, w := range words {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "cpu":
			in.CPU = duration(t, value)
		case "memory":
			in.Memory = number(t, value)
		case "processes":
			in.Processes = int(number(t, value))
		default:
			t.Fatalf("used %q", w)
		}
	}
	return in
}

func failure(words []string) *event.Failure {
	if len(words) < 2 {
		return nil
	}
	return event.Fail(event.Code(words[0]), words[1])
}

func exited(t *testing.T, words []string) Input {
	var in Exited
	for i, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "used":
			in.Hits.CPU = duration(t, value)
		case "memory_killed":
			in.Hits.Memory = true
		case "fork_refused":
			in.Hits.Processes = true
		case "files_full":
			in.Hits.OpenFiles = true
		case "code":
			in.Exit.Code = int(number(t, value))
		case "signal":
			in.Exit.Code, in.Exit.Signal = -1, value
		case "stderr":
			in.Exit.Stderr = value
		case "|":
			in.Facts = facts(t, words[i+1:])
			return in
		}
	}
	return in
}

func facts(t *testing.T, words []string) []agent.Fact {
	var out []agent.Fact
	for len(words) > 0 {
		n := 0
		for n < len(words) && words[n] != "|" {
			n++
		}
		out = append(out, fact(t, words[:n]))
		words = words[min(n+1, len(words)):]
	}
	return out
}

func fact(t *testing.T, w []string) agent.Fact {
	arg := func(i int) string {
		if i < len(w) {
			return w[i]
		}
		return ""
	}
	switch w[0] {
	case "of": // a subagent
		f := fact(t, w[2:])
		f.Parent = w[1]
		return f
	case "session":
		return agent.Fact{Kind: agent.FactSession, Text: arg(1)}
	case "start":
		return agent.Fact{Kind: agent.FactStart, Key: arg(1), Item: itemOf(t, w[2:])}
	case "text":
		return agent.Fact{Kind: agent.FactText, Key: arg(1), Text: arg(2)}
	case "reasoning":
		return agent.Fact{Kind: agent.FactReasoning, Key: arg(1), Text: arg(2)}
	case "out":
		return agent.Fact{Kind: agent.FactOutput, Key: arg(1), Text: arg(2)}
	case "done":
		return agent.Fact{Kind: agent.FactDone, Key: arg(1), Item: itemOf(t, w[2:])}
	case "notice":
		return agent.Fact{Kind: agent.FactNotice, Text: arg(1)}
	case "unknown":
		return agent.Fact{Kind: agent.FactUnknown, Text: arg(1)}
	case "verdict":
		return agent.Fact{Kind: agent.FactVerdict, Verdict: verdict(t, w[1:])}
	case "used":
		return agent.Fact{Kind: agent.FactUsage, Usage: &event.Usage{Input: number(t, arg(1))}}
	}
	t.Fatalf("fact %q", w)
	return agent.Fact{}
}

var itemTypes = []string{
	"", "message", "thought", "command", "change", "tool", "search", "subagent", "call", "result", "approval", "decision",
}

func itemOf(t *testing.T, words []string) *event.Item {
	if len(words) == 0 {
		return nil
	}
	it := &event.Item{}
	for i, name := range itemTypes {
		if name == words[0] {
			it.Type = event.ItemType(i)
		}
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "text":
			it.Text = value
		case "command":
			it.Command = value
		case "output":
			it.Output = value
		case "exit":
			n := int(number(t, value))
			it.ExitCode = &n
		case "status":
			it.Status = map[string]event.Status{"failed": event.ItemFailed, "incomplete": event.Incomplete}[value]
		case "server":
			it.Server = value
		case "tool":
			it.Tool = value
		case "prompt":
			it.Prompt = value
		case "args":
			it.Arguments = value
		case "error":
			it.Error = value
		case "query":
			it.Query = value
		case "approved":
			it.Approved = true
		case "path":
			it.Changes = append(it.Changes, event.Change{Path: value, Kind: "update"})
		default:
			t.Fatalf("item %q", w)
		}
	}
	return it
}

func verdict(t *testing.T, words []string) *agent.Verdict {
	v := &agent.Verdict{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "final":
			v.Final = true
		case "completed":
			v.Outcome = event.Completed
		case "failed":
			v.Outcome = event.Failed
			if value != "" {
				v.Failure = event.Fail(event.Code(value), "the provider said so")
			}
		case "cancelled":
			v.Outcome = event.Cancelled
		case "text":
			v.Text = value
		case "usage":
			v.Usage = &event.Usage{Input: number(t, value), Output: 1}
		case "cost":
			v.Usage.MicroUSD = number(t, value)
		case "carry":
			v.Carry = []byte(value)
		default:
			t.Fatalf("verdict %q", w)
		}
	}
	return v
}

func show(out *strings.Builder, e Effect) {
	switch e := e.(type) {
	case Emit:
		for _, ev := range e.Events {
			fmt.Fprintln(out, "  "+showEvent(ev))
		}
	case Arm:
		fmt.Fprintf(out, "  arm %s %s\n", e.Timer, e.After)
	case Disarm:
		fmt.Fprintf(out, "  disarm %s\n", e.Timer)
	case Deliver:
		fmt.Fprintf(out, "  deliver %d%s\n", e.Call, showItem(e.Answer))
	case Hand:
		fmt.Fprintf(out, "  hand %c\n", e.Input[15])
	case Unsteered:
		fmt.Fprintf(out, "  unsteered %c\n", e.Input[15])
	case Refuse:
		fmt.Fprintf(out, "  refuse %s: %q\n", e.Failure.Code, e.Failure.Message)
	default:
		fmt.Fprintf(out, "  %s\n", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", e), "turn.")))
	}
}

func showEvent(ev event.Event) string {
	s := ev.Kind.String()
	if !ev.Item.IsZero() && ev.Kind != event.CallAnswered {
		s += fmt.Sprintf(" #%d", event.ItemOrdinal(ev.Turn, ev.Item))
	}
	if ev.Text != "" {
		s += fmt.Sprintf(" %q", ev.Text)
	}
	switch b := ev.Body.(type) {
	case *event.Item:
		s += showItem(b)
	case *event.Environment:
		s += fmt.Sprintf(" %s %s", b.Type, b.Status)
		if b.Failure != nil {
			s += fmt.Sprintf(" %s: %q", b.Failure.Code, b.Failure.Message)
		}
	case *event.Input:
		s += fmt.Sprintf(" %c", b.ID[15])
		for _, it := range b.Items {
			s += fmt.Sprintf(" #%d", event.ItemOrdinal(ev.Turn, it.ID)) + showItem(it)
		}
	case *event.Leg:
		s += fmt.Sprintf(" %d answers=%d", b.Number, len(b.Answers))
		if b.Wire != "" {
			s += " of " + b.Wire
		}
	case *event.Pause:
		s += fmt.Sprintf(" usage=%d/%d", b.Usage.Input, b.Usage.Output)
	case *event.End:
		s += " " + b.Outcome.String()
		if b.Usage != nil {
			s += fmt.Sprintf(" usage=%d/%d", b.Usage.Input, b.Usage.Output)
		}
		if b.Carry != nil {
			s += fmt.Sprintf(" carry=%q", b.Carry)
		}
		if b.FirstByte != 0 {
			s += fmt.Sprintf(" first_byte=%d", b.FirstByte)
		}
		if b.Exit != "" {
			s += fmt.Sprintf(" exit=%q", b.Exit)
		}
		if b.Failure != nil {
			s += fmt.Sprintf(" %s: %q", b.Failure.Code, b.Failure.Message)
		}
	}
	return s
}

func showItem(it *event.Item) string {
	s := " " + itemTypes[it.Type] + " " + it.Status.String()
	switch it.Phase {
	case event.Commentary:
		s += " commentary"
	case event.FinalAnswer:
		s += " final_answer"
	}
	for _, f := range [...]struct{ name, value string }{
		{"text", it.Text}, {"command", it.Command}, {"output", it.Output}, {"server", it.Server},
		{"tool", it.Tool}, {"args", it.Arguments}, {"error", it.Error}, {"query", it.Query},
		{"prompt", it.Prompt},
	} {
		if f.value != "" {
			s += fmt.Sprintf(" %s=%q", f.name, f.value)
		}
	}
	if !it.Call.IsZero() {
		s += fmt.Sprintf(" to=#%d", event.ItemOrdinal(event.ID{0xab}, it.Call))
	}
	if it.Approved {
		s += " approved"
	}
	if it.ExitCode != nil {
		s += fmt.Sprintf(" exit=%d", *it.ExitCode)
	}
	if it.User {
		s += " user"
	}
	if !it.Parent.IsZero() {
		s += fmt.Sprintf(" of=#%d", event.ItemOrdinal(event.ID{0xab}, it.Parent))
	}
	for _, c := range it.Changes {
		s += fmt.Sprintf(" path=%q", c.Path)
	}
	return s
}

// tokens splits a line at spaces outside of double quotes and unquotes.
func tokens(t *testing.T, line string) []string {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " ") {
		var word strings.Builder
		for line != "" && line[0] != ' ' {
			if line[0] != '"' {
				word.WriteByte(line[0])
				line = line[1:]
				continue
			}
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return strings.Fields(line) // a comment
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatal(err)
			}
			word.WriteString(text)
			line = line[len(quoted):]
		}
		out = append(out, word.String())
	}
	return out
}

func duration(t *testing.T, s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func number(t *testing.T, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
