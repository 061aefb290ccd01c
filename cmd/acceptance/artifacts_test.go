package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/fakes/provider"
	"github.com/agenthost/agenthost/fakes/tools"
)

// artifactCases is how many artifacts.py and artifacts.mjs have.
const (
	artifactCases   = 9
	artifactCasesJS = 2
)

// artifactRig is a server whose agent is the real Codex, each session in a private
// workspace, with two principals.
func artifactRig(t *testing.T) (r *rig, otherToken string) {
	t.Helper()
	otherToken = "other-test-token-0123456789"
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
	r = newRig(t,
		func(c *rigConfig) { c.OutsideTemp = true },
		key("auth", map[string]any{"tokens": []any{
			map[string]any{"id": "app", "roles": []string{"dev"}, "token_env": "APP_API_KEY"},
			map[string]any{"id": "other", "roles": []string{"dev"}, "token_env": "OTHER_API_KEY"},
		}}),
		cli("codex", map[string]any{"binary": tools.Need(t, "bin/codex"), "passthrough_env": []string{}, "llm": map[string]any{"base_url_env": "ABX_LLM_BASE_URL", "api_key_env": "ABX_LLM_API_KEY"}}),
		env("APP_API_KEY="+sdkToken, "OTHER_API_KEY="+otherToken, "ABX_LLM_BASE_URL="+url+"/v1", "ABX_LLM_API_KEY="+cliKey),
	)
	r.http.token = sdkToken
	return r, otherToken
}

// The official SDKs list, read and delete what the real Codex has written;
// artifacts.py and artifacts.mjs say what they expect.
func TestArtifactsWithTheSDKs(t *testing.T) {
	t.Parallel()
	r, otherToken := artifactRig(t)
	play := func(who, program, script string, cases int, more ...string) {
		t.Helper()
		args := []string{script}
		if strings.HasSuffix(script, ".py") {
			args = []string{"-B", script}
		}
		v := judged(t, r, r.URL, program, args, more...)
		for name, why := range v.failed {
			t.Errorf("%s: %s: %s", who, name, why)
		}
		if n := len(v.passed) + len(v.failed); n != cases || v.total != cases {
			t.Errorf("%s: %d of %d cases were played, want %d: %s", who, n, v.total, cases, v.errors)
		}
	}
	for _, version := range []string{"3.57.0", "3.51.0", "3.29.0"} {
		play("python "+version, tools.Need(t, "py-"+version+"/bin/python"), "artifacts.py", artifactCases, "OTHER_API_KEY="+otherToken)
	}
	node, sdk := javaScript(t)
	play("javascript", node, "artifacts.mjs", artifactCasesJS, sdk)
	if strings.Contains(r.Log(), "level=ERROR") {
		t.Errorf("the server logged an error:\n%s", r.LogTail())
	}
}

// What was published before the server was killed is there after it.
func TestArtifactsSurviveAKilledServer(t *testing.T) {
	t.Parallel()
	r, _ := artifactRig(t)
	body := sessionBody("codex", "[[shell: mkdir -p outputs && printf kept > outputs/a.txt && printf gone > outputs/b.txt]]")
	session := r.http.ok("POST", "/v1/agents/sessions", body).str("id")
	path := "/v1/agents/sessions/" + session
	r.until(cliTurnLimit, "the session is idle", func() bool { return r.http.ok("GET", path, nil).str("status") == "idle" })
	list := r.http.ok("GET", path+"/artifacts?order=asc", nil).list("data")
	if len(list) != 2 {
		t.Fatalf("published %v", list)
	}
	kept, gone := path+"/artifacts/"+word(list[0], "id"), path+"/artifacts/"+word(list[1], "id")
	r.http.ok("DELETE", gone, nil)
	r.Kill()
	r.Restart()
	if a := r.http.ok("GET", kept+"/content", nil); string(a.body) != "kept" {
		t.Errorf("content %q", a.body)
	}
	if a := r.http.do("GET", gone, nil); a.status != 404 {
		t.Errorf("a deleted artifact: %d %s", a.status, a.body)
	}
	r.http.ok("DELETE", path, nil)
	left, err := filepath.Glob(filepath.Join(r.StateDir, "artifacts", "*", "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left of a deleted session: %v %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(r.StateDir, "artifacts", "pending")); err != nil {
		t.Error(err)
	}
}
