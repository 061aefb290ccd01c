package acp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/acp"
	"github.com/agenthost/agenthost/adapters/adaptertest"
)

// modes are those of a CLI that has a mode for each permission.
var modes = map[string]acp.Mode{"read_only": {ID: "plan"}, "workspace_write": {ID: "edit"}, "full_access": {ID: "yolo"}, "ask": {ID: "default"}}

func declared(t testing.TB, change func(*acp.Config)) *acp.Adapter {
	t.Helper()
	c := acp.Config{Command: []string{"someagent", "acp"}, Env: acp.Env{APIKey: "SOME_KEY", BaseURL: "SOME_URL"}, Modes: modes}
	if change != nil {
		change(&c)
	}
	a, err := acp.Declare("someagent", c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func stage(t testing.TB, a *acp.Adapter, change func(*agent.Request)) *adaptertest.Stage {
	t.Helper()
	return adaptertest.NewStage(a, func() *agent.Request {
		r := adaptertest.Request(a)
		r.Permissions = spec.Ask
		if change != nil {
			change(r)
		}
		return r
	})
}

const (
	greeted  = "hello\n< {\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true,\"mcpCapabilities\":{\"http\":true},\"sessionCapabilities\":{\"close\":{}}}}}\n"
	prompted = greeted + "ask 1\n< {\"id\":2,\"result\":{\"sessionId\":\"s1\"}}\n< {\"id\":3,\"result\":{}}\n"
)

func update(session, body string) string {
	return fmt.Sprintf(`< {"method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, body) + "\n"
}

func said(session, text string) string {
	return update(session, fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, text))
}

func question(id int, session, call string) string {
	return fmt.Sprintf(`< {"id":%d,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":%s,"options":[{"optionId":"for-ever","kind":"allow_always"},{"optionId":"now","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}`, id, session, call) + "\n"
}

func has(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in\n%s", w, text)
		}
	}
}

func hasNot(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(text, w) {
			t.Errorf("%q is in\n%s", w, text)
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.RunPersistent(t, declared(t, nil), "", func() *agent.Request { return adaptertest.Request(declared(t, nil)) })
}

// Two sessions of one process: what is said in one is not said in the other, and each
// has its own directory, servers and permissions.
func TestSessionsOfOneProcess(t *testing.T) {
	t.Parallel()
	n := 0
	s := stage(t, declared(t, nil), func(r *agent.Request) {
		if n++; n == 2 {
			r.Permissions, r.Workspace = spec.ReadOnly, "/other"
			r.MCP = map[string]spec.MCPServer{"docs": {URL: "https://mcp.example.com", Headers: map[string]string{"X": "tok-2"}}}
		}
	})
	s.Whole = true
	s.Play(greeted + "ask 1\nask 2\n" +
		"< {\"id\":3,\"result\":{\"sessionId\":\"s2\"}}\n< {\"id\":2,\"result\":{\"sessionId\":\"s1\"}}\n< {\"id\":4,\"result\":{}}\n< {\"id\":5,\"result\":{}}\n" +
		said("s2", "two") + said("s1", "one") + said("s3", "nobody's") +
		question(70, "s1", `{"toolCallId":"a","kind":"execute","rawInput":{"command":"ls"}}`) + question(71, "s2", `{"toolCallId":"b","kind":"execute","rawInput":{"command":"rm"}}`) +
		"permit 2 70 yes\npermit 1 70 yes\n" +
		"< {\"id\":6,\"result\":{\"stopReason\":\"end_turn\"}}\n< {\"id\":8,\"result\":{}}\n" + said("s2", "late") + said("s1", " more") +
		"< {\"id\":7,\"result\":{\"stopReason\":\"end_turn\"}}\n< {\"id\":9,\"result\":{}}\n")
	text := s.Text()
	has(t, text, `"cwd":"/workspace","mcpServers":[]`, `"cwd":"/other","mcpServers":[{"headers":[{"name":"X","value":"tok-2"}],"name":"docs","type":"http","url":"https://mcp.example.com"}]`,
		`"modeId":"plan","sessionId":"s2"`, `"modeId":"default","sessionId":"s1"`, "\ntext /text/1 \"one\"", "turn 2: text /text/1 \"two\"",
		`"id":71,"result":{"outcome":{"optionId":"no"`, `"id":70,"result":{"outcome":{"optionId":"now"`, "turn 2: done /text/1 message text=\"two\"", "done /text/2 message text=\" more\"")
	hasNot(t, text, "nobody's", "late", "for-ever")
	if s.Open() != 0 {
		t.Errorf("%d turns are open", s.Open())
	}
}

func TestOutOfProtocol(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]string{
		"refused":               "hello\n< {\"id\":1,\"error\":{\"message\":\"not you\"}}\n",
		"another version":       "hello\n< {\"id\":1,\"result\":{\"protocolVersion\":2}}\n",
		"no version":            "hello\n< {\"id\":1,\"result\":{}}\n",
		"session without an id": greeted + "ask 1\n< {\"id\":2,\"result\":{}}\n",
		"end without a reason":  prompted + "< {\"id\":4,\"result\":{}}\n",
		"another language":      "hello\n" + strings.Repeat("< Segmentation fault\n", 200),
	} {
		s := stage(t, declared(t, nil), nil)
		s.Play(steps)
		if !strings.Contains(s.Text(), "broken: ") {
			t.Errorf("%s was taken:\n%s", name, s.Text())
		}
	}
}

// Each request of the CLI's is answered: it would wait for ever.
func TestQuestionsOfNobody(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		`{"id":"x","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/etc/passwd"}}`: "-32601",
		`{"id":9,"method":"terminal/create","params":{}}`:                                          "-32601",
		`{"id":9,"method":"craft/drainMidTurnQueue"}`:                                              "-32601",
		`{"id":9,"method":"session/request_permission","params":{"sessionId":"s9"}}`:               "cancelled",
		`{"id":9,"method":"session/request_permission","params":7}`:                                "cancelled",
		`{"id":9,"method":"session/request_permission"}`:                                           "cancelled",
	} {
		s := stage(t, declared(t, nil), nil)
		s.Play(greeted + "< " + q + "\n")
		has(t, s.Text(), want)
	}
}

func TestAnswersOfPermissions(t *testing.T) {
	t.Parallel()
	servers := map[string]spec.MCPServer{"docs": {Command: "docs"}}
	for name, c := range map[string]struct {
		permissions spec.Permissions
		call, want  string
	}{
		"a command, read only":       {spec.ReadOnly, `{"toolCallId":"a","kind":"execute","rawInput":{"command":"ls"}}`, `"no"`},
		"a command":                  {spec.WorkspaceWrite, `{"toolCallId":"a","kind":"execute","rawInput":{"command":"ls"}}`, `"now"`},
		"an edit":                    {spec.WorkspaceWrite, `{"toolCallId":"a","kind":"edit","locations":[{"path":"/workspace/a"},{"path":"b"}]}`, `"now"`},
		"an edit outside":            {spec.WorkspaceWrite, `{"toolCallId":"a","kind":"edit","locations":[{"path":"/workspace/../etc/x"}]}`, `"no"`},
		"a diff outside":             {spec.WorkspaceWrite, `{"toolCallId":"a","kind":"edit","content":[{"type":"diff","path":"/workspace2/x"}]}`, `"no"`},
		"an edit outside, full":      {spec.FullAccess, `{"toolCallId":"a","kind":"edit","locations":[{"path":"/etc/x"}]}`, `"now"`},
		"leaving the mode":           {spec.FullAccess, `{"toolCallId":"a","kind":"switch_mode"}`, `"no"`},
		"a server's tool, read only": {spec.ReadOnly, `{"toolCallId":"a","kind":"other","title":"mcp__docs__read"}`, `"now"`},
		"a server's tool, asked for": {spec.Ask, `{"toolCallId":"a","kind":"other","title":"docs_read","rawInput":{"q":1}}`, `question 70: docs read {"q":1}`},
		"the host's own":             {spec.Ask, `{"toolCallId":"a","kind":"other","title":"host_call"}`, `"now"`},
		"what else is asked":         {spec.Ask, `{"toolCallId":"a","kind":"fetch","title":"webfetch","rawInput":{"url":"u"}}`, `question 70:  webfetch {"url":"u"}`},
	} {
		s := stage(t, declared(t, nil), func(r *agent.Request) {
			r.Permissions, r.MCP = c.permissions, servers
			r.Host = &agent.HostServer{Name: "host", URL: "http://127.0.0.1:1/x", Token: "t"}
		})
		s.Play(prompted + question(70, "s1", c.call))
		if !strings.Contains(s.Text(), c.want) {
			t.Errorf("%s: %s is not in\n%s", name, c.want, s.Text())
		}
	}
}

// An interrupt that comes before the prompt keeps it back; one behind it withdraws what
// is still asked.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, early := range []string{greeted + "ask 1\ninterrupt 1\n< {\"id\":2,\"result\":{\"sessionId\":\"s1\"}}\n", greeted + "ask 1\n< {\"id\":2,\"result\":{\"sessionId\":\"s1\"}}\ninterrupt 1\n< {\"id\":3,\"result\":{}}\n"} {
		s := stage(t, declared(t, nil), nil)
		s.Play(early)
		has(t, s.Text(), "verdict final cancelled", "session/close")
		hasNot(t, s.Text(), "session/prompt")
	}
	s := stage(t, declared(t, nil), nil)
	s.Play(prompted + question(70, "s1", `{"toolCallId":"a","kind":"execute","rawInput":{"command":"ls"}}`) + "interrupt 1\ninterrupt 1\npermit 1 70 yes\n" +
		question(71, "s1", `{"toolCallId":"b"}`) + "< {\"id\":4,\"result\":{\"stopReason\":\"cancelled\"}}\ninterrupt 1\n< {\"id\":5,\"result\":{}}\n")
	has(t, s.Text(), `> 70 {"outcome":{"outcome":"cancelled"}}`, `> 71 {"outcome":{"outcome":"cancelled"}}`, "verdict final cancelled", "over")
	hasNot(t, s.Text(), "now", "started")
	if n := strings.Count(s.Text(), "session/cancel"); n != 2 {
		t.Errorf("cancelled %d times", n)
	}
}

// A turn without the mode of its permissions is none, and a CLI that leaves it is set
// back.
func TestModes(t *testing.T) {
	t.Parallel()
	s := stage(t, declared(t, nil), nil)
	s.Play(greeted + "ask 1\n< {\"id\":2,\"result\":{\"sessionId\":\"s1\"}}\n< {\"id\":3,\"error\":{\"code\":-32602,\"message\":\"what mode\"}}\n< {\"id\":4,\"result\":{}}\n")
	has(t, s.Text(), "failed invalid_request", "what mode", "over")
	hasNot(t, s.Text(), "session/prompt")

	s = stage(t, declared(t, nil), nil)
	s.Play(greeted + "ask 1\n< {\"id\":2,\"result\":{\"sessionId\":\"s1\",\"modes\":{\"currentModeId\":\"x\",\"availableModes\":[{\"id\":\"x\"},{\"id\":\"y\"}]}}}\n< {\"id\":3,\"result\":{}}\n")
	has(t, s.Text(), "failed invalid_request", "x, y", "over")
	hasNot(t, s.Text(), "session/set_mode", "session/prompt")

	s = stage(t, declared(t, nil), nil)
	s.Play(prompted + strings.Repeat(update("s1", `{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}`), 10))
	if n := strings.Count(s.Text(), "session/set_mode"); n != 9 {
		t.Errorf("set %d times", n)
	}
	has(t, s.Text(), "again and again", "session/cancel")
}

func TestModels(t *testing.T) {
	t.Parallel()
	want := func(model, opened, answer string) string {
		s := stage(t, declared(t, func(c *acp.Config) { c.Modes = nil }), func(r *agent.Request) { r.Model, r.Permissions = model, spec.FullAccess })
		s.Whole = true
		s.Play(greeted + "ask 1\n< {\"id\":2,\"result\":{\"sessionId\":\"s1\"," + opened + "}}\n" + answer)
		return s.Text()
	}
	const models = `"models":{"currentModelId":"a","availableModels":[{"modelId":"a"},{"modelId":"x/b","name":"b"}]}`
	const options = `"configOptions":[{"id":"mo","category":"model","currentValue":"a","options":[{"value":"a"},{"value":"b"}]}]`
	has(t, want("b", models, ""), `"method":"session/set_model","params":{"modelId":"x/b","sessionId":"s1"}`)
	has(t, want("b", options, ""), `"method":"session/set_config_option","params":{"configId":"mo","sessionId":"s1","value":"b"}`)
	has(t, want("a", models, ""), "session/prompt")
	has(t, want("c", models, ""), "failed model_not_found", "x/b")
	has(t, want("c", `"x":1`, ""), "failed model_not_found")
	has(t, want("b", models, "< {\"id\":3,\"error\":{\"code\":-32603,\"message\":\"no\"}}\n"), "failed invalid_request", "refused the model")
}

// A conversation is resumed, loaded or, where a CLI can neither, gone on with in its own
// process only.
func TestResume(t *testing.T) {
	t.Parallel()
	greet := func(capabilities string) string {
		return "hello\n< {\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":" + capabilities + "}}\n"
	}
	a := declared(t, func(c *acp.Config) { c.Modes = nil })
	play := func(steps string) string {
		s := stage(t, a, func(r *agent.Request) { r.Permissions = spec.FullAccess })
		s.Play(steps)
		return s.Text()
	}
	has(t, play(greet(`{"loadSession":true,"sessionCapabilities":{"resume":{}}}`)+"ask 1 s7\n"), "session/resume")
	loaded := play(greet(`{"loadSession":true}`) + "ask 1 s7\n" + said("s7", "told again") + "< {\"id\":2,\"result\":null}\n" + said("s7", "new") + "< {\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}\n")
	has(t, loaded, "session/load", `session "s7"`, "new", "over")
	hasNot(t, loaded, "told again")
	has(t, play(greet(`{}`)+"ask 1 s7\n"), "failed resume_lost", "over")
	has(t, play(greet(`{}`)+"ask 1\n< {\"id\":2,\"result\":{\"sessionId\":\"s7\"}}\n< {\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}\nask 2 s7\n< {\"id\":4,\"result\":{\"stopReason\":\"end_turn\"}}\n"),
		"turn 2: session \"s7\"", "turn 2: verdict final completed")
	has(t, play(greet(`{"loadSession":true}`)+"ask 1 s7\n< {\"id\":2,\"error\":{\"code\":-32002,\"message\":\"not found\"}}\n"), "failed resume_lost", "over")
	has(t, play(greet(`{"loadSession":true}`)+"ask 1 s7\nask 2 s7\n"), "turn 2: verdict final failed cli_crashed")
	has(t, play(greet(`{}`)+"ask 1\n< {\"id\":2,\"error\":{\"code\":-32000,\"message\":\"sign in\"}}\n"), "failed authentication_error")
}

func TestStopsAndErrors(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]string{
		`"result":{"stopReason":"end_turn"}`:                                                     "final completed",
		`"result":{"stopReason":"max_tokens"}`:                                                   "failed max_output_tokens",
		`"result":{"stopReason":"max_turn_requests"}`:                                            "failed turn_limit",
		`"result":{"stopReason":"refusal"}`:                                                      "failed invalid_request",
		`"result":{"stopReason":"bored"}`:                                                        "failed no_verdict",
		`"error":{"code":-32603,"message":"Internal error","data":{"details":"500 oh no"}}`:      "failed provider_overloaded",
		`"error":{"code":429,"message":"slow down"}`:                                             "failed rate_limited",
		`"error":{"code":-32603,"message":"Internal error: socket","data":"connection refused"}`: "failed provider_unreachable",
		`"error":{"code":-32603,"message":"x","data":{"errorName":"ContextOverflowError"}}`:      "failed context_too_long",
		`"error":{"code":-32000,"message":"sign in"}`:                                            "failed authentication_error",
		`"error":7`: "failed cli_crashed",
	} {
		s := stage(t, declared(t, nil), nil)
		s.Play(prompted + "< {\"id\":4," + end + "}\n< {\"id\":5,\"error\":{\"message\":\"not open\"}}\n")
		has(t, s.Text(), want, "over")
	}
}

// A turn that was cancelled, though nobody asked for that, breaks the protocol, but for
// one of which a call was denied.
func TestCancelledByItself(t *testing.T) {
	t.Parallel()
	const end = "< {\"id\":4,\"result\":{\"stopReason\":\"cancelled\"}}\n"
	s := stage(t, declared(t, nil), nil)
	s.Play(prompted + end)
	has(t, s.Text(), "broken: someagent cancelled a turn by itself")
	hasNot(t, s.Text(), "verdict")
	for _, p := range []spec.Permissions{spec.ReadOnly, spec.Ask} {
		s := stage(t, declared(t, nil), func(r *agent.Request) { r.Permissions = p })
		s.Play(prompted + question(70, "s1", `{"toolCallId":"a","kind":"execute","rawInput":{"command":"ls"}}`) + "permit 1 70 no\n" + end)
		has(t, s.Text(), "failed cli_crashed", "over")
		hasNot(t, s.Text(), "broken")
	}
}

// Tools of every kind, and lines that are none.
func TestTools(t *testing.T) {
	t.Parallel()
	s := stage(t, declared(t, nil), nil)
	s.Play(prompted +
		update("s1", `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"Shell","status":"pending"}`) +
		update("s1", `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","rawInput":{"command":["ls","-l"]}}`) +
		update("s1", `{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"a\n"}}]}`) +
		update("s1", `{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"a\nb\n"}}]}`) +
		update("s1", `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a\nb\n"}}],"rawOutput":{"exitCode":2}}`) +
		update("s1", `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`) +
		update("s1", `{"sessionUpdate":"tool_call","toolCallId":"d","kind":"delete","status":"completed","locations":[{"path":"/workspace/x"}]}`) +
		update("s1", `{"sessionUpdate":"tool_call","toolCallId":"e","kind":"edit","status":"completed","content":[{"type":"diff","path":"/workspace/y","oldText":"1","newText":"2"},{"type":"diff","path":"/workspace/z","newText":"2"}]}`) +
		update("s1", `{"sessionUpdate":"tool_call","toolCallId":"f","kind":"other","title":"mcp__some__tool","status":"failed","rawInput":{"a":1},"content":[{"type":"content","content":{"type":"text","text":"no"}}]}`) +
		update("s1", `{"sessionUpdate":"plan","entries":[{"content":"one","status":"completed"},{"content":"two","status":"pending"}]}`) +
		update("s1", `{"sessionUpdate":"news","text":"x"}`) + update("s1", `{"sessionUpdate":7}`) + update("s1", `7`) + update("s1", `{"sessionUpdate":"tool_call"}`) +
		"< {\"id\":4,\"result\":{\"stopReason\":\"end_turn\"}}\n")
	has(t, s.Text(), `start c command in_progress command="ls -l" cwd="/workspace"`, "output c \"a\\n\"\noutput c \"b\\n\"\n", `done c command failed command="ls -l" cwd="/workspace" output="a\nb\n" exit=2`,
		`done d file_change completed delete="/workspace/x"`, `done e file_change completed update="/workspace/y" add="/workspace/z"`,
		`done f tool_call failed server="some" tool="tool" arguments="{\"a\":1}" error="no"`, "[x] one\\n[ ] two", "unknown")
	if n := strings.Count(s.Text(), "done c "); n != 1 {
		t.Errorf("the command ended %d times", n)
	}
}

// Instructions go before the prompt once, and again when they change.
func TestInstructions(t *testing.T) {
	t.Parallel()
	a := declared(t, nil)
	ask := func(native, instructions string, carry []byte) string {
		s := stage(t, a, func(r *agent.Request) { r.Instructions, r.Carry = instructions, carry })
		s.Whole = true
		s.Play(strings.Replace(prompted, "ask 1", "ask 1 "+native, 1))
		return s.Text()
	}
	has(t, ask("", "be brief", nil), `"text":"be brief\n\nsay hello"`)
	s := stage(t, a, func(r *agent.Request) { r.Instructions = "be brief" })
	s.Play(prompted + "< {\"id\":4,\"result\":{\"stopReason\":\"end_turn\"}}\n")
	_, rest, _ := strings.Cut(s.Text(), "carry=")
	carry, _, _ := strings.Cut(rest, "\n")
	has(t, ask("s1", "be brief", []byte(carry)), `"text":"say hello"`)
	has(t, ask("s1", "be long", []byte(carry)), "be long", "instead of the earlier ones")
}

func TestPing(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`"error":{"code":-32601,"message":"Method not found"}`, `"result":{}`} {
		s := stage(t, declared(t, nil), nil)
		s.Play(greeted + "ping\n< {\"jsonrpc\":\"2.0\",\"id\":2," + answer + "}\n")
		has(t, s.Text(), "ready\n", "pong\n")
	}
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for key, change := range map[string]func(*acp.Config){
		"command":          func(c *acp.Config) { c.Command = nil },
		"llm_env.api_key":  func(c *acp.Config) { c.Env.APIKey = "1=2" },
		"modes.root":       func(c *acp.Config) { c.Modes = map[string]acp.Mode{"root": {ID: "x"}} },
		"modes.ask.answer": func(c *acp.Config) { c.Modes = map[string]acp.Mode{"ask": {ID: "x", Answer: acp.Allow}} },
		"modes.ask.mode":   func(c *acp.Config) { c.Modes = map[string]acp.Mode{"ask": {}} },
		"modes.read_only.answer": func(c *acp.Config) {
			c.Modes = map[string]acp.Mode{"read_only": {ID: "x", Answer: "sometimes"}}
		},
	} {
		c := acp.Config{Command: []string{"x"}}
		change(&c)
		if _, err := acp.Declare("x", c); err == nil || !strings.Contains(err.Error(), key+": ") {
			t.Errorf("%s: %v", key, err)
		}
	}
	a, err := acp.Declare("x", acp.Config{Command: []string{"x", "acp"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Capabilities().Permissions; !slices.Equal(got, []spec.Permissions{spec.WorkspaceWrite, spec.FullAccess}) {
		t.Errorf("without modes it can be held to %v", got)
	}
	r := adaptertest.Request(a)
	r.MCP = map[string]spec.MCPServer{"docs": {Command: "d", Allowed: []string{"a"}}}
	if f, ok := event.AsFailure(a.ValidatePersistent(r)); !ok || f.Param != "mcp_servers.docs.allowed_tools" {
		t.Errorf("a list of tools that cannot be kept: %v", f)
	}
}

// Whatever else a CLI says or leaves out, nothing panics and what is written is JSON.
func FuzzProtocol(f *testing.F) {
	for _, dir := range []string{"../qwen", "../opencode"} {
		files, _ := filepath.Glob(filepath.Join(dir, "testdata/acp/*.script"))
		for _, file := range files {
			script, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(script))
		}
	}
	f.Add(prompted + question(70, "s1", `{"toolCallId":7}`) + "interrupt 1\n< {\"id\":4}\n< {\"id\":{}}\n")
	f.Fuzz(func(t *testing.T, script string) {
		s := stage(t, declared(t, nil), func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"docs": {Command: "d"}} })
		s.Do("hello")
		for line := range strings.Lines(script) {
			s.Do(strings.TrimSuffix(line, "\n"))
			s.Do("< " + line)
		}
		if strings.Contains(s.Text(), "no JSON") {
			t.Error(s.Text())
		}
	})
}

// The next turn of a session waits until the one before has given it up, and may be
// stopped meanwhile.
func TestSessionThatIsStillClosing(t *testing.T) {
	t.Parallel()
	s := stage(t, declared(t, nil), nil)
	s.Play(prompted + "< {\"id\":4,\"result\":{\"stopReason\":\"end_turn\"}}\nask 2 s1\n")
	has(t, s.Text(), "verdict final completed", "over\n> 5 session/close"[5:])
	hasNot(t, s.Text(), "session/load")
	if s.Open() != 1 {
		t.Errorf("%d turns are open", s.Open())
	}
	s.Play("interrupt 2\n")
	has(t, s.Text(), "turn 2: verdict final cancelled", "turn 2: over")
	s.Play("ask 3 s1\n< {\"id\":5,\"result\":{}}\n< {\"id\":6,\"result\":{}}\n")
	has(t, s.Text(), "> 6 session/load", "> 7 session/set_mode")
}

// speaking is a turn that hears what its CLI says, line by line.
func speaking(t testing.TB) func(line []byte) []agent.Fact {
	s := stage(t, declared(t, nil), nil)
	s.Play(prompted)
	var talk agent.Talk
	var batch agent.Batch
	said := &agent.Said{Turn: event.ID{1}, Batch: &batch}
	return func(line []byte) []agent.Fact {
		batch.Reset()
		talk.Said = append(talk.Said[:0], said)
		s.P.Feed(line, &talk)
		for i := range line {
			line[i] = '#'
		}
		return batch.Facts
	}
}

func messageChunk(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(said("s1", text), "< "), "\n")
}

func TestQuickLinesAreReadAsOthers(t *testing.T) {
	t.Parallel()
	if got := speaking(t)([]byte(messageChunk("from \"the\"\nmodel"))); len(got) != 2 || got[1].Text != "from \"the\"\nmodel" {
		t.Fatalf("the turn does not hear: %+v", got)
	}
	adaptertest.Spaced(t, func() func([]byte) []agent.Fact { return speaking(t) }, messageChunk("from \"the\"\nmodel"), messageChunk("é"), messageChunk(""),
		`{"jsonrpc":"2.0","params":{"update":{"content":{"text":"hm","type":"text","annotations":null},"messageId":"m1","sessionUpdate":"agent_thought_chunk"},"sessionId":"s1"},"method":"session/update"}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","text":""}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"_meta":{"usage":{"inputTokens":1}}}}}`)
}

// Not parallel: it counts allocations.
func TestChunksAreCheap(t *testing.T) {
	line := messageChunk("from \"the\"\nfake model")
	feed, raw := speaking(t), make([]byte, len(line))
	if n := testing.AllocsPerRun(1000, func() {
		copy(raw, line)
		feed(raw)
	}); n > 0.1 {
		t.Errorf("%.2f allocations for %s", n, line)
	}
}

func BenchmarkFeedChunk(b *testing.B) {
	s := stage(b, declared(b, nil), nil)
	s.Play(prompted)
	line := strings.TrimSuffix(strings.TrimPrefix(said("s1", "from \"the\"\nfake model"), "< "), "\n")
	s.BenchFeed(b, line)
}
