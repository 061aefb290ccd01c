package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/command"
)

// declare reads a definition as the configuration file has it.
func declare(t testing.TB, text string) *command.Adapter {
	t.Helper()
	var cfg command.Config
	if err := yaml.UnmarshalWithOptions([]byte(text), &cfg, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	a, err := command.New("aider", cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const aider = `
command: [aider, --yes, --message, "{prompt}"]
prompt: argv
output: {format: text}
resume: {args: [--restore-chat-history], session_id_from: null}
llm_env: {api_key: OPENAI_API_KEY, base_url: OPENAI_API_BASE, model: AIDER_MODEL}
`

const lines = `
command: [tool, --model, "{model}", "--dir={workdir}"]
output: {format: jsonl}
jsonl: {text_path: .delta, message_path: .message.text, error_path: .error, session_path: .id, usage_path: .usage, done_path: .done}
resume: {args: [--resume, "{session_id}"]}
llm_env: {api_key: TOOL_KEY, base_url: TOOL_URL}
`

//cases:16,39,103
func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("text by argv", func(t *testing.T) {
		adaptertest.Run(t, declare(t, aider), adaptertest.Cases{AnyText: true})
	})
	t.Run("jsonl by stdin", func(t *testing.T) {
		adaptertest.Run(t, declare(t, lines), adaptertest.Cases{Dir: "testdata/jsonl", Native: "s-1", Facts: adapters.Declared})
	})
	t.Run("other arguments later", func(t *testing.T) {
		adaptertest.Run(t, declare(t, ruled), adaptertest.Cases{Native: "s-1"})
	})
	t.Run("codex dialect", func(t *testing.T) {
		adaptertest.Run(t, declare(t, "{command: [c], output: {format: jsonl-codex}}"), adaptertest.Cases{})
	})
	t.Run("claude dialect behind dashes", func(t *testing.T) {
		adaptertest.Run(t, declare(t, `{command: [c, --, "{prompt}"], prompt: argv, output: {format: jsonl-claude}, resume: {args: ["--resume={session_id}"]}}`), adaptertest.Cases{})
	})
	t.Run("cursor dialect", func(t *testing.T) {
		adaptertest.Run(t, declare(t, cursorAgent), adaptertest.Cases{Dir: "../cursor/testdata/recorded", Silent: cursorSilent})
	})
}

// ruled has other arguments on later turns and rules for its exit.
const ruled = `
binary: /opt/tool/bin/tool
command: [tool, --model, "{model}", "--ask={prompt}"]
prompt: argv
output: {format: jsonl}
jsonl: {text_path: .t, error_path: .e, session_path: .id, usage_path: .u}
resume: {argv: [tool, resume, "{session_id}", --, "{prompt}"]}
exit: {success: [0, 3], failures: {4: authentication_error, 75: rate_limited}}
`

func FuzzFeed(f *testing.F) { adaptertest.FuzzFeed(f, declare(f, lines), "testdata/jsonl") }

const cursorAgent = `
command: [cursor-agent, -p, --output-format, stream-json, --stream-partial-output]
prompt: stdin
output: {format: jsonl-cursor}
resume: {args: [--resume, "{session_id}"]}
`

// cursorSilent is the list of cursor.Parser's documentation.
func cursorSilent(line []byte) bool {
	for _, kind := range []string{"user", "assistant", "thinking"} {
		if strings.HasPrefix(string(line), `{"type":"`+kind+`"`) {
			return true
		}
	}
	return false
}

func FuzzFeedCursor(f *testing.F) {
	adaptertest.FuzzFeed(f, declare(f, cursorAgent), "../cursor/testdata/recorded")
}

func FuzzFeedText(f *testing.F) { adaptertest.FuzzFeed(f, declare(f, aider), "testdata/jsonl") }

func invoke(t *testing.T, a *command.Adapter, change func(*agent.Request)) *agent.Invocation {
	t.Helper()
	r := adaptertest.Request(a)
	change(r)
	if err := a.Validate(r); err != nil {
		t.Fatal(err)
	}
	inv, err := a.Invocation(r)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		change func(*agent.Request)
		want   string
	}{
		"the sample":         {aider, func(*agent.Request) {}, "--yes|--message|say hello"},
		"resumed":            {aider, func(r *agent.Request) { r.Native = "x" }, "--yes|--message|say hello|--restore-chat-history"},
		"instructions":       {aider, func(r *agent.Request) { r.Instructions = "be brief" }, "--yes|--message|be brief\n\nsay hello"},
		"no placeholder in":  {aider, func(r *agent.Request) { r.Prompt = "{model} {prompt}" }, "--yes|--message|{model} {prompt}"},
		"without a model":    {lines, func(*agent.Request) {}, "--dir=/workspace"},
		"with model and id":  {lines, func(r *agent.Request) { r.Model, r.Native = "m", "s-1" }, "--model|m|--dir=/workspace|--resume|s-1"},
		"before the dashes":  {`{command: [c, --, "{prompt}"], prompt: argv, resume: {args: [-r]}}`, func(r *agent.Request) { r.Native = "x"; r.ExtraArgs = []string{"-v"}; r.Prompt = "-- x" }, "-r|-v|--|-- x"},
		"rules, first":       {ruled, func(r *agent.Request) { r.Model = "m" }, "--model|m|--ask=say hello"},
		"rules, later":       {ruled, func(r *agent.Request) { r.Model, r.Native, r.ExtraArgs = "m", "s-1", []string{"-v"}; r.Prompt = "-x" }, "resume|s-1|-v|--|-x"},
		"part of an element": {`{command: [c, "--p=<{prompt}>"], prompt: argv}`, func(r *agent.Request) { r.Prompt = "-x" }, "--p=<-x>"},
	} {
		if got := strings.Join(invoke(t, declare(t, c.config), c.change).Args, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestProviderGoesByEnvironment(t *testing.T) {
	t.Parallel()
	inv := invoke(t, declare(t, aider), func(r *agent.Request) {
		r.Model, r.LLM = "m", agent.LLM{APIKey: "sk-secret", BaseURL: "https://llm.example.com/v1"}
	})
	if want := []string{"OPENAI_API_KEY=sk-secret", "OPENAI_API_BASE=https://llm.example.com/v1", "AIDER_MODEL=m"}; !slices.Equal(inv.Env, want) {
		t.Errorf("environment %q, want %q", inv.Env, want)
	}
}

func TestExitIsVerdictWhereNothingElseIs(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]bool{
		`{command: [c]}`: true,
		`{command: [c], output: {format: jsonl}, jsonl: {text_path: .t}}`:                   true,
		`{command: [c], output: {format: jsonl}, jsonl: {text_path: .t, done_path: .done}}`: false,
		`{command: [c], output: {format: jsonl-codex}}`:                                     false,
		`{command: [c], output: {format: jsonl-claude}}`:                                    false,
	} {
		if got := invoke(t, declare(t, config), func(*agent.Request) {}).ExitIsVerdict; got != want {
			t.Errorf("%s: %t", config, got)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	a := declare(t, `{command: [c, "{prompt}"], prompt: argv}`)
	for name, c := range map[string]struct {
		change func(*agent.Request)
		code   event.Code
		param  string
	}{
		"read only":   {func(r *agent.Request) { r.Permissions = spec.ReadOnly }, event.PermissionUnsupported, "permissions"},
		"an option":   {func(r *agent.Request) { r.Prompt = "--help" }, event.InvalidRequest, "input"},
		"too long":    {func(r *agent.Request) { r.Prompt = strings.Repeat("x", 128<<10) }, event.InvalidRequest, "input"},
		"model":       {func(r *agent.Request) { r.Model = "m" }, event.Unsupported, "model"},
		"mcp":         {func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"a": {Command: "x"}} }, event.Unsupported, "mcp_servers"},
		"schema":      {func(r *agent.Request) { r.Text.Type = "json_schema" }, event.Unsupported, "text.format"},
		"id's dashes": {func(r *agent.Request) { r.Native = "--x" }, event.ResumeLost, ""},
	} {
		r := adaptertest.Request(a)
		c.change(r)
		f, ok := event.AsFailure(a.Validate(r))
		if !ok || f.Code != c.code || f.Param != c.param {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestWrongDefinitionsNameTheirKey(t *testing.T) {
	t.Parallel()
	for config, key := range map[string]string{
		`{}`:                                      "command",
		`{command: ["{prompt}"], prompt: argv}`:   "command[0]",
		`{command: [c, "x{what}"]}`:               "command[1]",
		`{command: [c], prompt: argv}`:            "command",
		`{command: [c, "{prompt}"]}`:              "command",
		`{command: [c], prompt: pipe}`:            "prompt",
		`{command: [c], output: {format: xml}}`:   "output.format",
		`{command: [c], output: {format: jsonl}}`: "jsonl",
		`{command: [c], output: {format: jsonl}, jsonl: {text_path: text}}`:                                 "jsonl.text_path",
		`{command: [c], output: {format: jsonl}, jsonl: {text_path: .a..b}}`:                                "jsonl.text_path",
		`{command: [c], jsonl: {done_path: .d}}`:                                                            "jsonl.done_path",
		`{command: [c], resume: {args: ["{session_id}"]}}`:                                                  "resume.args",
		`{command: [c], output: {format: jsonl}, jsonl: {text_path: .t}, resume: {args: ["{session_id}"]}}`: "resume.args",
		`{command: [c], resume: {args: ["{prompt}"]}}`:                                                      "resume.args",
		`{command: [c], resume: {args: ["{id}"]}}`:                                                          "resume.args[0]",
		`{command: [c], llm_env: {api_key: "A B"}}`:                                                         "llm_env.api_key",
		`{command: [c], llm_env: {api_key: A, model: A}}`:                                                   "llm_env.model",
		`{binary: "{model}", command: [c]}`:                                                                 "binary",
		`{command: [c], resume: {argv: []}}`:                                                                "resume.argv",
		`{command: [c], resume: {argv: [d]}}`:                                                               "resume.argv[0]",
		`{command: [c], resume: {argv: [c, "{what}"]}}`:                                                     "resume.argv[1]",
		`{command: [c], resume: {argv: [c, "{session_id}"]}}`:                                               "resume.argv",
		`{command: [c], resume: {argv: [c], args: [d]}}`:                                                    "resume.argv",
		`{command: [c, "{prompt}"], prompt: argv, resume: {argv: [c]}}`:                                     "resume.argv",
		`{command: [c], exit: {success: [256]}}`:                                                            "exit.success[0]",
		`{command: [c], output: {format: jsonl-claude}, exit: {success: [1]}}`:                              "exit.success",
		`{command: [c], exit: {failures: {"x": cli_crashed}}}`:                                              "exit.failures.x",
		`{command: [c], exit: {failures: {"0": cli_crashed}}}`:                                              "exit.failures.0",
		`{command: [c], exit: {failures: {"3": no_verdict}}}`:                                               "exit.failures.3",
		`{prompt: pipe, output: {format: xml}, exit: {success: [-1]}}`:                                      "prompt command output.format exit.success exit.success[0]",
	} {
		var cfg command.Config
		if err := yaml.Unmarshal([]byte(config), &cfg); err != nil {
			t.Fatal(err)
		}
		_, err := command.New("x", cfg)
		var named []string
		for _, wrong := range command.KeyErrors(err) {
			named = append(named, wrong.Key)
		}
		if got := strings.Join(named, " "); got != key {
			t.Errorf("%s: keys %s, want %s (%v)", config, got, key, err)
		}
	}
	if _, err := command.New("X y", command.Config{Command: []string{"c"}}); err == nil {
		t.Error("a bad name was taken")
	}
}

func read(a *command.Adapter, exit agent.Exit, text string) *adaptertest.Reading {
	return adaptertest.Read(a.NewParser(adaptertest.Request(a)), &adaptertest.Transcript{Lines: adaptertest.Lines([]byte(text)), Exit: exit})
}

func TestTextIsOneMessage(t *testing.T) {
	t.Parallel()
	a := declare(t, aider)
	got := read(a, agent.Exit{}, "\n\x1b[32mone\x1b[0m\r\n\n  two\xff\n\n")
	if !slices.Equal(got.Texts(), []string{"one\n\n  two\uFFFD"}) || got.Verdict != nil {
		t.Errorf("texts %q, verdict %+v", got.Texts(), got.Verdict)
	}
	if got.Native != (event.ID{1}).Hex() {
		t.Errorf("a CLI that resumes by itself is told about: %q", got.Native)
	}
	if once := read(declare(t, "{command: [c]}"), agent.Exit{}, "x"); once.Native != "" {
		t.Errorf("one that does not resume has the id %q", once.Native)
	}
}

func TestLinesByPath(t *testing.T) {
	t.Parallel()
	open := `{command: [c], output: {format: jsonl}, jsonl: {text_path: .c.0.t, message_path: .m, error_path: .e, usage_path: .u}}`
	for name, c := range map[string]struct {
		config, output string
		exit           agent.Exit
		texts          []string
		completed      bool
		code           event.Code
	}{
		"pieces":                {open, `{"c":[{"t":"a"}]}` + "\n" + `{"c":[{"t":"b"}]}`, agent.Exit{}, []string{"ab"}, true, ""},
		"pieces, then all":      {open, `{"c":[{"t":"a"}]}` + "\n" + `{"m":"ab"}` + "\n" + `{"m":"c"}`, agent.Exit{}, []string{"ab", "c"}, true, ""},
		"another message":       {open, `{"c":[{"t":"a"}]}` + "\n" + `{"m":"x"}`, agent.Exit{}, []string{"a", "x"}, true, ""},
		"error, then answer":    {open, `{"e":"rate limit"}` + "\n" + `{"m":"x"}`, agent.Exit{}, []string{"x"}, true, ""},
		"answer, then error":    {open, `{"m":"x"}` + "\n" + `{"e":{"message":"rate limit"}}`, agent.Exit{}, []string{"x"}, false, event.RateLimited},
		"a bad exit":            {open, `{"e":"no such thing"}`, agent.Exit{Code: 3}, nil, false, event.CLICrashed},
		"done":                  {lines, `{"delta":"a"}` + "\n" + `{"done":true,"usage":{"prompt_tokens":3,"completion_tokens":4}}`, agent.Exit{Code: 1}, []string{"a"}, true, ""},
		"done false":            {lines, `{"delta":"a","done":false}`, agent.Exit{}, []string{"a"}, false, ""},
		"noise and odd values":  {lines, "npm warn\n{\"delta\":5}\n[1]\n{\"delta\":\"a\"}\n{\"done\":1}", agent.Exit{}, []string{"a"}, true, ""},
		"done with an error":    {lines, `{"done":true,"error":"quota exceeded"}`, agent.Exit{}, nil, false, event.UsageLimited},
		"something after done":  {lines, `{"delta":"a"}` + "\n" + `{"done":true}` + "\n" + `{"delta":"b"}`, agent.Exit{}, []string{"a", "b"}, true, ""},
		"two texts in one line": {lines, `{"delta":"a","message":{"text":"a"}}` + "\n" + `{"done":true}`, agent.Exit{}, []string{"a"}, true, ""},
	} {
		a := declare(t, c.config)
		got := read(a, c.exit, c.output)
		if !slices.Equal(got.Texts(), c.texts) {
			t.Errorf("%s: texts %q, want %q", name, got.Texts(), c.texts)
		}
		if got.Completed(c.exit, false) != c.completed {
			t.Errorf("%s: verdict %+v", name, got.Verdict)
		}
		if c.code != "" && (got.Verdict == nil || got.Verdict.Failure == nil || got.Verdict.Failure.Code != c.code) {
			t.Errorf("%s: verdict %+v, want %s", name, got.Verdict, c.code)
		}
	}
}

func TestTheExitIsReadWhereTheOutputIsSilent(t *testing.T) {
	t.Parallel()
	text := `{command: [c], exit: {success: [0, 3], failures: {4: authentication_error, 75: rate_limited}}}`
	odd := `{command: [c], exit: {success: [3]}}`
	dialect := `{command: [c], output: {format: jsonl-codex}, exit: {failures: {4: authentication_error}}}`
	for name, c := range map[string]struct {
		config, output string
		exit           agent.Exit
		completed      bool
		code           event.Code
		says           string
	}{
		"text, good":             {text, "a", agent.Exit{Code: 3}, true, "", ""},
		"text, named":            {text, "a", agent.Exit{Code: 75, Stderr: "again later\n"}, false, event.RateLimited, "aider ended with exit status 75: again later"},
		"text, by its words":     {text, "a", agent.Exit{Code: 1, Stderr: "Error: invalid API key"}, false, event.AuthenticationError, "exit status 1: Error: invalid API key"},
		"text, nothing known":    {text, "a", agent.Exit{Code: 1, Stderr: "oh"}, false, "", ""},
		"text, killed":           {text, "a", agent.Exit{Code: -1, Signal: "killed", Stderr: "invalid api key"}, false, "", ""},
		"0 is no success":        {odd, "a", agent.Exit{}, false, event.CLICrashed, "exit status 0"},
		"3 is":                   {odd, "a", agent.Exit{Code: 3}, true, "", ""},
		"lines, good":            {ruled, `{"t":"a","u":{"input_tokens":1}}`, agent.Exit{Code: 3}, true, "", ""},
		"lines, error and named": {ruled, `{"e":"no"}`, agent.Exit{Code: 4}, false, event.AuthenticationError, "exit status 4"},
		"dialect, named":         {dialect, `{"type":"turn.started"}`, agent.Exit{Code: 4, Stderr: "no"}, false, event.AuthenticationError, "exit status 4: no"},
		"dialect, its verdict":   {dialect, `{"type":"turn.completed"}`, agent.Exit{Code: 4}, true, "", ""},
	} {
		got := read(declare(t, c.config), c.exit, c.output)
		if got.Completed(c.exit, invoke(t, declare(t, c.config), func(*agent.Request) {}).ExitIsVerdict) != c.completed {
			t.Errorf("%s: verdict %+v", name, got.Verdict)
		}
		var f event.Failure
		if got.Verdict != nil && got.Verdict.Failure != nil {
			f = *got.Verdict.Failure
		}
		if f.Code != c.code || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %+v, want %s", name, f, c.code)
		}
	}
	if got := read(declare(t, ruled), agent.Exit{Code: 3}, `{"t":"a","u":{"input_tokens":1}}`); got.Verdict == nil || got.Verdict.Usage == nil {
		t.Errorf("no usage: %+v", got.Verdict)
	}
}

// A declared CLI that speaks a dialect is held to the trouble of that dialect.
//
//cases:8,28,31,33,34,35,37,38,42,46,47
func TestDialectsMeetTheirTrouble(t *testing.T) {
	t.Parallel()
	for dialect, folder := range map[string]string{"jsonl-codex": "codex", "jsonl-claude": "claudecode", "jsonl-cursor": "cursor"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			adaptertest.RunExpected(t, declare(t, "{command: [c], output: {format: "+dialect+"}}"), "../"+folder+"/testdata/cases")
		})
	}
}

func TestDialectsAreReused(t *testing.T) {
	t.Parallel()
	codex := declare(t, "{command: [c], output: {format: jsonl-codex}}")
	got := read(codex, agent.Exit{}, `{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"ok"}}`+"\n"+`{"type":"turn.completed"}`)
	if !slices.Equal(got.Texts(), []string{"ok"}) || !got.Verdict.Final {
		t.Errorf("texts %q, verdict %+v", got.Texts(), got.Verdict)
	}
	claude := declare(t, "{command: [c], output: {format: jsonl-claude}}")
	got = read(claude, agent.Exit{}, `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"1","name":"Grep","input":{}}]}}`+"\n"+`{"type":"result","is_error":false,"subtype":"success","result":"ok"}`)
	if !slices.Equal(got.Texts(), []string{"ok"}) || got.Items[0].Server != "aider" {
		t.Errorf("items %+v", got.Items)
	}
}

func TestQuickLinesAreReadAsOthers(t *testing.T) {
	t.Parallel()
	for _, paths := range []string{
		"{text_path: .delta, message_path: .message.text, error_path: .error, session_path: .id, usage_path: .usage, done_path: .done}",
		"{text_path: .message.delta, message_path: .message.text, error_path: .message, session_path: .message.id, usage_path: .usage}",
		"{text_path: .message.delta.text, error_path: .message.error, done_path: .message.delta.done, session_path: .id}",
		"{text_path: .delta, done_path: .delta, session_path: .id, usage_path: .id.usage}",
	} {
		a := declare(t, "{command: [tool], output: {format: jsonl}, jsonl: "+paths+"}")
		adaptertest.SpacedParser(t, a,
			`{"delta":"from \"the\"\nmodel","id":"s-1","n":7,"error":null,"done":false}`,
			`{"id":"s-1","message":{"delta":"é","id":"s-1","text":null,"error":false},"usage":null}`,
			`{"id":"s-2","delta":"x","message":{"delta":{"text":"so","done":0}},"usage":false}`,
			`{"delta":"","message":{"text":"whole","delta":"so"},"id":"s-1"}`,
			`{"delta":{"text":"a"},"message":[{"text":"b"}],"error":"no","done":true}`)
	}
}

// Not parallel: it counts allocations.
func TestDeclaredPiecesAreCheap(t *testing.T) {
	const line = `{"id":"s-1","delta":"from \"the\"\nfake model","error":null}`
	for text, def := range map[string]string{line: lines, `{"type":"piece","message":{"delta":"from the model","n":1},"done":false}`: deep} {
		a := declare(t, def)
		p := a.NewParser(adaptertest.Request(a))
		var out agent.Batch
		p.Feed([]byte(text), &out)
		if last := out.Facts[len(out.Facts)-1]; last.Kind != agent.FactText {
			t.Fatalf("%s: %+v", text, last)
		}
		raw := make([]byte, len(text))
		if n := testing.AllocsPerRun(1000, func() {
			out.Reset()
			copy(raw, text)
			p.Feed(raw, &out)
		}); n > 0.1 {
			t.Errorf("%.2f allocations for %s", n, text)
		}
	}
}

const deep = "{command: [tool], output: {format: jsonl}, jsonl: {text_path: .message.delta, message_path: .message.text, done_path: .done}}"

func BenchmarkFeedText(b *testing.B) {
	adaptertest.BenchFeed(b, declare(b, aider), "A line of an answer, of which there are many.")
}

func BenchmarkFeedLine(b *testing.B) {
	adaptertest.BenchFeed(b, declare(b, lines), `{"delta":"from \"the\"\nfake model"}`)
}
