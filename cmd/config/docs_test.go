package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/command"
)

const page = "../../docs/configuration.md"

func template(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/configuration.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// settingsTable has a row for each setting that a variable and a flag can set.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| key, and flag with - for _ | variable | default | meaning |\n|---|---|---|---|\n")
	for _, s := range Default("~", false).Scalars() {
		value := ""
		if s.Default != "" {
			value = "`" + s.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", s.Key, s.Variable(), value, s.Help)
	}
	return b.String()
}

func TestThePageIsWhatTheProgramDoes(t *testing.T) {
	t.Parallel()
	golden(t, page, strings.NewReplacer("{{settings}}", settingsTable(), "{{example}}", Example).Replace(template(t)))
}

func TestThePageNamesEveryOldVariable(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for name := range abxScalars {
		known[name] = true
	}
	for name := range abxUnbuilt {
		known[name] = true
	}
	for _, name := range append(append([]string{}, abxRead...), abxElsewhere...) {
		known[name] = true
	}
	text := template(t)
	for name := range known {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the page does not name %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`ABX_[A-Z_]*[A-Z]`).FindAllString(text, -1) {
		if !known[name] {
			t.Errorf("the page names %s, which is not read", name)
		}
	}
	for name, key := range abxScalars {
		if !strings.Contains(text, "| `"+name+"` | `"+key+"` |") {
			t.Errorf("the page does not say that %s is %s", name, key)
		}
	}
}

func TestThePagesCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)```yaml\n(agents:\n.*?)```\n\n```[a-z]*\n(.*?)```").FindAllStringSubmatch(template(t), -1)
	seen := map[string]bool{}
	for _, b := range blocks {
		file := filepath.Join(t.TempDir(), "agenthost.yaml")
		if err := os.WriteFile(file, []byte(b[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		r := good(t, file, nil).Agents.Runtimes["mytool"]
		a, err := command.New("mytool", r.Declared())
		if err != nil {
			t.Fatal(err)
		}
		format := r.Output.Format
		seen[format] = true
		if text, outcome := heard(a.NewParser(&agent.Request{}), b[2]); !strings.HasPrefix(text, "The answer") || outcome != event.Completed && format != "text" { // of text the exit code is the verdict
			t.Errorf("%s: %q, %v", format, text, outcome)
		}
	}
	for _, format := range []string{"text", "jsonl", "jsonl-codex", "jsonl-claude", "jsonl-cursor"} {
		if !seen[format] {
			t.Errorf("no example of %s", format)
		}
	}
}

// heard is what a parser makes of an output: the messages and the last verdict.
func heard(p agent.Parser, output string) (text string, outcome event.Outcome) {
	var out agent.Batch
	for line := range strings.SplitSeq(strings.TrimSpace(output), "\n") {
		p.Feed([]byte(line), &out)
	}
	p.Close(agent.Exit{}, &out)
	for _, f := range out.Facts {
		switch {
		case f.Kind == agent.FactUnknown:
			return "not understood: " + f.Text, 0
		case f.Kind == agent.FactDone && f.Item != nil && f.Item.Type == event.Message:
			text += f.Item.Text
		case f.Kind == agent.FactVerdict:
			outcome = f.Verdict.Outcome
		}
	}
	return text, outcome
}
