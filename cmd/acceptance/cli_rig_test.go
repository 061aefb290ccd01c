package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/fakes/provider"
	"github.com/agenthost/agenthost/fakes/tools"
)

// cliKey is the provider key of the real CLIs; it must not be seen anywhere.
const cliKey = "sk-scripted-7f3c9a61d2e84b50"

// cliTurnLimit is for one turn of a real CLI, which takes seconds; only Qwen Code needs
// more than a minute to give up on a provider that fails.
const cliTurnLimit = 3 * time.Minute

// realCLIs are the pinned programs by adapter.
var realCLIs = map[string]string{"codex": "bin/codex", "claude-code": "bin/claude", "qwen-code": "bin/qwen", "opencode": "bin/opencode"}

// cliRig is a server whose agents are the real CLIs, run against a scripted model.
type cliRig struct {
	*rig
	provider  *provider.Server
	workspace string
}

// need is the real CLI of an adapter.
func need(t *testing.T, adapter string) string {
	t.Helper()
	if adapter == "gemini" {
		return tools.Need(t, "bin/gemini")
	}
	return tools.Need(t, realCLIs[adapter])
}

// briefly are the tests that a slow CLI plays in every run; the others are for make
// certify.
var briefly = map[string][]string{"qwen-code": {"TestRealCLIConversation", "TestFunctionCallByTranscript"}, "opencode": {"TestRealRunnerConversation"}}

// eachCLI plays a test with each real CLI, on a server of its own.
func eachCLI(t *testing.T, play func(t *testing.T, r *cliRig, adapter string)) {
	for adapter, program := range realCLIs {
		if !plays(t, adapter) {
			continue
		}
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			play(t, newCLIRig(t, adapter, tools.Need(t, program)), adapter)
		})
	}
}

func plays(t *testing.T, adapter string) bool {
	few := briefly[adapter]
	return few == nil || certifies() || slices.Contains(few, t.Name())
}

func certifies() bool { return os.Getenv("AGENTHOST_CERTIFY") != "" }

// driverVar has the whole suite run its CLIs by another driver than auto: how a
// version of a CLI is found fit for it, and that the other one still is.
const driverVar = "AGENTHOST_DRIVER"

func byDriver(adapter string) setting {
	if !slices.Contains(persistentCLIs, adapter) || adapter == "gemini" {
		return func(*rigConfig) {}
	}
	return func(c *rigConfig) {
		if d := os.Getenv(driverVar); d != "" {
			cli(adapter, map[string]any{"driver": d})(c)
		}
		limit("runner_idle", "1s")(c) // what is left is looked for after the turns
	}
}

func newCLIRig(t *testing.T, adapter, program string, settings ...setting) *cliRig {
	t.Helper()
	model := provider.New(provider.Script{Key: cliKey})
	url, err := model.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	base, pass := url+"/v1", []string{}
	if adapter == "gemini" { // it adds a version of its own; and without a model it asks one which to take
		base, pass = url, []string{"GEMINI_MODEL"}
	}
	r := &cliRig{provider: model, workspace: t.TempDir()}
	r.rig = newRig(t, append([]setting{
		func(c *rigConfig) { c.OutsideTemp = true }, // a home below the temporary directory is odd to Codex
		key("environments", map[string]any{"workspace": r.workspace}),
		cli(adapter, map[string]any{"binary": program, "passthrough_env": pass, "llm": map[string]any{"base_url_env": "ABX_LLM_BASE_URL", "api_key_env": "ABX_LLM_API_KEY"}}),
		env("ABX_LLM_BASE_URL="+base, "ABX_LLM_API_KEY="+cliKey, "GEMINI_MODEL=gemini-2.5-pro"),
		byDriver(adapter),
	}, settings...)...)
	return r
}

// can reports whether the adapter says that it has a capability, as it is run here.
func (r *cliRig) can(adapter, capability string) bool {
	r.t.Helper()
	for _, one := range r.http.ok("GET", "/v1/agents/runtimes", nil).list("data") {
		if word(one, "id") == adapter {
			able, known := at(one, "capabilities", capability).(bool)
			if !known {
				r.t.Fatalf("the runtimes do not tell %s: %v", capability, one)
			}
			return able
		}
	}
	return false
}

// verified records that a feature was seen to work with the real CLI.
func (r *cliRig) verified(t *testing.T, adapter string, features ...string) {
	t.Helper()
	version := ""
	for _, one := range r.http.ok("GET", "/v1/agents/runtimes", nil).list("data") {
		if word(one, "id") == adapter {
			version = word(one, "version")
		}
	}
	for _, f := range features {
		adaptertest.Record(t, adapter, f, agent.Verified, version)
	}
}

// told is a turn as a caller of some wire was told of it.
type told struct {
	session, turn string // hex, the same on both wires
	status        string
	text          string // of the last message
	items         []any
	code, message string // of a failed turn
	commands      []command
	files         []string // file_change arguments
}

// command is a shell command that an agent ran.
type command struct {
	line, output, status string
	exit                 any    // number on the Agents wire
	complaint            string // error text on the Responses wire
}

// asker asks for a turn on a wire; after is the turn before it, nil in a new session.
type asker func(t *testing.T, r *cliRig, adapter string, after *told, prompt string) *told

var askers = map[string]asker{
	"responses":          askResponses,
	"responses streamed": askResponsesStreamed,
	"agents":             askAgents,
	"agents streamed":    askAgentsStreamed,
}

func responsesBody(adapter string, after *told, prompt string) map[string]any {
	body := map[string]any{"model": adapter, "input": prompt}
	if after != nil {
		body["previous_response_id"] = "resp_" + after.turn
	}
	return body
}

func askResponses(t *testing.T, r *cliRig, adapter string, after *told, prompt string) *told {
	t.Helper()
	return toldByResponse(t, r.http.respond(responsesBody(adapter, after, prompt)).object)
}

func askResponsesStreamed(t *testing.T, r *cliRig, adapter string, after *told, prompt string) *told {
	t.Helper()
	body := responsesBody(adapter, after, prompt)
	body["stream"] = true
	s := r.http.open("POST", "/v1/responses", body)
	frames := s.end(cliTurnLimit)
	checkResponse(t, s)
	last, _ := at(frames[len(frames)-1].data(), "response").(map[string]any)
	var done []any
	for _, f := range frames {
		if f.kind() == "response.output_item.done" {
			done = append(done, at(f.data(), "item"))
		}
	}
	sameJSON(t, "items of the stream and of its last object", done, at(last, "output"))
	return toldByResponse(t, last)
}

func askAgents(t *testing.T, r *cliRig, adapter string, after *told, prompt string) *told {
	t.Helper()
	if after == nil {
		id := r.http.ok("POST", "/v1/agents/sessions", sessionBody(adapter, prompt)).str("id")
		return toldBySession(t, r, strings.TrimPrefix(id, "agsess_"))
	}
	if a := r.http.say("agsess_"+after.session, prompt); a.status != 202 || len(a.body) != 0 {
		t.Fatalf("input: %d %s", a.status, clip(a.body))
	}
	return toldBySession(t, r, after.session)
}

func askAgentsStreamed(t *testing.T, r *cliRig, adapter string, after *told, prompt string) *told {
	t.Helper()
	var s *stream
	var frames []frame
	if after == nil {
		body := sessionBody(adapter, prompt)
		body["stream"] = true
		s = r.http.open("POST", "/v1/agents/sessions", body)
		frames = s.end(cliTurnLimit)
	} else {
		s = r.http.events("agsess_"+after.session, "")
		r.http.say("agsess_"+after.session, prompt)
		frames = s.waitKind(cliTurnLimit, sessionEvent+"idle", 1)
	}
	o := checkSession(t, frames)
	if len(o.order) != 1 {
		t.Fatalf("turns of the stream: %v", o.order)
	}
	var session string
	var done []any
	for _, f := range frames {
		if id, ok := at(f.data(), "session_id").(string); ok {
			session = id
		}
		if f.kind() == turnEvent+"item.done" {
			done = append(done, at(f.data(), "item"))
		}
	}
	out := toldBySession(t, r, strings.TrimPrefix(session, "agsess_"))
	if "turn_"+out.turn != o.order[0] || o.ends()[0] != out.status {
		t.Errorf("the stream tells of %v %v, the turn is %s %s", o.order, o.ends(), out.turn, out.status)
	}
	sameJSON(t, "items of the stream and of the list", done, out.items)
	return out
}

func sessionBody(adapter, prompt string) map[string]any {
	return map[string]any{"agent": map[string]any{"model": adapter}, "environment": map[string]any{"type": "self_hosted"}, "input": prompt}
}

// toldByResponse reads a response object.
func toldByResponse(t *testing.T, o map[string]any) *told {
	t.Helper()
	out := &told{status: word(o, "status"), code: word(o, "error", "code"), message: word(o, "error", "message")}
	out.turn = strings.TrimPrefix(word(o, "id"), "resp_")
	out.session = strings.TrimPrefix(word(o, "conversation", "id"), "conv_")
	out.items, _ = o["output"].([]any)
	out.read(t)
	return out
}

// toldBySession waits until a session is idle and reads its newest turn.
func toldBySession(t *testing.T, r *cliRig, hex string) *told {
	t.Helper()
	path := "/v1/agents/sessions/agsess_" + hex
	r.until(cliTurnLimit, "the session is idle", func() bool { return r.http.ok("GET", path, nil).str("status") == "idle" })
	turn := r.http.ok("GET", path+"/turns?limit=1", nil).at("data", 0)
	out := &told{session: hex, turn: strings.TrimPrefix(word(turn, "id"), "turn_"), status: word(turn, "status"), code: word(turn, "error", "code"), message: word(turn, "error", "message")}
	out.items = r.http.ok("GET", path+"/turns/turn_"+out.turn+"/items?order=asc", nil).list("data")
	if len(out.items) > 0 && word(out.items[0], "role") == "user" {
		out.items = out.items[1:]
	}
	out.read(t)
	return out
}

// read takes what the tests ask for out of the items of either wire.
func (o *told) read(t *testing.T) {
	t.Helper()
	if all := texts(o.items); len(all) > 0 {
		o.text = all[len(all)-1]
	}
	for _, item := range o.items {
		switch {
		case word(item, "type") == "command_execution":
			o.commands = append(o.commands, command{line: word(item, "command"), output: word(item, "output"), status: word(item, "status"), exit: at(item, "exit_code")})
		case word(item, "type") == "mcp_call" && word(item, "name") == "command_execution":
			var args struct{ Command string }
			if err := json.Unmarshal([]byte(word(item, "arguments")), &args); err != nil {
				t.Errorf("arguments of %v: %v", item, err)
			}
			o.commands = append(o.commands, command{line: args.Command, output: word(item, "output"), status: word(item, "status"), complaint: word(item, "error", "content", 0, "text")})
		case word(item, "type") == "mcp_call" && word(item, "name") == "file_change":
			args, err := json.Marshal(at(item, "arguments"))
			if err != nil {
				t.Error(err)
			}
			o.files = append(o.files, string(args))
		}
	}
}

func word(v any, path ...any) string {
	s, _ := at(v, path...).(string)
	return s
}

func sameJSON(t *testing.T, what string, a, b any) {
	t.Helper()
	one, err1 := json.Marshal(a)
	two, err2 := json.Marshal(b)
	if err1 != nil || err2 != nil || string(one) != string(two) {
		t.Errorf("%s differ:\n%s\n%s", what, clip(one), clip(two))
	}
}

func itemIDs(items []any) []string {
	var out []string
	for _, i := range items {
		out = append(out, word(i, "id"))
	}
	return out
}

// fileOf is the text of a file of the workspace, "" without one.
func (r *cliRig) fileOf(name string) string {
	text, err := os.ReadFile(filepath.Join(r.workspace, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
