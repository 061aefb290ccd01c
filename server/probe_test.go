package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestReadinessSaysWhy(t *testing.T) {
	t.Parallel()
	host := &fakeHost{}
	r := start(t, Config{Host: host, Principals: principals}, nil)
	if a := r.do(t, "GET", "/readyz", "", ""); a.status != 200 || a.body != `{"status":"ready"}` {
		t.Errorf("%d %s", a.status, a.body)
	}
	for why, h := range map[string]*fakeHost{"min_available_memory": {noRoom: true}, "the store failed": {storeErr: errors.New("fsync /secret/path: EIO")}} {
		r := start(t, Config{Host: h}, nil)
		text := r.raw(t, "GET /readyz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(text, "HTTP/1.1 503") || !strings.Contains(text, why) || strings.Contains(text, "/secret") {
			t.Errorf("%s: %s", why, text)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	r.do(t, "GET", "/v1/models", aliceToken, "")
	r.do(t, "GET", "/v1/models", "", "")
	r.do(t, "GET", "/v1/vaults", aliceToken, "")
	a := r.do(t, "GET", "/metrics", "", "") // the test listens on loopback
	for _, want := range []string{
		`agenthost_requests_total{operation="agents.models.list",status="200"} 1`,
		`agenthost_requests_total{operation="agents.models.list",status="401"} 1`,
		`agenthost_requests_total{operation="agents.vaults.list",status="501"} 1`,
		"agenthost_turns_running 3", "agenthost_turns_waiting 5", "agenthost_orphans_reaped_total 7", `agenthost_turns_total{outcome="completed"} 11`,
		"agenthost_store_commit_seconds_sum 1", "agenthost_store_commit_seconds_count 2", "agenthost_memory_room 1", "agenthost_streams_open 0", "go_goroutines",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %s in\n%s", want, a.body)
		}
	}
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s", a.status, a.header.Get("Content-Type"))
	}
}

func TestCapabilitiesInTheShapeOfExistingDeployments(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	if a := r.do(t, "GET", "/capabilities", "", ""); a.status != 401 {
		t.Errorf("%d", a.status)
	}
	a := r.do(t, "GET", "/capabilities", aliceToken, "")
	identity, _ := a.json["identity"].(map[string]any)
	if a.status != 200 || a.json["api_version"] != 2.0 || a.json["server_version"] != "1.2.3" || identity["id"] != "alice" {
		t.Errorf("%d %s", a.status, a.body)
	}
	endpoints, _ := a.json["endpoints"].(map[string]any)
	for id, want := range map[string]bool{"agents_sessions_create": true, "agents_vaults_create": false, "agents_responses_create": true, "health": true} {
		e, _ := endpoints[id].(map[string]any)
		if e["allowed"] != want || e["method"] == nil || e["path"] == nil {
			t.Errorf("%s: %v", id, e)
		}
	}
	e, _ := r.do(t, "GET", "/capabilities", guestToken, "").json["endpoints"].(map[string]any)
	if one, _ := e["agents_sessions_create"].(map[string]any); one["allowed"] != false || one["rule"] != "roles" {
		t.Errorf("%v", one)
	}
}

func TestRuntimesList(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	a := r.do(t, "GET", "/v1/agents/runtimes", "", "")
	if a.status != 200 || a.json["first_id"] != "codex" || a.json["last_id"] != "other" || a.json["has_more"] != false {
		t.Fatalf("%d %s", a.status, a.body)
	}
	data, _ := a.json["data"].([]any)
	codex, _ := data[0].(map[string]any)
	if codex["object"] != "agent.runtime" || codex["installed"] != true || codex["path"] != "/x/codex" || codex["implemented"] != true || codex["default"] != true {
		t.Errorf("%v", codex)
	}
	if fmt.Sprint(codex["lacks"]) != "[map[flag:--json param:<nil>] map[flag:--x param:input]]" || fmt.Sprint(codex["installable"]) != "[1.2]" || codex["install"] != nil {
		t.Errorf("%v", codex)
	}
	if other, _ := data[1].(map[string]any); other["path"] != nil || other["installed"] != false {
		t.Errorf("%v", other)
	}
}
