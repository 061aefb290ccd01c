package acceptance

import (
	"os"
	"path/filepath"
	"testing"
)

// What was published before the server was killed is there after it.
func TestArtifactsSurviveAKilledServer(t *testing.T) {
	t.Parallel()
	need(t, "codex")
	need(t, "claude-code")
	r := realRig(t)
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
