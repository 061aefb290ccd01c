package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/responses"
)

// told is a shell that is told of tool servers, and of nothing that bounds it.
type told struct{ shell }

func (told) Name() string      { return "told" }
func (told) Aliases() []string { return nil }
func (told) Capabilities() agent.Capabilities {
	c := shell{}.Capabilities()
	c.MCP, c.MaxTurns, c.Confined = true, true, true
	return c
}

// said is what the shell is told, on lines of text.
func (told) Invocation(r *agent.Request) (*agent.Invocation, error) {
	return &agent.Invocation{Args: []string{"-c", r.Prompt}, ExitIsVerdict: true, Env: []string{
		"TOLD_PERMISSIONS=" + string(r.Permissions), "TOLD_MODEL=" + r.Model,
	}}, nil
}

// scoped is a server whose one statement for alice has a scope; root has none.
func scoped(t *testing.T, scope string, more ...actors.Option) *running {
	t.Helper()
	d, err := policy.Parse([]byte(`[{"allow":["**"],"principals":["alice"],"scope":` + scope + `},{"allow":["**"],"principals":["root"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(d, PolicyTable([]string{"shell", "told"}))
	if err != nil {
		t.Fatal(err)
	}
	roster := policy.NewRoster(p, Members(principals))
	host := shellHost(t, append(more, actors.WithPolicy(roster), actors.WithRuntime(actors.RuntimeConfig{
		Adapter: told{}, Permissions: spec.FullAccess, Declared: true, Passthrough: []string{"POLICY_A", "POLICY_B"}, Vendor: []string{"POLICY_V"},
	}))...)
	cfg := Config{
		Host: host, Principals: principals, Policy: roster, CancelWait: 5 * time.Second, Hosted: true,
		Adapters: []responses.Adapter{{Name: "shell"}, {Name: "told"}},
	}
	return start(t, cfg, wireHandlers(host, &cfg))
}

// both tries one thing on both wires: body is of a response, session of a session.
func (r *running) both(t *testing.T, token, body, session string) map[string]*answer {
	t.Helper()
	out := map[string]*answer{}
	if body != "" {
		out["responses"] = r.do(t, "POST", "/v1/responses", token, body)
	}
	if session != "" {
		out["agents"] = r.do(t, "POST", "/v1/agents/sessions", token, session)
	}
	return out
}

func TestScopeOfModels(t *testing.T) {
	t.Parallel()
	r := scoped(t, `{"models":["m-*","exact"]}`)
	for model, ok := range map[string]bool{"m-1": true, "exact": true, "m": false, "other": false, "told": false} {
		for wire, a := range r.both(t, aliceToken, `{"model":"`+model+`","input":"echo $TOLD_MODEL"}`, `{"agent":{"model":"`+model+`","adapter":"told"},"input":"true"}`) {
			if wire == "responses" {
				a = r.do(t, "POST", "/agents/told/v1/responses", aliceToken, `{"model":"`+model+`","input":"echo $TOLD_MODEL"}`)
			}
			if !ok {
				refusedFor(t, a, "model")
				if !strings.Contains(a.body, "m-*, exact") {
					t.Errorf("%s does not say which are allowed", a.body)
				}
			} else if a.status != 200 {
				t.Errorf("%s of %s: %d %s", model, wire, a.status, a.body)
			}
		}
	}
	// A model that comes later is a model too.
	made := r.do(t, "POST", "/v1/agents/sessions", aliceToken, `{"agent":{"model":"m-1","adapter":"told"}}`)
	refusedFor(t, r.do(t, "POST", "/v1/agents/sessions/"+made.id(), aliceToken, `{"agent":{"model":"m"}}`), "model")
	first := r.do(t, "POST", "/agents/told/v1/responses", aliceToken, `{"model":"m-1","input":"true"}`)
	refusedFor(t, r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"m","previous_response_id":"`+first.id()+`","input":"true"}`), "model")
	if a := r.do(t, "POST", "/v1/responses", rootToken, `{"model":"told","input":"true"}`); a.status != 200 {
		t.Errorf("another principal: %d %s", a.status, a.body)
	}
}

func TestScopeOfPermissions(t *testing.T) {
	t.Parallel()
	r := scoped(t, `{"permissions":"workspace_write"}`, actors.WithAgents(
		spec.Agent{Name: "strong", Adapter: "told", Permissions: spec.FullAccess}, spec.Agent{Name: "weak", Adapter: "told", Permissions: spec.ReadOnly}))
	const ask = `","input":"echo $TOLD_PERMISSIONS"}`
	refusedFor(t, r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"strong`+ask), "permissions")
	for model, want := range map[string]string{"told": "workspace_write", "weak": "read_only"} { // told is configured with more
		if a := r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"`+model+ask); a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d %s", model, a.status, a.body)
		}
	}
	for _, model := range []string{"told", "strong"} {
		if a := r.do(t, "POST", "/v1/responses", rootToken, `{"model":"`+model+ask); !strings.Contains(a.body, "full_access") {
			t.Errorf("%s of another principal: %s", model, a.body)
		}
	}
}

func TestScopeOfWorkdirs(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inside, outside := filepath.Join(base, "in"), filepath.Join(base, "inside-out")
	for _, dir := range []string{inside, outside, filepath.Join(inside, "deep")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(inside, "link")); err != nil {
		t.Fatal(err)
	}
	r := scoped(t, `{"workdir":"`+inside+`"}`, actors.WithAgents(spec.Agent{Name: "elsewhere", Adapter: "told", Workspace: outside}))
	in := func(dir string) *answer {
		return r.do(t, "POST", "/v1/agents/sessions", aliceToken, `{"agent":{"model":"told"},"input":"pwd","environment":{"type":"self_hosted","workspace_directory":"`+dir+`"}}`)
	}
	for _, dir := range []string{outside, base, "/", filepath.Join(inside, "link")} {
		refusedFor(t, in(dir), "environment.workspace_directory")
	}
	for _, dir := range []string{inside, filepath.Join(inside, "deep")} {
		if a := in(dir); a.status != 200 {
			t.Errorf("%s: %d %s", dir, a.status, a.body)
		}
	}
	refusedFor(t, r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"elsewhere","input":"pwd"}`), "environment.workspace_directory")
	for _, env := range []string{`{"type":"none"}`, `{"type":"self_hosted"}`, `{"type":"openai_hosted"}`} { // private ones
		if a := r.do(t, "POST", "/v1/agents/sessions", aliceToken, `{"agent":{"model":"told"},"input":"pwd","environment":`+env+`}`); a.status != 200 {
			t.Errorf("%s: %d %s", env, a.status, a.body)
		}
	}
}

func TestScopeOfCallersServers(t *testing.T) {
	t.Parallel()
	r := scoped(t, `{"mcp":["tools.example.com"]}`, actors.WithCallerMCP(spec.MCPScope{Hosts: []string{"host.example.com"}}))
	for token, may := range map[string]string{aliceToken: "tools.example.com", rootToken: "host.example.com"} {
		for _, host := range []string{"tools.example.com", "host.example.com"} {
			for wire, a := range r.both(t, token,
				`{"model":"told","input":"true","tools":[{"type":"mcp","server_label":"docs","server_url":"https://`+host+`/","require_approval":"never"}]}`,
				`{"agent":{"model":"told","tools":[{"type":"mcp","server_label":"docs","transport":{"type":"http","server_url":"https://`+host+`/"}}]},"input":"true"}`) {
				if host == may && a.status != 200 || host != may && (a.status != 403 || a.code() != "mcp_not_allowed") {
					t.Errorf("%s to %s: %d %s", wire, host, a.status, a.body)
				}
			}
		}
	}
	none := scoped(t, `{"mcp":[]}`, actors.WithCallerMCP(spec.MCPScope{Hosts: []string{"*"}}))
	a := none.do(t, "POST", "/v1/responses", aliceToken, `{"model":"told","input":"true","tools":[{"type":"mcp","server_label":"docs","server_url":"https://a.example.com/","require_approval":"never"}]}`)
	if a.status != 403 || a.code() != "mcp_not_allowed" {
		t.Errorf("an empty list: %d %s", a.status, a.body)
	}
}

func TestScopeOfCommands(t *testing.T) {
	t.Parallel()
	r := scoped(t, `{"commands":["aider"]}`)
	refusedFor(t, r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"told","input":"true"}`), "model")
	if a := r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"shell","input":"true"}`); a.status != 200 {
		t.Errorf("an adapter that the operator did not declare: %d %s", a.status, a.body)
	}
	ok := scoped(t, `{"commands":["sh"]}`)
	if a := ok.do(t, "POST", "/v1/responses", aliceToken, `{"model":"told","input":"true"}`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestScopeOfTimeAndOutput(t *testing.T) {
	t.Parallel()
	r := scoped(t, `{"timeout":"300ms","max_output":2000}`, actors.WithAgents(spec.Agent{Name: "patient", Adapter: "told", Limits: spec.Limits{TurnTimeout: time.Hour}}))
	for _, model := range []string{"told", "patient"} {
		a := r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"`+model+`","input":"exec sleep 600"}`)
		if a.status != 200 || a.json["status"] != "failed" || !strings.Contains(a.body, "300ms") {
			t.Errorf("%s: %d %s", model, a.status, a.body)
		}
	}
	long := `i=0; while [ $i -lt 400 ]; do echo 0123456789; i=$((i+1)); done`
	if a := r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"told","input":"`+long+`"}`); a.json["status"] != "failed" || !strings.Contains(a.body, "2000") {
		t.Errorf("%s", a.body)
	}
	if a := r.do(t, "POST", "/v1/responses", rootToken, `{"model":"told","input":"`+long+`"}`); a.json["status"] != "completed" {
		t.Errorf("another principal: %s", a.body)
	}
}

func TestScopeOfInnerTurns(t *testing.T) {
	t.Parallel()
	r := scoped(t, `{"max_turns":3}`)
	refused := r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"shell","input":"true"}`)
	refusedFor(t, refused, "model") // it cannot keep to it
	for _, said := range []string{"adapter shell has no such limit", "an adapter that has (told)", "allows agents.shell.sessions.*"} {
		if !strings.Contains(refused.body, said) {
			t.Errorf("no word of %q: %s", said, refused.body)
		}
	}
	if a := r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"told","input":"true"}`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestScopeOfWhatIsNotConfined(t *testing.T) {
	t.Parallel()
	r := scoped(t, `{"unconfined_ok":false}`, actors.WithAgents(
		spec.Agent{Name: "reader", Adapter: "shell", Permissions: spec.ReadOnly}, spec.Agent{Name: "writer", Adapter: "told", Permissions: spec.WorkspaceWrite}))
	refusedFor(t, r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"shell","input":"true"}`), "permissions") // writes, without a sandbox
	refusedFor(t, r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"told","input":"true"}`), "permissions")  // has full access
	for _, model := range []string{"reader", "writer"} {
		if a := r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"`+model+`","input":"true"}`); a.status != 200 {
			t.Errorf("%s: %d %s", model, a.status, a.body)
		}
	}
}

func TestScopeOfVariables(t *testing.T) {
	t.Parallel()
	environ := append(os.Environ(), "POLICY_A=given-a", "POLICY_B=given-b", "POLICY_V=given-v")
	r := scoped(t, `{"env":["POLICY_A"]}`, actors.WithEnviron(environ))
	show := `{"model":"told","input":"echo $POLICY_A/$POLICY_B/$POLICY_V"}`
	if a := r.do(t, "POST", "/v1/responses", aliceToken, show); !strings.Contains(a.body, `given-a//given-v`) {
		t.Errorf("%s", a.body)
	}
	if a := r.do(t, "POST", "/v1/responses", rootToken, show); !strings.Contains(a.body, `given-a/given-b/given-v`) {
		t.Errorf("%s", a.body)
	}
}

// What one wire does not give is not to be had by way of the other.
func TestAScopeHoldsOnBothWires(t *testing.T) {
	t.Parallel()
	d, err := policy.Parse([]byte(`[
		{"allow":["responses.**"],"principals":["alice"],"scope":{"models":["a"]}},
		{"allow":["agents.sessions.**","agents.*.sessions.*"],"principals":["alice"]}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(d, PolicyTable([]string{"shell", "told"}))
	if err != nil {
		t.Fatal(err)
	}
	r := scoped(t, `{}`)
	r.cfg.Policy.Replace(p, Members(principals))
	for wire, a := range r.both(t, aliceToken, `{"model":"told","input":"true"}`, `{"agent":{"model":"b","adapter":"told"},"input":"true"}`) {
		if a.code() != "permission_denied" {
			t.Errorf("%s: %d %s", wire, a.status, a.body)
		}
	}
}

// A turn that waits when the policy changes runs as the policy is by then.
func TestTheStartOfATurnAsksThePolicyAgain(t *testing.T) {
	t.Parallel()
	r := scoped(t, `{}`)
	gate := filepath.Join(t.TempDir(), "gate")
	wait := `until [ -e ` + gate + ` ]; do sleep 0.01; done`
	made := r.do(t, "POST", "/v1/agents/sessions", aliceToken, `{"agent":{"model":"told"},"input":"`+wait+`"}`)
	path := "/v1/agents/sessions/" + made.id()
	if a := r.do(t, "POST", path+"/events", aliceToken, `{"input":"echo second"}`); a.status/100 != 2 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	d, err := policy.Parse([]byte(`[{"allow":["agents.sessions.*"],"principals":["alice"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(d, PolicyTable([]string{"shell", "told"}))
	if err != nil {
		t.Fatal(err)
	}
	r.cfg.Policy.Replace(p, Members(principals))
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		a := r.do(t, "GET", path+"/turns?order=asc", aliceToken, "")
		if strings.Count(a.body, `"completed_at":1`) == 2 {
			if !strings.Contains(a.body, `"failed"`) || !strings.Contains(a.body, "policy") {
				t.Errorf("%s", a.body)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the turns do not end: %s", a.body)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
