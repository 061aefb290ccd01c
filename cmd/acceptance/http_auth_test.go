package acceptance

import (
	"bufio"
	"regexp"
	"strings"
	"testing"
	"time"
)

func newReader(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }

// Cases 97 and 99: how a token may be presented.
//
//cases:97,99
func TestCaseTokens(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"bearer":              {[]string{"Authorization: bearer " + appToken}, 200},
		"upper, two spaces":   {[]string{"Authorization: BEARER  " + appToken}, 200},
		"trailing space":      {[]string{"Authorization: Bearer " + appToken + " "}, 200},
		"tab":                 {[]string{"Authorization: Bearer\t" + appToken}, 200},
		"access token":        {[]string{"X-Access-Token: " + appToken}, 200},
		"both, the same":      {[]string{"Authorization: Bearer " + appToken, "X-Access-Token: " + appToken}, 200},
		"both, one is valid":  {[]string{"Authorization: Bearer nonsense-nonsense", "X-Access-Token: " + appToken}, 200},
		"two valid ones":      {[]string{"Authorization: Bearer " + appToken, "X-Access-Token: " + otherToken}, 400},
		"wrong case of token": {[]string{"Authorization: Bearer " + strings.ToUpper(appToken)}, 401},
		"part of a token":     {[]string{"Authorization: Bearer " + appToken[:10]}, 401},
		"basic":               {[]string{"Authorization: Basic " + appToken}, 401},
		"bare":                {[]string{"Authorization: " + appToken}, 401},
		"none":                {nil, 401},
		"no role":             {[]string{"Authorization: Bearer " + readToken}, 403},
	} {
		a := parsed(t, r.http.tcp(raw("GET", "/v1/models", "", c.headers...)), "GET")
		if a.status != c.status {
			t.Errorf("%s: %d, not %d: %s", name, a.status, c.status, clip(a.body))
		}
		if a.status != 200 && a.code() == "" {
			t.Errorf("%s: no code", name)
		}
		if a.status == 401 && a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no WWW-Authenticate", name)
		}
	}
	if a := parsed(t, r.http.tcp(raw("GET", "/v1/models?token="+appToken+"&access_token="+appToken+"&api_key="+appToken, "")), "GET"); a.status != 401 {
		t.Errorf("a token in the query: %d", a.status)
	}
	if strings.Contains(r.Log(), appToken) || strings.Contains(r.Log(), otherToken) {
		t.Error("a token is in the log")
	}
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/health": 200, "/capabilities": 401} {
		if a := r.http.as("").do("GET", path, nil); a.status != status {
			t.Errorf("%s without a token: %d", path, a.status)
		}
	}
	r.Stop()
}

// Case 100: a foreign id is an unknown one.
//
//cases:100
func TestCase100ForeignIDs(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	mine := r.http
	theirs := r.http.as(otherToken)
	resp := mine.respond(map[string]any{"model": "codex", "input": "[[say: secret]]"})
	hex := strings.TrimPrefix(resp.str("id"), "resp_")
	sess := strings.TrimPrefix(resp.str("conversation", "id"), "conv_")
	agent := strings.TrimPrefix(mine.ok("POST", "/v1/agents", map[string]any{"name": "mine", "model": "codex"}).str("id"), "agent_")
	const unknown = "0123456789abcdef0123456789abcdef"
	requestID := regexp.MustCompile(`req_[0-9a-f]+`)
	for _, c := range []struct{ method, path, id, body string }{
		{"GET", "/v1/agents/agent_%s", agent, ""}, {"POST", "/v1/agents/agent_%s", agent, `{"name":"x"}`}, {"DELETE", "/v1/agents/agent_%s", agent, ""},
		{"POST", "/v1/agents/sessions", agent, `{"agent_id":"agent_%s"}`},
		{"GET", "/v1/agents/sessions/agsess_%s", sess, ""}, {"POST", "/v1/agents/sessions/agsess_%s", sess, `{"metadata":{"a":"b"}}`}, {"DELETE", "/v1/agents/sessions/agsess_%s", sess, ""},
		{"GET", "/v1/agents/sessions/agsess_%s/events", sess, ""}, {"GET", "/v1/agents/sessions/agsess_%s/events?after=1", sess, ""},
		{"POST", "/v1/agents/sessions/agsess_%s/events", sess, `{"events":[{"type":"agent.session.input.cancel"}]}`},
		{"POST", "/v1/agents/sessions/agsess_%s/events", sess, `{"events":[{"type":"nonsense"}]}`},
		{"GET", "/v1/agents/sessions/agsess_%s/items", sess, ""}, {"GET", "/v1/agents/sessions/agsess_%s/turns", sess, ""},
		{"GET", "/v1/agents/sessions/agsess_%s/turns/turn_" + hex, sess, ""}, {"GET", "/v1/agents/sessions/agsess_%s/turns/turn_" + hex + "/items", sess, ""},
		{"GET", "/v1/responses/resp_%s", hex, ""}, {"GET", "/v1/responses/resp_%s?stream=true", hex, ""}, {"DELETE", "/v1/responses/resp_%s", hex, ""},
		{"POST", "/v1/responses/resp_%s/cancel", hex, ""}, {"GET", "/v1/responses/resp_%s/input_items", hex, ""},
		{"POST", "/v1/responses", hex, `{"model":"codex","input":"x","previous_response_id":"resp_%s"}`},
		{"POST", "/v1/responses", sess, `{"model":"codex","input":"x","conversation":"conv_%s"}`},
		{"POST", "/v1/responses", agent, `{"model":"agent_%s","input":"x"}`}, {"GET", "/v1/models/agent_%s", agent, ""},
	} {
		ask := func(id string) (*answer, string) {
			path, body := strings.ReplaceAll(c.path, "%s", id), strings.ReplaceAll(c.body, "%s", id)
			var in any
			if body != "" {
				in = body
			}
			a := theirs.do(c.method, path, in)
			return a, requestID.ReplaceAllString(strings.ReplaceAll(string(a.body), id, "ID"), "REQ")
		}
		foreign, text := ask(c.id)
		never, want := ask(unknown)
		if foreign.status/100 != 4 || foreign.status != never.status || text != want {
			t.Errorf("%s %s %s: foreign %d %s, unknown %d %s", c.method, c.path, c.body, foreign.status, text, never.status, want)
		}
	}
	if a := mine.ok("GET", "/v1/responses/"+resp.str("id"), nil); string(a.body) != string(resp.body) {
		t.Errorf("mine is now %s", clip(a.body))
	}
	for _, path := range []string{"/v1/agents", "/v1/agents/sessions"} {
		if n := len(theirs.ok("GET", path, nil).list("data")); n != 0 {
			t.Errorf("%s lists %d foreign ones", path, n)
		}
		if n := len(r.http.as(adminToken).ok("GET", path, nil).list("data")); n != 1 && n != 0 {
			t.Errorf("%s lists %d to an admin", path, n)
		}
	}
	r.Stop()
}

func TestGroupSwitchedOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, key("groups", []string{}))
	for _, c := range [][2]string{{"GET", "/v1/models"}, {"POST", "/v1/responses"}, {"GET", "/v1/agents/sessions/agsess_" + strings.Repeat("0", 32)}} {
		a := r.http.do(c[0], c[1], nil)
		if a.status != 404 || a.code() != "endpoint_disabled" || a.at("rule") == nil && a.at("error", "rule") == nil {
			t.Errorf("%v: %d %s", c, a.status, clip(a.body))
		}
	}
	if a := r.http.do("GET", "/capabilities", nil); a.status != 200 || at(a.object, "endpoints", "agents_models_list", "enabled") != false {
		t.Errorf("/capabilities: %d %s", a.status, clip(a.body))
	}
	r.Stop()
}

func TestProbes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if a := r.http.ok("GET", "/health", nil); a.str("status") != "ok" {
		t.Errorf("/health: %s", a.body)
	}
	if a := r.http.ok("GET", "/readyz", nil); a.str("status") != "ready" {
		t.Errorf("/readyz: %s", a.body)
	}
	a := r.http.ok("GET", "/capabilities", nil)
	for _, path := range [][]any{{"api_version"}, {"server_version"}, {"groups"}, {"identity", "id"}, {"policy"}, {"endpoints", "agents_responses_create", "method"}} {
		if a.at(path...) == nil {
			t.Errorf("/capabilities has no %v", path)
		}
	}
	if at(a.object, "endpoints", "agents_responses_create", "allowed") != true {
		t.Errorf("/capabilities: %v", at(a.object, "endpoints", "agents_responses_create"))
	}
	a = r.http.ok("GET", "/v1/agents/runtimes", nil)
	names := map[any]any{}
	for _, one := range a.list("data") {
		names[at(one, "name")] = at(one, "installed")
		for _, k := range []string{"id", "object", "aliases", "binary", "path", "version", "capabilities", "install_steps", "default"} {
			if _, ok := one.(map[string]any)[k]; !ok {
				t.Errorf("a runtime has no %s", k)
			}
		}
	}
	if names["codex"] != true || names["claude-code"] != true {
		t.Errorf("the runtimes are %v", names)
	}
	r.http.respond(map[string]any{"model": "codex", "input": "[[say: hi]]"})
	for _, name := range []string{`agenthost_turns_total{outcome="completed"}`, "go_goroutines", "agenthost_streams_open", "process_resident_memory_bytes",
		`agenthost_requests_total{operation="responses.create",status="200"}`} {
		if v := r.Metric(name); v < 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
	if r.Metric(`agenthost_turns_total{outcome="completed"}`) != 1 {
		t.Error("the turn is not counted")
	}
	// What is not built says so, once and for all.
	b := r.http.do("POST", "/v1/vaults", map[string]any{"name": "v"})
	if b.status != 501 || b.code() != "operation_unavailable" || b.header.Get("x-should-retry") != "false" || b.str("error", "param") != "agents.vaults.create" {
		t.Errorf("%d %s", b.status, clip(b.body))
	}
	r.Stop()
}

// Case 90: what a refusal tells a client about trying again.
//
//cases:90
func TestCase90RetryHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, limit("max_queue", 1), limit("drain_timeout", "2s"), grace("300ms", "300ms"))
	session := r.http.session("codex")
	r.http.say(session, "tag:one [[wait: 600000]]")
	r.started("one")
	r.http.say(session, "tag:two [[say: two]]")
	full := r.http.say(session, "tag:three [[say: three]]")
	if full.status != 429 || full.code() != "queue_full" || full.header.Get("Retry-After") == "" || full.header.Get("x-should-retry") != "" {
		t.Errorf("a full queue: %d %v %s", full.status, full.header, clip(full.body))
	}
	const k = "Idempotency-Key: same"
	r.http.ok("POST", "/v1/responses", map[string]any{"model": "codex", "input": "[[say: a]]"}, k)
	for name, a := range map[string]*answer{
		"mismatch":      r.http.do("POST", "/v1/responses", map[string]any{"model": "codex", "input": "[[say: b]]"}, k),
		"not built":     r.http.do("POST", "/v1/responses/compact", map[string]any{}),
		"bad input":     r.http.do("POST", "/v1/responses", map[string]any{"model": "codex", "input": 3}),
		"unknown id":    r.http.do("GET", "/v1/responses/resp_"+strings.Repeat("0", 32), nil),
		"unknown model": r.http.do("POST", "/v1/responses", map[string]any{"model": "no-such-agent-" + strings.Repeat("x", 300), "input": "x"}),
		"bad cursor":    r.http.do("GET", "/v1/agents/sessions/"+session+"/events?after=xyz", nil),
	} {
		retried := a.status == 408 || a.status == 409 || a.status == 429 || a.status >= 500
		if a.status < 400 || a.code() == "" || retried && a.header.Get("x-should-retry") != "false" || a.header.Get("x-request-id") == "" {
			t.Errorf("%s: %d %v %s", name, a.status, a.header, clip(a.body))
		}
	}
	list := r.http.turns(session)
	first, _ := at(list, 0, "id").(string)
	r.http.do("POST", "/v1/responses/"+responseID(first)+"/cancel", nil)
	r.http.idle(session, time.Minute)
	if n := r.times(); n["three"] != 0 || n["two"] != 1 {
		t.Errorf("the CLIs ran %v", n)
	}
	r.Stop()
}
