package acceptance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/fakes/provider"
)

var recordDialogues = flag.String("record-dialogues", "", "directory that gets the dialogues with the real CLI, as scripts of the adapter's tests")

// dialogue is a protocol that speaks with the real Claude Code, without an engine.
type dialogue struct {
	t        *testing.T
	p        agent.Protocol
	r        *agent.Request
	cmd      *exec.Cmd
	in       io.WriteCloser
	lines    chan []byte // closed at the end of the output
	held     []byte      // read and not told to the protocol yet
	provider *provider.Server
	script   bytes.Buffer

	turn      event.ID
	steers    byte
	facts     []agent.Fact
	questions []agent.Question
	steered   []agent.Steered
	ready     bool
	pongs     int
	over      bool
}

func newDialogue(t *testing.T, permissions spec.Permissions, native string) *dialogue {
	t.Helper()
	binary := need(t, "claude-code")
	model := provider.New(provider.Script{Key: cliKey})
	url, err := model.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	dir := t.TempDir()
	d := &dialogue{t: t, provider: model, lines: make(chan []byte, 1024), r: &agent.Request{
		Session: event.ID{9}, Prompt: "hello", Permissions: permissions, Native: native, Binary: binary,
		Workspace: filepath.Join(dir, "workspace"), Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "runner"),
		LLM: agent.LLM{BaseURL: url, APIKey: cliKey},
	}}
	for _, at := range []string{d.r.Workspace, d.r.Home, d.r.Dir} {
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a := &claudecode.Adapter{}
	if err := a.ValidatePersistent(d.r); err != nil {
		t.Fatal(err)
	}
	run, err := a.Runner(d.r)
	if err != nil {
		t.Fatal(err)
	}
	d.p = a.NewProtocol()
	d.cmd = exec.CommandContext(t.Context(), binary, append(run.Args, run.Resume...)...)
	d.cmd.Dir = run.Dir
	d.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.r.Home, "LANG=C.UTF-8"}, run.Env...)
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends with the output
		defer close(done)
		defer close(d.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				d.lines <- bytes.TrimSuffix(line, []byte("\n"))
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = d.in.Close()
		_ = d.cmd.Process.Kill()
		go func() {
			for range d.lines {
			}
		}()
		<-done
		_ = d.cmd.Wait()
	})
	d.do("hello", d.p.Hello)
	return d
}

// do has the protocol do something.
func (d *dialogue) do(step string, say func(*agent.Talk)) {
	d.t.Helper()
	d.script.WriteString(step + "\n")
	var talk agent.Talk
	say(&talk)
	if talk.Broken != "" {
		d.t.Fatalf("%s: %s", step, talk.Broken)
	}
	d.ready = d.ready || talk.Ready
	if talk.Pong {
		d.pongs++
	}
	for _, s := range talk.Said {
		d.facts = append(d.facts, s.Batch.Facts...)
		d.questions = append(d.questions, s.Questions...)
		d.steered = append(d.steered, s.Steered...)
		d.over = d.over || s.Over && s.Turn == d.turn
	}
	if len(talk.Write) > 0 {
		if _, err := d.in.Write(talk.Write); err != nil {
			d.t.Fatalf("%s: %v", step, err)
		}
	}
}

// next is a line that was not told to the protocol yet.
func (d *dialogue) next() []byte {
	d.t.Helper()
	if line := d.held; line != nil {
		d.held = nil
		return line
	}
	select {
	case line, ok := <-d.lines:
		if !ok {
			d.t.Fatalf("the CLI ended; facts %v", d.facts)
		}
		return line
	case <-time.After(time.Minute):
		d.t.Fatalf("the CLI is silent; facts %v", d.facts)
		return nil
	}
}

func (d *dialogue) feed(line []byte) {
	d.t.Helper()
	d.do("< "+string(d.brief(line)), func(talk *agent.Talk) { d.p.Feed(line, talk) })
}

// until tells the protocol what the CLI says until something is so.
func (d *dialogue) until(what string, so func() bool) {
	d.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); {
		if time.Now().After(end) {
			d.t.Fatalf("not seen: %s; facts %v", what, d.facts)
		}
		d.feed(d.next())
	}
}

// untilSays does so up to a line that has a text, and holds that back.
func (d *dialogue) untilSays(text string) {
	d.t.Helper()
	for {
		line := d.next()
		if bytes.Contains(line, []byte(text)) {
			d.held = line
			return
		}
		d.feed(line)
	}
}

func (d *dialogue) ask(prompt string) {
	d.t.Helper()
	if !d.ready {
		d.until("it is ready", func() bool { return d.ready })
	}
	d.turn[0]++
	r := *d.r
	r.Prompt = prompt
	d.facts, d.over, d.questions, d.steered = nil, false, nil, nil
	d.do("ask", func(talk *agent.Talk) { d.p.Ask(d.turn, &r, talk) })
}

func (d *dialogue) steer(prompt string) event.ID {
	d.t.Helper()
	d.steers++
	input := event.ID{0xf0, d.steers}
	r := *d.r
	r.Prompt = prompt
	d.do("steer", func(talk *agent.Talk) {
		d.p.(agent.Steerer).Steer(d.turn, &agent.Steering{Input: input, Request: &r}, talk)
	})
	return input
}

func (d *dialogue) interrupt() {
	d.t.Helper()
	d.do("interrupt", func(talk *agent.Talk) { d.p.Interrupt(d.turn, talk) })
}

// end tells the protocol all up to the end of the turn and gives its final verdict.
func (d *dialogue) end() *agent.Verdict {
	d.t.Helper()
	d.until("the turn is over", func() bool { return d.over })
	var final *agent.Verdict
	for _, f := range d.facts {
		if v := f.Verdict; v != nil && v.Final {
			if final != nil {
				d.t.Errorf("two final verdicts: %v", d.facts)
			}
			final = v
		}
	}
	if final == nil {
		d.t.Fatalf("no final verdict: %v", d.facts)
	}
	return final
}

func (d *dialogue) completed(text string) {
	d.t.Helper()
	if v := d.end(); v.Outcome != event.Completed || !strings.Contains(v.Text, text) {
		d.t.Errorf("%s %q %v, want %q", v.Outcome, v.Text, v.Failure, text)
	}
}

// saw reports that the model was shown a text.
func (d *dialogue) saw(text string) bool {
	return slices.ContainsFunc(d.provider.Requests(), func(r provider.Request) bool { return bytes.Contains(r.Body, []byte(text)) })
}

// says is a fact that a piece of the turn has come.
func (d *dialogue) has(kind agent.FactKind, item event.ItemType) func() bool {
	return func() bool {
		return slices.ContainsFunc(d.facts, func(f agent.Fact) bool { return f.Kind == kind && (item == 0 || f.Item != nil && f.Item.Type == item) })
	}
}

// brief is a line without the long lists that say nothing to the protocol, and without
// the machine's paths.
func (d *dialogue) brief(line []byte) []byte {
	if *recordDialogues == "" {
		return nil
	}
	for _, p := range [][2]string{{d.r.Workspace, "/workspace"}, {d.r.Home, "/home/agent"}, {filepath.Dir(d.r.Workspace), "/dialogue"}, {os.TempDir(), "/temporary"}} {
		line = bytes.ReplaceAll(line, []byte(p[0]), []byte(p[1]))
		line = bytes.ReplaceAll(line, []byte(strings.NewReplacer("/", "-", ".", "-").Replace(p[0])), []byte(strings.ReplaceAll(p[1], "/", "-")))
	}
	var o map[string]any
	if json.Unmarshal(line, &o) != nil {
		return line
	}
	for _, key := range []string{"tools", "slash_commands", "terminal_slash_commands", "agents", "skills", "plugins", "capabilities", "memory_paths", "messaging_socket_path"} {
		if _, there := o[key]; there {
			o[key] = []any{}
		}
	}
	if r, ok := at(o, "response", "response").(map[string]any); ok {
		for k := range r {
			if k != "still_queued" && k != "cancelled" {
				delete(r, k)
			}
		}
	}
	short, err := json.Marshal(o)
	if err != nil {
		return line
	}
	return short
}

// recorded keeps the dialogue.
func (d *dialogue) recorded(name string) {
	d.t.Helper()
	if *recordDialogues == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*recordDialogues, name+".script"), d.script.Bytes(), 0o600); err != nil {
		d.t.Fatal(err)
	}
}
