package server

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
)

func TestInstallingIsOffUnlessAllowed(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	a := r.do(t, "POST", "/v1/agents/runtimes/codex/install", "", "")
	e, _ := a.json["error"].(map[string]any)
	if a.status != 403 || e["code"] != "agents.install_not_allowed" || e["param"] != "agents.codex.install" || !strings.Contains(a.body, "ABX_AGENTS_ALLOW_INSTALL=1") {
		t.Errorf("%d %s", a.status, a.body)
	}
	endpoints, _ := r.do(t, "GET", "/capabilities", "", "").json["endpoints"].(map[string]any)
	if one, _ := endpoints["agents.runtimes.install"].(map[string]any); one["allowed"] != false || one["rule"] != allowInstall {
		t.Errorf("%v", one)
	}
}

func TestInstallAnswersWithTheJob(t *testing.T) {
	t.Parallel()
	host := &fakeHost{wanted: make(chan string, 1)}
	r := start(t, Config{Host: host, AllowInstall: true}, nil)
	a := r.do(t, "POST", "/v1/agents/runtimes/codex/install", "", `{"version":"1.2"}`)
	if got := <-host.wanted; a.status != 202 || got != "codex 1.2" || a.json["object"] != "agent.runtime.install" || a.json["status"] != "running" || a.json["completed_at"] != nil {
		t.Errorf("%q, %d %s", got, a.status, a.body)
	}
	if a := r.do(t, "POST", "/v1/agents/runtimes/codex/install", "", ""); a.status != 202 || <-host.wanted != "codex " {
		t.Errorf("without a body: %d %s", a.status, a.body)
	}
	for body, param := range map[string]string{`{"version":7}`: "version", `{"vers":"1"}`: "vers"} {
		if a := r.do(t, "POST", "/v1/agents/runtimes/codex/install", "", body); a.status != 400 || !strings.Contains(a.body, `"`+param+`"`) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if a := r.do(t, "POST", "/v1/agents/runtimes/nobody/install", "", ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestInstallObjectSaysHowItEnded(t *testing.T) {
	t.Parallel()
	o := installObject(&actors.Install{
		ID: event.ID{7}, Adapter: "codex", State: actors.InstallFailed, Created: 5000, Ended: 9000,
		Progress: []actors.InstallStep{{At: 6000, Text: "npm fetches"}}, Failure: event.Fail(event.IntegrityMismatch, "another package"),
	})
	if o.Status != "failed" || *o.CompletedAt != 9 || o.Error.Code != "integrity_mismatch" || o.Error.Type == "" || o.Progress[0].At != 6 || o.Path != nil {
		t.Errorf("%+v", o)
	}
	if installObject(nil) != nil {
		t.Error("none is no object")
	}
}
