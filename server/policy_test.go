package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/responses"
)

// otherShell is the shell by another name.
type otherShell struct{ shell }

func (otherShell) Name() string      { return "other" }
func (otherShell) Aliases() []string { return nil }

// rosterOf compiles a policy for the tests' principals, or for list.
func rosterOf(t *testing.T, text string, list ...Principal) *policy.Roster {
	t.Helper()
	d, err := policy.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(d, PolicyTable([]string{"shell", "other"}))
	if err != nil {
		t.Fatal(err)
	}
	if list == nil {
		list = principals
	}
	return policy.NewRoster(p, Members(list))
}

// policed is a server with two shells below a policy.
func policed(t *testing.T, text string, more ...actors.Option) *running {
	t.Helper()
	roster := rosterOf(t, text)
	host := shellHost(t, append(more, actors.WithPolicy(roster), actors.WithRuntime(actors.RuntimeConfig{Adapter: otherShell{}}))...)
	cfg := Config{
		Host: host, Principals: principals, Policy: roster, CancelWait: 5 * time.Second, Hosted: true, AllowInstall: true,
		Adapters: []responses.Adapter{{Name: "shell", Aliases: []string{"sh"}}, {Name: "other"}},
	}
	return start(t, cfg, wireHandlers(host, &cfg))
}

// refusedFor holds an answer to be the refusal of an operation or a field.
func refusedFor(t *testing.T, a *answer, param string) {
	t.Helper()
	e, _ := a.json["error"].(map[string]any)
	if a.status != 403 || a.code() != "permission_denied" || e["param"] != param || e["type"] != "permission_error" {
		t.Errorf("not the refusal of %s: %d %s", param, a.status, a.body)
	}
}

func TestThePolicyDecidesOnEveryRoute(t *testing.T) {
	t.Parallel()
	roster := rosterOf(t, `[{"allow":["agents.sessions.*"],"principals":["role:dev"]},{"deny":["agents.sessions.delete","server.list_capabilities"],"principals":["alice"]}]`)
	h := echoHandlers()
	h.getModel = h.getAgent
	r := start(t, Config{Principals: principals, Policy: roster}, h)
	for i := range r.table {
		row := &r.table[i]
		if row.group == groupOpen {
			continue
		}
		for _, who := range principals {
			a := r.do(t, row.method, placeholder.ReplaceAllString(row.path, "x1"), who.Token, "{}")
			if d := roster.Of(who.ID).Decide(row.operation); !d.Allowed {
				refusedFor(t, a, row.operation)
			} else if a.code() == "permission_denied" {
				t.Errorf("%s %s: %s", who.ID, row.operation, a.body)
			}
		}
		if a := r.do(t, row.method, placeholder.ReplaceAllString(row.path, "x1"), "", "{}"); a.status != 401 {
			t.Errorf("%s without a token: %d", row.operation, a.status)
		}
	}
	refusedFor(t, r.do(t, "GET", "/v1/agents/sessions", rootToken, ""), "agents.sessions.list") // a role gives nothing by itself
	refusedFor(t, r.do(t, "GET", "/capabilities", aliceToken, ""), "server.list_capabilities")
	a := r.do(t, "GET", "/capabilities", guestToken, "")
	endpoints, _ := a.json["endpoints"].(map[string]any)
	one, _ := endpoints["agents_sessions_list"].(map[string]any)
	if one["allowed"] != false || one["rule"] != "policy" || !strings.Contains(a.body, `"configured":true`) {
		t.Errorf("%v", one)
	}
}

func TestOperationsOfTheTable(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	list := Operations()
	if len(list) != len(r.table) {
		t.Fatalf("%d operations of %d routes", len(list), len(r.table))
	}
	for i, o := range list {
		row := &r.table[i]
		if o.ID != row.operation || o.Old != row.old || o.Gated == (row.group == groupOpen) {
			t.Errorf("%+v is not %s", o, row.operation)
		}
		if o.ID == "responses.create" && !o.Built || o.ID == "responses.compact" && o.Built {
			t.Errorf("%+v", o)
		}
	}
}

func TestTheAdapterIsASecondGate(t *testing.T) {
	t.Parallel()
	r := policed(t, `[
		{"allow":["agents.sessions.**","agents.definitions.*","responses.**","conversations.**","agents.models.*","agents.runtimes.*","agents.shell.**"],"principals":["role:dev"]},
		{"deny":["agents.shell.install"],"principals":["role:dev"]},
		{"allow":["**"],"principals":["role:admin"]}
	]`)
	as := func(token, method, path, body string, headers ...string) *answer {
		return r.do(t, method, path, token, body, headers...)
	}
	const stranger = `{"model":"other","input":"echo hi"}`

	// What starts the adapter, by whichever way it is named.
	refusedFor(t, as(aliceToken, "POST", "/v1/responses", stranger), "agents.other.sessions.create")
	refusedFor(t, as(aliceToken, "POST", "/v1/responses", `{"model":"gpt-x","input":"echo hi"}`, "X-ABX-Adapter: other"), "agents.other.sessions.create")
	refusedFor(t, as(aliceToken, "POST", "/agents/other/v1/responses", `{"model":"gpt-x","input":"echo hi"}`), "agents.other.sessions.create")
	refusedFor(t, as(aliceToken, "POST", "/v1/agents/sessions", `{"agent":{"model":"other"}}`), "agents.other.sessions.create")
	saved := as(aliceToken, "POST", "/v1/agents", `{"model":"other","name":"mine"}`)
	if saved.status != 200 {
		t.Fatalf("%s", saved.body)
	}
	refusedFor(t, as(aliceToken, "POST", "/v1/agents/sessions", `{"agent_id":"`+saved.id()+`","input":"echo hi"}`), "agents.other.sessions.create")
	refusedFor(t, as(aliceToken, "POST", "/v1/responses", `{"model":"mine","input":"echo hi"}`), "agents.other.sessions.create")
	conversation := as(aliceToken, "POST", "/v1/conversations", `{}`)
	refusedFor(t, as(aliceToken, "POST", "/v1/responses", `{"model":"other","conversation":"`+conversation.id()+`","input":"echo hi"}`), "agents.other.sessions.create")
	refusedFor(t, as(aliceToken, "POST", "/v1/agents/runtimes/sh/install", "{}"), "agents.shell.install")
	if a := as(rootToken, "POST", "/v1/responses", stranger); a.status != 200 || !strings.Contains(a.body, "hi") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if list := as(aliceToken, "GET", "/v1/agents/sessions", ""); strings.Contains(list.body, "agsess_") {
		t.Errorf("a refused request left a session: %s", list.body)
	}

	// What may be used, can be, and nothing else is shown.
	if a := as(aliceToken, "POST", "/v1/responses", `{"model":"sh","input":"echo hi"}`); a.status != 200 || !strings.Contains(a.body, "hi") {
		t.Errorf("%d %s", a.status, a.body)
	}
	for token, want := range map[string]string{aliceToken: "shell", rootToken: "other shell"} {
		for _, path := range []string{"/v1/models", "/v1/agents/runtimes"} {
			if got := strings.Join(slices.Sorted(slices.Values(idsOf(as(token, "GET", path, "")))), " "); got != want {
				t.Errorf("%s shows %q, not %q", path, got, want)
			}
		}
	}
	hidden, unknown := as(aliceToken, "GET", "/v1/models/other", ""), as(aliceToken, "GET", "/v1/models/nothing", "")
	if hidden.status != 404 || strings.ReplaceAll(hidden.body, "other", "nothing") != unknown.body {
		t.Errorf("%s is not %s", hidden.body, unknown.body)
	}
	if a := as(rootToken, "GET", "/v1/models/other", ""); a.status != 200 {
		t.Errorf("%d", a.status)
	}
}

func idsOf(a *answer) (ids []string) {
	data, _ := a.json["data"].([]any)
	for _, d := range data {
		m, _ := d.(map[string]any)
		ids = append(ids, fmt.Sprint(m["id"]))
	}
	return ids
}

// A policy that changes holds for sessions that are there.
func TestFeedingASessionAsksThePolicyAgain(t *testing.T) {
	t.Parallel()
	const rest = `{"allow":["agents.sessions.**","responses.**"],"principals":["*"]}`
	r := policed(t, `[`+rest+`,{"allow":["agents.other.**"],"principals":["*"]}]`)
	made := r.do(t, "POST", "/v1/agents/sessions", aliceToken, `{"agent":{"model":"other"},"input":"echo hi"}`)
	if made.status != 200 {
		t.Fatalf("%s", made.body)
	}
	path := "/v1/agents/sessions/" + made.id()
	first := r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"other","input":"echo hi"}`)

	d, err := policy.Parse([]byte(`[` + rest + `,{"deny":["agents.other.sessions.send_event"],"principals":["alice"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(d, PolicyTable([]string{"shell", "other"}))
	if err != nil {
		t.Fatal(err)
	}
	r.cfg.Policy.Replace(p, Members(principals))
	refusedFor(t, r.do(t, "POST", path+"/events", aliceToken, `{"input":"echo more"}`), "agents.other.sessions.send_event")
	refusedFor(t, r.do(t, "POST", "/v1/responses", aliceToken, `{"model":"other","previous_response_id":"`+first.id()+`","input":"echo more"}`), "agents.other.sessions.send_event")
	if a := r.do(t, "POST", path+"/events", aliceToken, `{"events":[{"type":"agent.session.input.cancel"}]}`); a.status/100 != 2 {
		t.Errorf("to cancel feeds nothing: %d %s", a.status, a.body)
	}
	if a := r.do(t, "GET", path, aliceToken, ""); a.status != 200 {
		t.Errorf("nor does reading: %d", a.status)
	}
}

func TestAStatementBoundsItsRequests(t *testing.T) {
	t.Parallel()
	roster := rosterOf(t, `[
		{"allow":["agents.sessions.list"],"principals":["*"],"limits":{"requests_per_minute":2}},
		{"allow":["agents.models.list"],"principals":["*"]}
	]`)
	r := start(t, Config{Principals: principals, Policy: roster}, nil)
	for n, want := range []int{200, 200, 429} {
		if a := r.do(t, "GET", "/v1/agents/sessions", aliceToken, ""); a.status != want || want == 429 && (a.code() != "rate_limit_reached" || a.header.Get("Retry-After") == "") {
			t.Errorf("request %d: %d %v %s", n+1, a.status, a.header, a.body)
		}
	}
	if a := r.do(t, "GET", "/v1/agents/sessions", guestToken, ""); a.status != 200 {
		t.Errorf("another principal: %d", a.status)
	}
	if a := r.do(t, "GET", "/v1/models", aliceToken, ""); a.status != 200 {
		t.Errorf("another operation: %d", a.status)
	}
}

// An agent of the configuration is shown to who may run it.
func TestConfiguredAgentsAreHiddenFromWhoMayNotRunThem(t *testing.T) {
	t.Parallel()
	r := policed(t, `[{"allow":["agents.definitions.**","agents.models.*"],"principals":["*"]},{"allow":["agents.other.**"],"principals":["root"]}]`,
		actors.WithAgents(spec.Agent{Name: "keeper", Adapter: "other"}))
	list := r.do(t, "GET", "/v1/agents", rootToken, "")
	ids := idsOf(list)
	if len(ids) != 1 {
		t.Fatalf("%s", list.body)
	}
	if a := r.do(t, "GET", "/v1/agents", aliceToken, ""); len(idsOf(a)) != 0 {
		t.Errorf("%s", a.body)
	}
	foreign, unknown := r.do(t, "GET", "/v1/agents/"+ids[0], aliceToken, ""), r.do(t, "GET", "/v1/agents/agent_00000000000000000000000000000000", aliceToken, "")
	if foreign.status != 404 || strings.ReplaceAll(foreign.body, ids[0], "agent_00000000000000000000000000000000") != unknown.body {
		t.Errorf("%s is not %s", foreign.body, unknown.body)
	}
	if a := r.do(t, "GET", "/v1/models", aliceToken, ""); strings.Contains(a.body, "keeper") {
		t.Errorf("%s", a.body)
	}
}
