package agents

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

func TestSessionIsCreatedWithDefaultsReadChangedAndDeleted(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	made := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex","instructions":"Be brief."},"metadata":{"team":"a"},
		"review":"none","prompt_cache_options":{"ttl":"30m"},"spend_control":{"limit":null},"vault_ids":[],"stream":false}`).is("AgentSession")
	if made.str("status") != "idle" || made.str("review") != "none" || made.Body["usage"] != nil {
		t.Errorf("created %s", made.Raw)
	}
	if env, _ := made.Body["environment"].(map[string]any); env["type"] != "self_hosted" {
		t.Errorf("environment %v", env)
	}
	n := s.engine.news[0]
	if n.Agent.Adapter != "codex" || n.Agent.Instructions != "Be brief." || n.Input != nil || n.Environment.Workspace != "" {
		t.Errorf("asked for %+v", n)
	}
	id := made.str("id")
	if got := s.do("GET", "/agents/sessions/"+strings.Replace(id, "agsess_", "conv_", 1), "").is("AgentSession"); string(got.Raw) != string(made.Raw) {
		t.Errorf("read back\n%s\ncreated\n%s", got.Raw, made.Raw)
	}
	changed := s.do("POST", "/agents/sessions/"+id, `{"metadata":{"team":"b"},"agent":{"model":"gpt-5.5","reasoning":{"effort":"high"}},"prompt_cache_options":null}`).is("AgentSession")
	if m, _ := changed.Body["metadata"].(map[string]any); m["team"] != "b" || changed.Body["prompt_cache_options"] != nil || changed.str("review") != "none" {
		t.Errorf("changed %s", changed.Raw)
	}
	if u := s.engine.updates[0]; *u.Model != "gpt-5.5" || u.Reasoning.Effort != "high" || u.Instructions != nil || u.Tools != nil || u.ServiceTier != nil {
		t.Errorf("update %+v", u)
	}
	s.do("POST", "/agents/sessions/"+id, ``).is("AgentSession")
	gone := s.do("DELETE", "/agents/sessions/"+id, "").is("AgentSessionDeleted")
	if gone.str("id") != id {
		t.Errorf("deleted %s", gone.Raw)
	}
	s.do("GET", "/agents/sessions/"+id, "").refused(404, "session_not_found", "session_id")
}

func TestSessionOfASavedAgentTakesOverrides(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	id := s.do("POST", "/agents", `{"model":"codex","name":"coder","instructions":"Old.","service_tier":"flex"}`).is("Agent").str("id")
	made := s.do("POST", "/agents/sessions", `{"agent_id":"`+id+`","agent":{"instructions":"New.","model":"gpt-5.5"},"environment":{"type":"self_hosted","workspace_directory":"/srv/x"}}`).is("AgentSession")
	a, _ := made.Body["agent"].(map[string]any)
	if a["id"] != id || a["instructions"] != "New." || a["model"] != "gpt-5.5" || a["service_tier"] != "flex" || a["name"] != "coder" {
		t.Errorf("agent %v", a)
	}
	if s.engine.agents[0].Instructions != "Old." {
		t.Error("the saved agent was changed")
	}
	named := s.do("POST", "/agents/sessions", `{"agent":{"model":"coder"}}`).is("AgentSession")
	if a, _ := named.Body["agent"].(map[string]any); a["id"] != id {
		t.Errorf("a model that names a saved agent gave %v", a)
	}
	s.do("POST", "/agents/sessions", `{"agent_id":"`+id+`","agent":{"model":"claude-code"}}`).refused(400, "invalid_request", "agent.model")
	s.do("POST", "/agents/sessions", `{"agent_id":"agent_x"}`).refused(404, "agent_not_found", "agent_id")
}

func TestSessionEnvironments(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{Hosted: true})
	for _, env := range []string{`{"type":"none"}`, `{"type":"openai_hosted"}`, `{"type":"openai_hosted","files":null}`, `null`,
		`{"type":"self_hosted","workspace_directory":"/srv/x","capability_directories":[]}`} {
		s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":"x","environment":`+env+`}`).is("AgentSession")
	}
	s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"environment":{"type":"openai_hosted","packages":{}}}`).
		refused(400, "agents.environment_unsupported", "environment.packages")
	off := serve(t, Options{})
	off.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"environment":{"type":"openai_hosted"}}`).
		refused(400, "agents.environment_unsupported", "environment.type")
}

func TestSessionFieldsThatAreRefusedAreNamed(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{Hosted: true})
	for _, c := range []struct{ body, code, param, says string }{
		{`{}`, "invalid_request", "agent.model", "agent_id"},
		{`{"agent":{"model":"nope"}}`, "agents.adapter_required", "agent.model", "nope"},
		{`{"agent":{"model":"codex","instruction":"x"}}`, "invalid_request", "agent.instruction", "did you mean instructions"},
		{`{"agent":{"model":"codex","name":"x"}}`, "invalid_request", "agent.name", ""},
		{`{"agent":"codex"}`, "invalid_request", "agent", "an object"},
		{`{"agent":{"model":"codex"},"environment":{"type":"cloud"}}`, "invalid_request", "environment.type", "self_hosted"},
		{`{"agent":{"model":"codex"},"environment":{}}`, "invalid_request", "environment.type", ""},
		{`{"agent":{"model":"codex"},"environment":{"type":"self_hosted","workspace_directory":""}}`, "invalid_request", "environment.workspace_directory", ""},
		{`{"agent":{"model":"codex"},"environment":{"type":"self_hosted","workspace_directory":"a/b"}}`, "invalid_request", "environment.workspace_directory", ""},
		{`{"agent":{"model":"codex"},"environment":{"type":"self_hosted","workspace_directory":"/w/../etc"}}`, "invalid_request", "environment.workspace_directory", ""},
		{`{"agent":{"model":"codex"},"environment":{"type":"self_hosted","workspace_directory":"/` + strings.Repeat("x", 5000) + `"}}`, "invalid_request", "environment.workspace_directory", ""},
		{`{"agent":{"model":"codex"},"environment":{"type":"self_hosted","workspace_directory":"/w","capability_directories":["/c"]}}`, "agents.environment_unsupported", "environment.capability_directories", ""},
		{`{"agent":{"model":"codex"},"environment":{"type":"none"}}`, "invalid_request", "input", "none"},
		{`{"agent":{"model":"codex"},"environment":{"type":"openai_hosted"},"stream":true}`, "invalid_request", "input", "stream"},
		{`{"agent":{"model":"codex"},"stream_options":{"include_obfuscation":true}}`, "invalid_request", "stream_options", "stream"},
		{`{"agent":{"model":"codex"},"stream":"yes"}`, "invalid_request", "stream", "true or false"},
		{`{"agent":{"model":"codex"},"vault_ids":["vault_1"]}`, "agents.unsupported", "vault_ids", "vaults"},
		{`{"agent":{"model":"codex"},"review":"auto_review"}`, "agents.unsupported", "review", ""},
		{`{"agent":{"model":"codex"},"spend_control":{"limit":0}}`, "invalid_request", "spend_control.limit", "US cents"},
		{`{"agent":{"model":"codex"},"spend_control":{"cap":5}}`, "invalid_request", "spend_control.cap", "not a field"},
		{`{"agent":{"model":"codex"},"metadata":{"a":[]}}`, "invalid_request", "metadata", ""},
	} {
		if says := s.do("POST", "/agents/sessions", c.body).refused(400, c.code, c.param); !strings.Contains(says, c.says) {
			t.Errorf("%s: says %q, want %q in it", c.body, says, c.says)
		}
	}
	if len(s.engine.news) != 0 {
		t.Errorf("%d sessions were asked for", len(s.engine.news))
	}
	id := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`).is("AgentSession").str("id")
	for _, c := range []struct{ body, param string }{
		{`{"metdata":{}}`, "metdata"},
		{`{"agent":{"name":"x"}}`, "agent.name"},
		{`{"agent":{"model":"claude-code"}}`, "agent.model"},
		{`{"input":"x"}`, "input"},
	} {
		s.do("POST", "/agents/sessions/"+id, c.body).refused(400, "invalid_request", c.param)
	}
	if len(s.engine.updates) != 0 {
		t.Error("a refused update was made")
	}
}

// A newer SDK's field must not break a caller; it is named in a header.
func TestUnknownTopLevelFieldsOfANewSessionAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	a := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"zeta":1,"alpha":{},"b ad\r\n":2}`)
	a.is("AgentSession")
	if got := a.Header.Get(headerIgnored); got != "alpha,zeta" {
		t.Errorf("ignored %q", got)
	}
}

func TestInputBecomesOneTurnPerInput(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	made := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":[
		{"role":"user","content":[{"type":"input_text","text":"One"},{"type":"input_text","text":"and"}]},
		{"type":"message","role":"user","content":"two."}]}`).is("AgentSession")
	if made.str("status") != "in_progress" {
		t.Errorf("created %s", made.Raw)
	}
	in := s.engine.news[0].Input
	if len(in.Items) != 2 || in.Prompt() != "One\n\nand\n\ntwo." || in.Wire != "agents" || !in.Items[0].User {
		t.Errorf("input %+v", in)
	}
	items := s.do("GET", "/agents/sessions/"+made.str("id")+"/items?order=asc", "")
	data, _ := items.Body["data"].([]any)
	if len(data) != 2 {
		t.Fatalf("items %s", items.Raw)
	}
	for _, it := range data {
		b, _ := stdjson.Marshal(it)
		checkObject(t, "AgentSessionItem", b)
	}
}

func TestInputsThatCannotBeAskedAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	for _, c := range []struct{ input, code, param string }{
		{`""`, "invalid_request", "input"},
		{`"  \n"`, "invalid_request", "input"},
		{`[]`, "invalid_request", "input"},
		{`7`, "invalid_request", "input"},
		{`{}`, "invalid_request", "input"},
		{`[7]`, "invalid_request", "input[0]"},
		{`[{}]`, "invalid_request", "input[0].role"},
		{`[{"role":"system","content":"x"}]`, "invalid_request", "input[0].role"},
		{`[{"role":"assistant","content":"x"}]`, "invalid_request", "input[0].role"},
		{`[{"role":"user","content":[]}]`, "invalid_request", "input[0].content"},
		{`[{"role":"user"}]`, "invalid_request", "input[0].content"},
		{`[{"role":"user","content":[{"type":"input_text"}]}]`, "invalid_request", "input[0].content[0].text"},
		{`[{"role":"user","content":[{"type":"input_text","text":""}]}]`, "invalid_request", "input"},
		{`[{"role":"user","content":[{"type":"output_text","text":"x"}]}]`, "invalid_request", "input[0].content[0].type"},
		{`[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"https://x"}]}]`, "agents.unsupported", "input[0].content[1]"},
		{`[{"type":"reasoning","role":"user","content":"x"}]`, "invalid_request", "input[0].type"},
	} {
		s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":`+c.input+`}`).refused(400, c.code, c.param)
	}
	long := strings.Repeat("\\n", 4<<20)
	s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":"`+long+`x"}`).refused(400, "invalid_request", "input")
	if len(s.engine.news) != 0 {
		t.Errorf("%d sessions were asked for", len(s.engine.news))
	}
}

func TestSessionsAreFilteredByAgentAndMetadata(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	agent := s.do("POST", "/agents", `{"model":"codex"}`).is("Agent").str("id")
	one := s.do("POST", "/agents/sessions", `{"agent_id":"`+agent+`","metadata":{"team":"a b","n":"1"}}`).is("AgentSession").str("id")
	two := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"metadata":{"team":"c"}}`).is("AgentSession").str("id")
	for query, want := range map[string][]string{
		"":                                  {two, one},
		"?order=asc":                        {one, two},
		"?agent_id=" + agent:                {one},
		"?agent_id=agent_x":                 {},
		"?metadata%5Bteam%5D=a%20b":         {one},
		"?metadata[team]=a+b&limit=5":       {one},
		"?metadata[team]=c":                 {two},
		"?metadata[team]=a+b&metadata[n]=2": {},
		"?metadata[none]=x":                 {},
	} {
		a := s.do("GET", "/agents/sessions"+query, "")
		var got []string
		data, _ := a.Body["data"].([]any)
		for _, d := range data {
			m, _ := d.(map[string]any)
			id, _ := m["id"].(string)
			got = append(got, id)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s gave %v, want %v", query, got, want)
		}
	}
	s.do("GET", "/agents/sessions?metadata=x", "").refused(400, "invalid_request", "metadata")
}

func TestListsPageToTheEndInBothOrders(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	for range 45 {
		s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`).is("AgentSession")
	}
	for _, order := range []string{"asc", "desc"} {
		seen, after := map[string]bool{}, ""
		for pages := 0; ; pages++ {
			a := s.do("GET", "/agents/sessions?order="+order+"&limit=20"+after, "")
			data, _ := a.Body["data"].([]any)
			for _, d := range data {
				m, _ := d.(map[string]any)
				id, _ := m["id"].(string)
				seen[id] = true
			}
			if a.Body["has_more"] != true {
				break
			}
			if pages > 5 {
				t.Fatal("the pages do not end")
			}
			after = "&after=" + a.str("last_id")
		}
		if len(seen) != 45 {
			t.Errorf("%s: %d distinct sessions", order, len(seen))
		}
	}
	foreign := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`, "X-Test-Owner", "bob").is("AgentSession").str("id")
	for _, after := range []string{"agsess_" + strings.Repeat("0", 32), foreign, "garbage", "turn_" + strings.Repeat("0", 32)} {
		s.do("GET", "/agents/sessions?after="+after, "").refused(404, "agents.cursor_not_found", "after")
	}
	for _, limit := range []string{"0", "101", "abc", "-1", ""} {
		s.do("GET", "/agents/sessions?limit="+limit, "").refused(400, "invalid_request", "limit")
	}
	s.do("GET", "/agents/sessions?order=up", "").refused(400, "invalid_request", "order")
	empty := s.do("GET", "/agents", "")
	if string(empty.Raw) != `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}` {
		t.Errorf("empty list %s", empty.Raw)
	}
}

func TestTurnsAndItemsAreListedAndRead(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	id := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":"Think."}`).is("AgentSession").str("id")
	st := s.engine.last()
	turn := st.told()[0].ID
	st.start(turn)
	st.say(event.Commentary, "Looking.")
	open := st.open(event.Item{Type: event.Command, Command: "ls"})
	st.delta(event.OutputDelta, open, "a.go\n")

	base := "/agents/sessions/" + id
	running := s.do("GET", base+"/turns/"+turn.With("turn_"), "").is("Turn")
	if running.str("status") != "in_progress" || running.Body["completed_at"] != nil {
		t.Errorf("running turn %s", running.Raw)
	}
	items := s.do("GET", base+"/turns/"+turn.With("resp_")+"/items?order=asc", "")
	data, _ := items.Body["data"].([]any)
	if len(data) != 3 || items.str("last_id") != open.With("item_") {
		t.Fatalf("items %s", items.Raw)
	}
	if last, _ := data[2].(map[string]any); last["status"] != "in_progress" || last["output"] != "a.go\n" {
		t.Errorf("open item %v", last)
	}
	rest := s.do("GET", base+"/turns/"+turn.With("turn_")+"/items?limit=1&after="+items.str("last_id"), "")
	if d, _ := rest.Body["data"].([]any); len(d) != 1 || rest.Body["has_more"] != true {
		t.Errorf("page %s", rest.Raw)
	}
	s.do("GET", base+"/items?after=item_"+strings.Repeat("0", 32), "").refused(404, "agents.cursor_not_found", "after")
	s.do("GET", base+"/turns?after=turn_1", "").refused(404, "agents.cursor_not_found", "after")

	st.done(open, event.Item{Type: event.Command, Command: "ls", Output: "a.go\n", Status: event.Incomplete})
	st.end(turn, event.End{Outcome: event.Failed, Failure: event.Fail(event.CLICrashed, "codex exited with status 3"), Usage: tokens()})
	ended := s.do("GET", base+"/turns/"+turn.With("turn_"), "").is("Turn")
	e, _ := ended.Body["error"].(map[string]any)
	if ended.str("status") != "failed" || e["code"] != "internal_error" || e["message"] != "codex exited with status 3" {
		t.Errorf("ended turn %s", ended.Raw)
	}
	list := s.do("GET", base+"/turns", "")
	if list.str("first_id") != turn.With("turn_") {
		t.Errorf("turns %s", list.Raw)
	}
	if got := s.do("GET", base, "").is("AgentSession"); got.str("status") != "idle" || got.Body["usage"] == nil {
		t.Errorf("session %s", got.Raw)
	}
}

// The object shows a budget to the caller that set one, and only while it is set.
func TestSpendControlIsShownToWhoSetIt(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	for body, want := range map[string]string{
		``: ``, `,"spend_control":null`: ``,
		`,"spend_control":{}`: `{"consumed":0,"limit":null}`, `,"spend_control":{"limit":null}`: `{"consumed":0,"limit":null}`,
		`,"spend_control":{"limit":250}`: `{"consumed":0,"limit":250}`,
	} {
		got := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}`+body+`}`).is("AgentSession")
		if has := strings.Contains(string(got.Raw), `"spend_control"`); has != (want != "") || want != "" && !strings.Contains(string(got.Raw), `"spend_control":`+want) {
			t.Errorf("%s gives %s, want %s", body, got.Raw, want)
		}
	}
	used := func(turns int64, u *event.Usage, want string) {
		t.Helper()
		o := sessionObject(&fold.Session{Turns: turns, Usage: u, Settings: &spec.Session{SpendControl: spec.SpendControl{Asked: true, Limit: 7}}})
		b, err := json.Marshal(o.SpendControl)
		if err != nil || string(b) != `{"consumed":`+want+`,"limit":7}` {
			t.Errorf("%d turns that used %+v: %s %v, want %s", turns, u, b, err, want)
		}
	}
	used(0, nil, "0")
	used(1, nil, "null")                                   // nobody told
	used(1, &event.Usage{Input: 5}, "null")                // what it cost was not told
	used(1, &event.Usage{Input: 5, MicroUSD: 19_999}, "1") // whole cents
	used(2, &event.Usage{Input: 5, MicroUSD: 1_230_000_000}, "123000")
}
