package claudecode_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/claudecode"
)

var updateStream = flag.Bool("update-stream", false, "rewrite what the recorded dialogues give")

// stage plays a recorded dialogue to a protocol and writes down what follows: what is
// written to the CLI, and what is said in the turns.
type stage struct {
	p      agent.Protocol
	r      *agent.Request
	turn   event.ID
	steers byte
	out    strings.Builder
	open   bool
}

func newStage() *stage {
	a := &claudecode.Adapter{}
	r := adaptertest.Request(a)
	r.Permissions = spec.Ask
	return &stage{p: a.NewProtocol(), r: r}
}

func (s *stage) do(step string) {
	word, rest, _ := strings.Cut(step, " ")
	var talk agent.Talk
	switch word {
	case "hello":
		s.p.Hello(&talk)
	case "ping":
		s.p.Ping(&talk)
	case "ask":
		s.turn[0]++
		s.open = true
		s.p.Ask(s.turn, s.r, &talk)
	case "host":
		s.r.Host = &agent.HostServer{Name: "host", URL: "http://127.0.0.1:1/mcp", TokenEnv: "T", Token: "tok-1"}
		if rest == "none" {
			s.r.Host = nil
		}
	case "interrupt":
		s.p.Interrupt(s.turn, &talk)
	case "steer":
		s.steers++
		s.p.(agent.Steerer).Steer(s.turn, &agent.Steering{Input: event.ID{0xf0, s.steers}, Request: s.r}, &talk)
	case "permit":
		id, yes, _ := strings.Cut(rest, " ")
		s.p.Permit(s.turn, id, yes == "yes", "a reason", &talk)
	case "<":
		s.p.Feed([]byte(rest), &talk)
	}
	s.tell(&talk)
}

func (s *stage) tell(talk *agent.Talk) {
	for line := range bytes.Lines(talk.Write) {
		if !json.Valid(line) {
			fmt.Fprint(&s.out, "no JSON: ")
		}
		fmt.Fprintf(&s.out, "> %s", line)
	}
	if talk.Ready {
		s.out.WriteString("ready\n")
	}
	if talk.Pong {
		s.out.WriteString("pong\n")
	}
	if talk.Broken != "" {
		fmt.Fprintf(&s.out, "broken: %s\n", talk.Broken)
	}
	for _, said := range talk.Said {
		for _, f := range said.Batch.Facts {
			fmt.Fprintln(&s.out, adaptertest.Format(f))
		}
		for _, q := range said.Questions {
			fmt.Fprintf(&s.out, "question %s: %s %s %s\n", q.ID, q.Prompt.Server, q.Prompt.Tool, q.Prompt.Arguments)
		}
		for _, one := range said.Steered {
			fmt.Fprintf(&s.out, "steered %x: taken %v %s\n", one.Input[:2], one.Taken, one.Why)
		}
		if said.Over {
			s.open = false
			fmt.Fprintf(&s.out, "over, tools %v %s\n", said.Tools, said.Mark)
		}
	}
}

// play does some steps and gives all that followed.
func play(steps ...string) string {
	s := newStage()
	for _, step := range steps {
		s.do(step)
	}
	return s.out.String()
}

// The real CLI's lines, each played to its end. They are recorded by the tests of
// cmd/acceptance that begin with TestRealClaude, with -record-dialogues.
func TestRecordedDialogues(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/stream/*.script")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newStage()
			for line := range bytes.Lines(script) {
				s.do(strings.TrimSuffix(string(line), "\n"))
			}
			if s.open {
				t.Error("the turn is not over")
			}
			golden := strings.TrimSuffix(file, "script") + "facts"
			if *updateStream {
				if err := os.WriteFile(golden, []byte(s.out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if s.out.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", s.out.String(), want)
			}
		})
	}
}

// Whatever else the CLI says or leaves out, nothing panics and what is written to it is
// JSON: it ends itself at anything else.
func FuzzStream(f *testing.F) {
	files, _ := filepath.Glob("testdata/stream/*.script")
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(script)
	}
	f.Add([]byte("host\nask\n{\"type\":\"control_response\",\"response\":{\"request_id\":\"host-1\"}}\nsteer\ninterrupt\n{\"type\":\"control_request\",\"request_id\":\"q\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"x\",\"input\":7}}\npermit q yes\n"))
	f.Fuzz(func(t *testing.T, script []byte) {
		s := newStage()
		s.do("hello")
		for line := range bytes.Lines(script) {
			if strings.HasPrefix(string(line), "ask") && s.open {
				continue // the engine asks one turn at a time
			}
			s.do(strings.TrimSuffix(string(line), "\n"))
			s.do("< " + string(line))
		}
		if strings.Contains(s.out.String(), "no JSON: ") {
			t.Error(s.out.String())
		}
	})
}

const (
	isReady = `< {"type":"control_response","response":{"subtype":"success","request_id":"host-1","response":{}}}`
	runs    = `< {"type":"system","subtype":"session_state_changed","state":"running"}`
	isIdle  = `< {"type":"system","subtype":"session_state_changed","state":"idle"}`
	result  = `< {"type":"result","subtype":"success","is_error":false,"result":"done","usage":{"input_tokens":1,"output_tokens":1}}`
	// The uuids of the first turn's prompt and of the first message for it.
	prompt1 = "01000000-0000-0000-0000-000000000000"
	steer1  = "f0010000-0000-0000-0000-000000000000"
)

func became(uuid, state string) string {
	return fmt.Sprintf(`< {"type":"command_lifecycle","command_uuid":%q,"state":%q}`, uuid, state)
}

func TestStreamOutOfProtocol(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]string{
		"refused":          {"hello", `< {"type":"control_response","response":{"subtype":"error","request_id":"host-1","error":"not you"}}`},
		"another language": append([]string{"hello"}, slices.Repeat([]string{"< Segmentation fault"}, 200)...),
		"of its own":       {"hello", isReady, "ask", runs, result, isIdle, runs},
	} {
		if got := play(steps...); !strings.Contains(got, "broken: ") {
			t.Errorf("%s was taken:\n%s", name, got)
		}
	}
}

// What nobody can answer is refused at once: the CLI would wait for ever.
func TestStreamQuestionsOfNobody(t *testing.T) {
	t.Parallel()
	ask := func(request string) string {
		return `< {"type":"control_request","request_id":"q-1","request":` + request + `}`
	}
	tool := ask(`{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}`)
	for name, steps := range map[string][]string{
		"between turns":       {"hello", isReady, tool},
		"of an unknown kind":  {"hello", isReady, "ask", ask(`{"subtype":"hook_callback"}`)},
		"of none":             {"hello", isReady, "ask", `< {"type":"control_request","request_id":"q-1"}`},
		"without a tool":      {"hello", isReady, "ask", ask(`{"subtype":"can_use_tool"}`)},
		"of a turn to be end": {"hello", isReady, "ask", "interrupt", tool},
	} {
		got := play(steps...)
		if !strings.Contains(got, `"request_id":"q-1"`) || strings.Contains(got, "question q-1") || strings.Contains(got, `"allow"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	s := newStage()
	s.r.Permissions = spec.WorkspaceWrite
	for _, step := range []string{"hello", isReady, "ask", tool} {
		s.do(step)
	}
	if got := s.out.String(); !strings.Contains(got, `"behavior":"deny"`) {
		t.Errorf("where nobody is asked: %s", got)
	}
	withdrawn := play("hello", isReady, "ask", tool, `< {"type":"control_cancel_request","request_id":"q-1"}`, "permit q-1 yes")
	if !strings.Contains(withdrawn, "question q-1") || strings.Contains(withdrawn, `"allow"`) {
		t.Errorf("a question that was withdrawn: %s", withdrawn)
	}
}

// A turn is over when the CLI has answered, is idle, and runs nothing any more; never
// by an idle that belongs to what was before.
func TestStreamTurnsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps []string
		over  bool
	}{
		"answered":                    {[]string{runs, became(prompt1, "started"), result, isIdle}, true},
		"not idle":                    {[]string{runs, result}, false},
		"idle from before":            {[]string{isIdle, runs, became(prompt1, "started")}, false},
		"given up":                    {[]string{runs, became(prompt1, "cancelled"), isIdle}, true},
		"more to come":                {[]string{runs, "steer", result, isIdle}, false},
		"more came":                   {[]string{runs, "steer", result, isIdle, runs, became(steer1, "started"), result, isIdle}, true},
		"more is under way":           {[]string{runs, "steer", result, isIdle, runs, became(steer1, "started"), isIdle}, false},
		"interrupt is not answered":   {[]string{runs, "interrupt", result, isIdle}, false},
		"something goes on":           {[]string{runs, `< {"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"t1"}]}`, result, isIdle}, false},
		"something had gone on":       {[]string{runs, `< {"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"t1"}]}`, result, isIdle, `< {"type":"control_response","response":{"subtype":"success","request_id":"host-2"}}`}, true},
		"something cannot be stopped": {[]string{runs, `< {"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"t1"}]}`, result, isIdle, `< {"type":"control_response","response":{"subtype":"error","request_id":"host-2","error":"no"}}`}, true},
	} {
		got := play(append([]string{"hello", isReady, "ask"}, c.steps...)...)
		if strings.Contains(got, "over, ") != c.over || strings.Contains(got, "broken") {
			t.Errorf("%s: over %v\n%s", name, !c.over, got)
		}
		if n := strings.Count(got, "verdict final"); c.over && name != "given up" && n != 1 {
			t.Errorf("%s: %d final verdicts\n%s", name, n, got)
		}
	}
}

// A message that the turn cannot take is given back, and the CLI does not get it.
func TestStreamSteersWhatRuns(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]string{
		"before a turn":    {"hello", isReady, "steer"},
		"after it":         {"hello", isReady, "ask", runs, result, isIdle, "steer"},
		"after the answer": {"hello", isReady, "ask", runs, result, "steer"},
		"being stopped":    {"hello", isReady, "ask", runs, "interrupt", "steer"},
		"not begun":        {"hello", isReady, "host", "ask", "steer"},
	} {
		got := play(steps...)
		if !strings.Contains(got, "steered f001: taken false the turn ") || strings.Contains(got, steer1) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := play("hello", isReady, "ask", runs, "steer", "steer", became(steer1, "queued"), became(steer1, "started"), became(steer1, "completed")); strings.Count(got, "steered ") != 1 || !strings.Contains(got, "steered f001: taken true") {
		t.Errorf("told of twice, or not: %s", got)
	}
}

// The turn's own address of the caller's functions goes by standard input, before its
// prompt; a turn without takes the last one away.
func TestStreamCarriesFunctions(t *testing.T) {
	t.Parallel()
	equipped := `< {"type":"control_response","response":{"subtype":"success","request_id":"host-%d","response":{"added":["host"],"errors":{}}}}`
	got := play("hello", isReady, "host", "ask", "between", fmt.Sprintf(equipped, 2), runs, result, isIdle, "host none", "ask", fmt.Sprintf(equipped, 3), runs, result, isIdle, "ask")
	at := 0
	for _, want := range []string{
		`"servers":{"host":{"type":"http","url":"http://127.0.0.1:1/mcp","headers":{"Authorization":"Bearer tok-1"}}}`, `"type":"user"`, "over",
		`"servers":{}`, `"type":"user"`, "over", `"type":"user"`,
	} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("%s does not follow in %s", want, got)
		}
		at += i + len(want)
	}
	for name, steps := range map[string][]string{
		"not taken":   {"hello", isReady, "host", "ask", `< {"type":"control_response","response":{"subtype":"error","request_id":"host-2","error":"no"}}`},
		"interrupted": {"hello", isReady, "host", "ask", "interrupt", fmt.Sprintf(equipped, 2)},
	} {
		if got := play(steps...); !strings.Contains(got, "over, ") || strings.Contains(got, `"type":"user"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What differs from process to process is in what the engine compares: the settings
// that are arguments, files and variables. A turn's own directory, prompt and functions
// are not.
func TestStreamRunner(t *testing.T) {
	t.Parallel()
	a := &claudecode.Adapter{}
	runner := func(change func(r *agent.Request)) *agent.Runner {
		r := adaptertest.Request(a)
		r.LLM = agent.LLM{BaseURL: "http://127.0.0.1:18080", APIKey: "sk-secret"}
		r.MCP = map[string]spec.MCPServer{"docs": {URL: "https://mcp.example.com", Headers: map[string]string{"Authorization": "Bearer tok-1"}}}
		if change != nil {
			change(r)
		}
		if err := a.ValidatePersistent(r); err != nil {
			t.Fatal(err)
		}
		run, err := a.Runner(r)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	said := func(run *agent.Runner) string {
		return fmt.Sprintf("%q %q %q %s %v", run.Args, run.Env, run.Files, run.Dir, run.Once)
	}
	plain := runner(nil)
	if !plain.Bound || plain.Threads != 1 || plain.Once || plain.Dir != "/workspace" || len(plain.Resume) != 0 {
		t.Errorf("runner %+v", plain)
	}
	if all := fmt.Sprintf("%q %q", plain.Args, plain.Files); strings.Contains(all, "tok-1") || strings.Contains(all, "sk-secret") || !slices.Contains(plain.Env, "ANTHROPIC_API_KEY=sk-secret") {
		t.Errorf("secrets of %+v", plain)
	}
	for name, change := range map[string]func(*agent.Request){
		"model": func(r *agent.Request) { r.Model = "claude-sonnet-4-5" }, "instructions": func(r *agent.Request) { r.Instructions = "be brief" },
		"effort": func(r *agent.Request) { r.Reasoning.Effort = "high" }, "permissions": func(r *agent.Request) { r.Permissions = spec.ReadOnly },
		"schema": func(r *agent.Request) {
			r.Text = spec.TextFormat{Type: "json_schema", Schema: json.RawMessage(`{"type":"object"}`)}
		},
		"max turns": func(r *agent.Request) { r.Limits.MaxTurns = 3 }, "budget": func(r *agent.Request) { r.Limits.MaxUSD = 1 },
		"servers": func(r *agent.Request) { r.MCP = nil }, "workspace": func(r *agent.Request) { r.Workspace = "/elsewhere" },
		"key": func(r *agent.Request) { r.LLM.APIKey = "sk-other" }, "home": func(r *agent.Request) { r.Home = "/home/other" },
		"subagents": func(r *agent.Request) { r.MultiAgent.Disabled = true },
		"functions": func(r *agent.Request) {
			r.Host, r.Functions = &agent.HostServer{Name: "host", TokenEnv: "T", Token: "tok-2"}, []spec.Function{{Name: "f"}}
		},
	} {
		if got := runner(change); said(got) == said(plain) {
			t.Errorf("with another %s the same runner would be taken", name)
		}
	}
	host := func(token string) func(*agent.Request) {
		return func(r *agent.Request) {
			r.Host = &agent.HostServer{Name: "host", URL: "http://127.0.0.1/" + token, TokenEnv: "T", Token: token}
		}
	}
	for name, pair := range map[string][2]*agent.Runner{
		"prompts":   {plain, runner(func(r *agent.Request) { r.Prompt, r.Turn = "another", event.ID{7} })},
		"addresses": {runner(host("tok-2")), runner(host("tok-3"))},
	} {
		if said(pair[0]) != said(pair[1]) {
			t.Errorf("other %s give another runner:\n%s\n%s", name, said(pair[0]), said(pair[1]))
		}
	}
	if again := runner(func(r *agent.Request) { r.Native = "252c12ba-c92a-48eb-91f5-a2251e3b478d" }); said(again) != said(plain) || !slices.Equal(again.Resume, []string{"--resume", "252c12ba-c92a-48eb-91f5-a2251e3b478d"}) {
		t.Errorf("resumed by %+v", again)
	}
	if asks := runner(func(r *agent.Request) { r.Permissions = spec.Ask }); !strings.Contains(strings.Join(asks.Args, " "), "--permission-prompt-tool stdio") {
		t.Errorf("arguments %q", asks.Args)
	}
	if once := runner(func(r *agent.Request) { r.Limits.MaxUSD = 1 }); !once.Once {
		t.Error("a budget of one turn counts over all of the process")
	}
}
