package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/responses"
)

// What is named elsewhere than in a path: in bodies, in queries, and below something of
// one's own. A foreign id and an unknown one are the same answer, and the same refusal
// of nothing: what takes a foreign id as no reference at all, takes an unknown one so.
//
//cases:100
func TestReferencesToWhatIsAnothersAreUnknown(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	w := m.world(true)
	const who = "other principal"
	as := func(method, path, body string) *answer { return m.as(who, method, path, body) }
	mine := as("POST", "/v1/responses", `{"model":"shell","input":"mkdir outputs; echo hi >outputs/b.txt; echo '#sub digger'; echo mine"}`)
	talk, _ := mine.json["conversation"].(map[string]any)
	conversation, _ := talk["id"].(string)
	session := "/v1/agents/sessions/" + strings.Replace(conversation, "conv_", "agsess_", 1)
	subs := idsOf(as("GET", session+"/subagents", ""))
	if len(subs) != 1 {
		t.Fatalf("subagents: %v", subs)
	}
	call := strings.Replace(w["item_id"], event.PrefixItem, event.PrefixCall, 1)
	for _, c := range []struct{ method, path, body, id string }{
		{"POST", "/v1/agents/sessions", `{"agent_id":"%s"}`, w["agent_id"]},
		{"POST", "/v1/agents/sessions", `{"agent_id":"%s","input":"echo hi"}`, w["agent_id"]},
		{"POST", "/v1/agents/sessions", `{"agent":{"model":"%s"}}`, w["agent_id"]},
		{"POST", "/v1/agents", `{"model":"%s","name":"x"}`, w["agent_id"]},
		{"POST", "/v1/agents/sessions", `{"agent":{"model":"shell"},"input":[{"role":"user","content":[{"type":"input_file","file_id":"%s"}]}]}`, w["file_id"]},
		{"POST", session + "/events", `{"events":[{"type":"agent.session.input.message","input":[{"role":"user","content":[{"type":"input_file","file_id":"%s"}]}]}]}`, w["file_id"]},
		{"POST", session + "/events", `{"events":[{"type":"agent.session.input.function_call_output","call_id":"%s","output":"x"}]}`, call},
		{"POST", "/v1/responses", `{"model":"shell","input":"echo hi","previous_response_id":"%s"}`, w["response_id"]},
		{"POST", "/v1/responses", `{"model":"shell","input":"echo hi","previous_response_id":"%s","stream":true}`, w["response_id"]},
		{"POST", "/v1/responses", `{"model":"shell","input":"echo hi","conversation":"%s"}`, w["conversation_id"]},
		{"POST", "/v1/responses", `{"model":"shell","input":"echo hi","conversation":{"id":"%s"}}`, w["session_id"]},
		{"POST", "/v1/responses", `{"model":"%s","input":"echo hi"}`, w["agent_id"]},
		{"POST", "/v1/responses", `{"model":"shell","input":[{"type":"item_reference","id":"%s"},{"role":"user","content":"echo hi"}]}`, w["item_id"]},
		{"POST", "/v1/responses", `{"model":"shell","input":[{"type":"function_call_output","call_id":"%s","output":"x"}]}`, call},
		{"POST", "/v1/responses", `{"model":"shell","input":[{"role":"user","content":[{"type":"input_file","file_id":"%s"}]}]}`, w["file_id"]},
		{"POST", "/v1/conversations/" + conversation + "/items", `{"items":[{"type":"item_reference","id":"%s"}]}`, w["item_id"]},
		{"GET", "/v1/agents?after=%s", "", w["agent_id"]},
		{"GET", "/v1/agents/sessions?after=%s", "", w["session_id"]},
		{"GET", "/v1/agents/sessions?agent_id=%s&limit=1", "", w["agent_id"]},
		{"GET", "/v1/files?after=%s", "", w["file_id"]},
		{"GET", "/v1/agents/queue?after=%s", "", w["turn_id"]},
		{"GET", session + "/turns?after=%s", "", w["turn_id"]},
		{"GET", session + "/items?after=%s", "", w["item_id"]},
		{"GET", session + "/artifacts?after=%s", "", w["artifact_id"]},
		{"GET", session + "/turns/%s", "", w["turn_id"]},
		{"GET", session + "/turns/%s/items", "", w["turn_id"]},
		{"GET", session + "/artifacts/%s", "", w["artifact_id"]},
		{"GET", session + "/artifacts/%s/content", "", w["artifact_id"]},
		{"DELETE", session + "/artifacts/%s", "", w["artifact_id"]},
		{"GET", session + "/subagents/%s", "", w["subagent_id"]},
		{"GET", session + "/subagents/%s/items", "", w["subagent_id"]},
		{"GET", session + "/subagents/" + subs[0] + "/turns/%s", "", w["subagent turn_id"]},
		{"GET", "/v1/conversations/" + conversation + "/items/%s", "", w["item_id"]},
		{"DELETE", "/v1/conversations/" + conversation + "/items/%s", "", w["item_id"]},
		{"GET", "/v1/conversations/" + conversation + "/items?after=%s", "", w["item_id"]},
		{"GET", "/v1/responses/%s?stream=true", "", w["response_id"]},
		{"GET", "/v1/responses/%s?stream=true&starting_after=1", "", w["response_id"]},
		{"GET", "/v1/models/%s", "", w["agent_id"]},
	} {
		if c.id == "" || !strings.Contains(c.path+c.body, "%s") {
			t.Fatalf("%s %s %s: no id", c.method, c.path, c.body)
		}
		ask := func(id string) (string, int) {
			a := as(c.method, strings.ReplaceAll(c.path, "%s", id), strings.ReplaceAll(c.body, "%s", id))
			return said(a, []string{id}), a.status
		}
		foreign, status := ask(c.id)
		never, _ := ask(unknown(c.id))
		if foreign != never || status/100 != 4 && !strings.Contains(c.path, "agent_id=") {
			t.Errorf("%s %s %s\nforeign %s\nunknown %s", c.method, c.path, c.body, foreign, never)
		}
	}
	for _, path := range []string{"/v1/agents", "/v1/files", "/v1/agents/queue"} {
		if a := as("GET", path, ""); len(idsOf(a)) != 0 {
			t.Errorf("%s lists what is another's: %s", path, a.body)
		}
	}
	if got := idsOf(as("GET", "/v1/agents/sessions", "")); !slices.Equal(got, []string{strings.TrimPrefix(session, "/v1/agents/sessions/")}) {
		t.Errorf("the sessions are %v", got)
	}
}

// One key of two principals is two keys; a key of an admin for what is another's does
// not meet the owner's own.
//
//cases:100
func TestIdempotencyKeysAreThePrincipals(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	const key = "Idempotency-Key: one"
	ask := func(column, path, body string) *answer {
		a := m.as(column, "POST", path, body, key)
		if a.status/100 != 2 {
			t.Errorf("%s %s: %d %s", column, path, a.status, a.body)
		}
		return a
	}
	const body = `{"model":"shell","input":"echo hi"}`
	first, again, other := ask("owner", "/v1/responses", body), ask("owner", "/v1/responses", body), ask("other principal", "/v1/responses", body)
	if first.id() != again.id() || first.id() == other.id() {
		t.Errorf("%s, again %s, another's %s", first.id(), again.id(), other.id())
	}
	if a := m.as("other principal", "POST", "/v1/responses", `{"model":"shell","input":"echo other"}`, key); a.code() != "idempotency.mismatch" {
		t.Errorf("%d %s", a.status, a.body)
	}
	talk, _ := first.json["conversation"].(map[string]any)
	session := "/v1/agents/sessions/" + strings.Replace(fmt.Sprint(talk["id"]), "conv_", "agsess_", 1)
	ask("admin", session+"/events", `{"input":"echo the admin"}`) // the owner's key is taken, and for something else
	ask("admin", session+"/events", `{"input":"echo the admin"}`)
	m.ok("GET", session+"/events?close_on_idle=true&after=0", "")
	if n := len(idsOf(m.ok("GET", session+"/turns", ""))); n != 2 {
		t.Errorf("%d turns", n)
	}
}

// An admin sees in lists what is everybody's, by pages; a list of models has its own.
func TestAnAdminListsEverybodys(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	var want []string
	for _, column := range []string{"owner", "other principal", "admin"} {
		a := m.as(column, "POST", "/v1/agents", `{"name":"a","model":"shell"}`)
		want = append(want, a.id())
	}
	slices.Reverse(want)
	one := idsOf(m.as("admin", "GET", "/v1/agents?limit=1", ""))
	rest := idsOf(m.as("admin", "GET", "/v1/agents?after="+want[0], ""))
	if got := append(one, rest...); !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	if got := idsOf(m.as("admin", "GET", "/v1/models", "")); !slices.Equal(got, []string{"shell", "a"}) && !slices.Equal(got, []string{"a", "shell"}) {
		t.Errorf("models: %v", got)
	}
	if a := m.as("admin", "POST", "/v1/agents/sessions", `{"agent_id":"`+want[2]+`","input":"echo hi"}`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := m.as("admin", "POST", "/v1/responses", `{"model":"`+want[2]+`","input":"echo hi"}`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Principals of one group (scope.share_sessions) use each other's sessions by id, and
// nothing else of each other's; others see nothing.
func TestSharedSessions(t *testing.T) {
	t.Parallel()
	const all = `"agents.**","responses.**","conversations.**"`
	roster := rosterOf(t, `[
		{"allow":[`+all+`],"principals":["alice","guest"],"scope":{"share_sessions":"team"}},
		{"allow":[`+all+`],"principals":["root"]}
	]`)
	host := shellHost(t, actors.WithPolicy(roster))
	list := slices.Clone(principals)
	list[1].Roles = []string{"dev"} // root is no admin here
	cfg := Config{Host: host, Principals: list, Policy: roster, CancelWait: 5 * time.Second, Adapters: []responses.Adapter{{Name: "shell"}}}
	r := start(t, cfg, wireHandlers(host, &cfg))
	as := func(token, method, path, body string) *answer { return r.do(t, method, path, token, body) }

	made := as(aliceToken, "POST", "/v1/responses", `{"model":"shell","input":"echo hi"}`)
	talk, _ := made.json["conversation"].(map[string]any)
	session := "/v1/agents/sessions/" + strings.Replace(fmt.Sprint(talk["id"]), "conv_", "agsess_", 1)
	for _, path := range []string{session, session + "/items", session + "/turns", "/v1/responses/" + made.id(), "/v1/conversations/" + fmt.Sprint(talk["id"])} {
		if a := as(guestToken, "GET", path, ""); a.status != 200 || a.body != as(aliceToken, "GET", path, "").body {
			t.Errorf("%s of the group: %d %s", path, a.status, a.body)
		}
		if a := as(rootToken, "GET", path, ""); a.status != 404 {
			t.Errorf("%s of nobody's: %d", path, a.status)
		}
	}
	next := as(guestToken, "POST", "/v1/responses", `{"model":"shell","input":"echo next","previous_response_id":"`+made.id()+`"}`)
	if next.status != 200 {
		t.Fatalf("%d %s", next.status, next.body)
	}
	if a := as(aliceToken, "GET", "/v1/responses/"+next.id(), ""); a.status != 200 {
		t.Errorf("what was added is not the owner's: %d", a.status)
	}
	if got := idsOf(as(guestToken, "GET", "/v1/agents/sessions", "")); len(got) != 0 {
		t.Errorf("a list has what is shared: %v", got)
	}
	saved, file := as(aliceToken, "POST", "/v1/agents", `{"name":"a","model":"shell"}`), as(aliceToken, "POST", "/v1/files", matrixBodies["agents.files.create"])
	for _, path := range []string{"/v1/agents/" + saved.id(), "/v1/files/" + file.id()} {
		if a := as(guestToken, "GET", path, ""); a.status != 404 {
			t.Errorf("%s is shared: %d", path, a.status)
		}
	}
}
