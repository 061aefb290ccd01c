package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/wires/openapi/openapitest"
	"github.com/agenthost/agenthost/wires/responses"
)

// shell is an adapter whose CLI is the prompt, run by sh. It prints text, or a
// word and what it is about.
type shell struct{}

func (shell) Name() string                  { return "shell" }
func (shell) Aliases() []string             { return []string{"sh"} }
func (shell) Binary() string                { return "sh" }
func (shell) Validate(*agent.Request) error { return nil }
func (shell) Capabilities() agent.Capabilities {
	return agent.Capabilities{TextDeltas: true, Permissions: []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite, spec.FullAccess}}
}

func (shell) Invocation(r *agent.Request) (*agent.Invocation, error) {
	return &agent.Invocation{Args: []string{"-c", r.Prompt}, ExitIsVerdict: true}, nil
}

func (shell) NewParser(*agent.Request) agent.Parser { return &shellParser{} }

type shellParser struct{}

func (p *shellParser) Feed(line []byte, out *agent.Batch) {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	text := string(rest)
	item := func(it *event.Item, done func(*event.Item)) {
		begun := *it
		out.Add(agent.Fact{Kind: agent.FactStart, Key: text, Item: &begun})
		done(it)
		out.Add(agent.Fact{Kind: agent.FactDone, Key: text, Item: it})
	}
	zero := 0
	switch string(word) {
	case "#think":
		out.Add(agent.Fact{Kind: agent.FactReasoning, Key: "r", Text: text})
	case "#run":
		out.Add(agent.Fact{Kind: agent.FactStart, Key: text, Item: &event.Item{Type: event.Command, Command: text}})
		out.Add(agent.Fact{Kind: agent.FactOutput, Key: text, Text: "out"})
		out.Add(agent.Fact{Kind: agent.FactDone, Key: text, Item: &event.Item{Type: event.Command, Command: text, Output: "out", ExitCode: &zero}})
	case "#call":
		item(&event.Item{Type: event.ToolCall, Server: "docs", Tool: text, Arguments: `{"q":1}`}, func(it *event.Item) { it.Status, it.Error = event.ItemFailed, "no" })
	case "#search":
		item(&event.Item{Type: event.WebSearch, Query: text}, func(*event.Item) {})
	case "#sub":
		item(&event.Item{Type: event.Subagent, Tool: text, Prompt: "dig"}, func(*event.Item) {
			out.Add(agent.Fact{Kind: agent.FactDone, Key: "said", Parent: text, Item: &event.Item{Type: event.Message, Text: "dug"}})
		})
	case "#change":
		item(&event.Item{Type: event.FileChange, Changes: []event.Change{{Path: text, Kind: "add"}}}, func(*event.Item) {})
	default:
		out.Add(agent.Fact{Kind: agent.FactText, Key: "m", Text: string(line) + "\n"})
	}
}

func (p *shellParser) Close(exit agent.Exit, out *agent.Batch) {
	v := &agent.Verdict{Final: true, Outcome: event.Completed, Usage: &event.Usage{Input: 3, Output: 5}}
	if exit.Code != 0 {
		v = &agent.Verdict{Final: true, Outcome: event.Failed, Failure: event.Fail(event.RateLimited, "slow down")}
	}
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
}

const busy = `echo '#think hm'; echo '#run ls'; echo '#call find'; echo '#search sse'; echo '#change a.go'; echo '#sub digger'; echo hello`

// shellHost is a Host with the shell, stopped at the test's end.
func shellHost(t *testing.T, more ...actors.Option) Host {
	t.Helper()
	h, err := actors.New(append([]actors.Option{
		actors.WithStateDir(t.TempDir()), actors.WithStore(memory.New()), actors.WithLimits(actors.Limits{MinAvailableMemory: 1, MaxConcurrentTurns: 2}),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: shell{}, Manifests: []agent.Manifest{{
			Adapter: "shell", Program: shell{}.Binary(), Version: "1.0.0", Bin: []string{"cli"}, NPM: &agent.NPMPackage{
				Package: "cli", Lock: map[string]json.RawMessage{"node_modules/cli": []byte(`{"version":"1.0.0","integrity":"sha512-none"}`)},
			},
		}}}),
		actors.WithToolsDirs(t.TempDir()), actors.WithEnviron(append(os.Environ(), "NPM_CONFIG_REGISTRY=http://127.0.0.1:1/", "NPM_CONFIG_FETCH_RETRIES=0")),
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return Engine(h)
}

// recorder sends requests and holds what comes back against the document.
type recorder struct {
	*running
	t *testing.T
	c *openapitest.Checker
}

// call checks the answer of an operation, a stream included.
func (r *recorder) call(operation string, want int, path, body string) *answer {
	r.t.Helper()
	var row *route
	for i := range r.table {
		if r.table[i].operation == operation {
			row = &r.table[i]
		}
	}
	if row == nil {
		r.t.Fatalf("no operation %s", operation)
	}
	a := r.do(r.t, row.method, path, "", body)
	if a.status != want {
		r.t.Fatalf("%s: %d %s", operation, a.status, a.body)
	}
	if a.header.Get("Content-Type") == "text/event-stream" {
		for _, err := range r.c.Stream(operation, []byte(a.body)) {
			r.t.Error(err)
		}
		if strings.Count(a.body, "\ndata: ") < 2 {
			r.t.Errorf("%s: a stream of %q", operation, a.body)
		}
		return a
	}
	if err := r.c.Answer(operation, a.status, []byte(a.body)); err != nil {
		r.t.Error(err)
	}
	return a
}

func (a *answer) id() string { s, _ := a.json["id"].(string); return s }

func TestAnswersOfARunAreAsDocumented(t *testing.T) {
	t.Parallel()
	d, _ := generated(t, true)
	checker, err := openapitest.New(d)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Host: shellHost(t), Adapters: []responses.Adapter{{Name: "shell", Aliases: []string{"sh"}}}, CancelWait: 5 * time.Second, Hosted: true, AllowInstall: true}
	r := &recorder{start(t, cfg, wireHandlers(cfg.Host, &cfg)), t, checker}

	for _, path := range []string{"live /healthz", "ready /readyz", "health /health"} {
		word, at, _ := strings.Cut(path, " ")
		r.call("server.check_"+word, 200, at, "")
	}
	r.call("server.list_capabilities", 200, "/capabilities", "")
	r.call("server.read_metrics", 200, "/metrics", "")
	r.call("server.read_openapi", 200, "/openapi.json", "")
	r.call("agents.runtimes.list", 200, "/v1/agents/runtimes", "")
	r.call("agents.runtimes.install", 202, "/v1/agents/runtimes/sh/install", "{}")
	r.call("agents.runtimes.install", 400, "/v1/agents/runtimes/shell/install", `{"version":"9"}`)
	r.call("agents.runtimes.install", 404, "/v1/agents/runtimes/nobody/install", "")
	r.call("agents.runtimes.list", 200, "/v1/agents/runtimes", "")
	r.call("agents.models.list", 200, "/v1/models", "")
	r.call("agents.models.get", 200, "/v1/models/shell", "")
	r.call("agents.models.get", 404, "/v1/models/nobody", "")

	const agents = "/v1/agents"
	one := r.call("agents.definitions.create", 200, agents, `{"model":"shell","name":"coder","instructions":"be short","metadata":{"a":"b"},
		"text":{"format":{"type":"json_schema","schema":{"type":"object"}}},"reasoning":{"effort":"low","summary":"auto"}}`).id()
	r.call("agents.definitions.create", 400, agents, `{"model":"shell","modle":1}`)
	r.call("agents.definitions.list", 200, agents, "")
	r.call("agents.definitions.get", 200, agents+"/"+one, "")
	r.call("agents.definitions.update", 200, agents+"/"+one, `{"name":null}`)

	const sessions = "/v1/agents/sessions"
	r.call("agents.sessions.create", 200, sessions, fmt.Sprintf(`{"agent":{"model":"shell"},"environment":{"type":"none"},"stream":true,"input":%q}`, busy))
	r.call("agents.sessions.create", 200, sessions, fmt.Sprintf(`{"agent_id":%q,"environment":{"type":"openai_hosted"},"stream":true,"input":"echo half; exit 3"}`, one))
	s := r.call("agents.sessions.create", 200, sessions, `{"agent":{"model":"shell"},"prompt_cache_options":{"ttl":"30m"},"review":"none"}`).id()
	at := sessions + "/" + s
	r.call("agents.sessions.update", 200, at, `{"metadata":{"k":"v"}}`)
	r.call("agents.sessions.send_event", 202, at+"/events", fmt.Sprintf(`{"events":[{"type":"agent.session.input.message","input":%q}]}`, busy))
	r.call("agents.sessions.stream_events", 200, at+"/events?close_on_idle=true&after=evt_0000000000000001", "")
	r.call("agents.sessions.send_event", 202, at+"/events", `{"input":"sleep 30"}`)
	r.call("agents.sessions.get", 200, at, "")
	r.call("agents.sessions.send_event", 202, at+"/events", `{"events":[{"type":"agent.session.input.cancel"}]}`)
	r.call("agents.sessions.stream_events", 200, at+"/events?close_on_idle=true&after=evt_0000000000000001", "")
	r.call("agents.sessions.list", 200, sessions, "")
	r.call("agents.sessions.list_items", 200, at+"/items", "")
	turns := r.call("agents.sessions.list_turns", 200, at+"/turns?order=asc", "")
	list, _ := turns.json["data"].([]any)
	first, _ := list[0].(map[string]any)
	turn, _ := first["id"].(string)
	r.call("agents.sessions.get_turn", 200, at+"/turns/"+turn, "")
	r.call("agents.sessions.list_turn_items", 200, at+"/turns/"+turn+"/items", "")
	r.call("agents.sessions.get_turn", 404, at+"/turns/turn_x", "")
	subs := r.call("agents.sessions.list_subagents", 200, at+"/subagents", "")
	list, _ = subs.json["data"].([]any)
	first, _ = list[0].(map[string]any)
	sub, _ := first["id"].(string)
	theirs := at + "/subagents/" + sub
	r.call("agents.sessions.get_subagent", 200, theirs, "")
	r.call("agents.sessions.list_subagent_items", 200, theirs+"/items", "")
	turns = r.call("agents.sessions.list_subagent_turns", 200, theirs+"/turns", "")
	list, _ = turns.json["data"].([]any)
	first, _ = list[0].(map[string]any)
	turn, _ = first["id"].(string)
	r.call("agents.sessions.get_subagent_turn", 200, theirs+"/turns/"+turn, "")
	r.call("agents.sessions.list_subagent_turn_items", 200, theirs+"/turns/"+turn+"/items", "")
	r.call("agents.sessions.get_subagent", 404, at+"/subagents/x", "")
	r.call("agents.sessions.send_event", 202, at+"/events", `{"input":"mkdir outputs; echo hi >outputs/a.txt"}`)
	r.call("agents.sessions.stream_events", 200, at+"/events?close_on_idle=true&after=evt_0000000000000001", "")
	made := r.call("agents.sessions.list_artifacts", 200, at+"/artifacts?environment_id=", "")
	list, _ = made.json["data"].([]any)
	if len(list) != 1 {
		t.Fatalf("artifacts: %s", made.body)
	}
	first, _ = list[0].(map[string]any)
	artifact, _ := first["id"].(string)
	r.call("agents.sessions.get_artifact", 200, at+"/artifacts/"+artifact, "")
	if a := r.call("agents.sessions.download_artifact", 200, at+"/artifacts/"+artifact+"/content", ""); a.body != "hi\n" {
		t.Errorf("content %q", a.body)
	}
	r.call("agents.sessions.delete_artifact", 200, at+"/artifacts/"+artifact, "")
	r.call("agents.sessions.get_artifact", 404, at+"/artifacts/"+artifact, "")
	r.call("agents.sessions.delete", 200, at, "")
	r.call("agents.definitions.delete", 200, agents+"/"+one, "")

	const all = "/v1/responses"
	p := r.call("responses.create", 200, all, fmt.Sprintf(`{"model":"shell","input":%q,"metadata":{"a":"b"},"tool_choice":"auto","temperature":0.5,
		"text":{"format":{"type":"json_schema","name":"x","schema":{}}},"reasoning":{"effort":"low"}}`, busy)).id()
	r.call("responses.create", 200, all, fmt.Sprintf(`{"model":"shell","input":%q,"stream":true,"previous_response_id":%q}`, busy, p))
	r.call("responses.create", 200, all, `{"model":"shell","input":"exit 3"}`)
	r.call("responses.create", 400, all, `{"model":"shell"}`)
	r.call("responses.get", 200, all+"/"+p, "")
	r.call("responses.get", 200, all+"/"+p+"?stream=true&starting_after=2", "")
	r.call("responses.list_input_items", 200, all+"/"+p+"/input_items", "")
	b := r.call("responses.create", 200, all, `{"model":"shell","input":"sleep 30","background":true}`).id()
	r.call("responses.cancel", 200, all+"/"+b+"/cancel", "")
	r.call("responses.delete", 200, all+"/"+p, "")
	r.call("agents.queue.list", 200, "/v1/agents/queue", "")
	var crowd []string
	for range 3 { // on two slots
		crowd = append(crowd, r.call("responses.create", 200, all, `{"model":"shell","input":"sleep 30","background":true}`).id())
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		line := r.call("agents.queue.list", 200, "/v1/agents/queue", "")
		list, _ := line.json["data"].([]any)
		if len(list) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the line: %s", line.body)
		}
	}
	for _, id := range crowd {
		r.call("responses.cancel", 200, all+"/"+id+"/cancel", "")
	}
	r.call("responses.compact", 501, all+"/compact", `{}`)

	const talks = "/v1/conversations"
	talk := talks + "/" + r.call("conversations.create", 200, talks, `{"metadata":{"a":"b"},"items":[{"type":"reasoning","summary":[]}]}`).id()
	r.call("conversations.get", 200, talk, "")
	r.call("conversations.update", 200, talk, `{"metadata":{}}`)
	r.call("responses.create", 200, all, fmt.Sprintf(`{"model":"shell","input":%q,"conversation":%q}`, busy, strings.TrimPrefix(talk, talks+"/")))
	r.call("conversations.create_items", 200, talk+"/items", `{"items":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}`)
	r.call("conversations.create_items", 400, talk+"/items", `{"items":[{"type":"hologram"}]}`)
	kept := r.call("conversations.list_items", 200, talk+"/items", "")
	if n := len(kept.json["data"].([]any)); n < 9 {
		t.Errorf("%d items: %s", n, kept.body)
	}
	item, _ := kept.json["first_id"].(string)
	r.call("conversations.get_item", 200, talk+"/items/"+item, "")
	r.call("conversations.delete_item", 200, talk+"/items/"+item, "")
	r.call("conversations.get_item", 404, talk+"/items/"+item, "")
	r.call("conversations.delete", 200, talk, "")

	const uploads = "/v1/files"
	f := r.call("agents.files.create", 200, uploads, `{"filename":"a.txt","data":"aGk=","purpose":"user_data"}`).id()
	r.call("agents.files.list", 200, uploads, "")
	r.call("agents.files.get", 200, uploads+"/"+f, "")
	r.call("agents.files.download", 200, uploads+"/"+f+"/content", "")
	r.call("agents.files.delete", 200, uploads+"/"+f, "")

	// Whoever builds a route adds it to the run.
	for i := range r.table {
		if row := &r.table[i]; row.handler != nil && !row.stream && !checker.Answered(row.operation, 200) && !checker.Answered(row.operation, 202) {
			t.Errorf("%s is built, and this run does not call it", row.operation)
		}
	}
}
