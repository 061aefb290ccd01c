package acceptance

import (
	"strings"
	"testing"
)

// What was posted and what was deleted survives SIGKILL, and the next response is
// told of it, once.
func TestConversationsSurviveAKilledServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	at := "/v1/conversations/" + r.http.do("POST", "/v1/conversations", map[string]any{}).str("id")
	post := func(texts ...string) *answer {
		var list []any
		for _, text := range texts {
			list = append(list, map[string]any{"role": "user", "content": text})
		}
		return r.http.ok("POST", at+"/items", map[string]any{"items": list})
	}
	post("the word is heron")
	gone := post("the word is otter").str("last_id")
	r.http.ok("DELETE", at+"/items/"+gone, nil)
	r.Kill()
	r.Restart()
	if a := r.http.ok("GET", at+"/items", nil); strings.Count(string(a.body), `"type":"message"`) != 1 || !strings.Contains(string(a.body), "heron") {
		t.Errorf("items %s", a.body)
	}
	ask := func(text string) string {
		return string(r.http.ok("POST", "/v1/responses", map[string]any{"model": "codex", "input": text, "conversation": strings.TrimPrefix(at, "/v1/conversations/")}).body)
	}
	if first := ask("which?"); !strings.Contains(first, "user: the word is heron") || strings.Contains(first, "otter") {
		t.Errorf("%s", first)
	}
	r.Kill()
	r.Restart()
	if second := ask("again?"); strings.Contains(second, "user: the word is heron") {
		t.Errorf("told twice: %s", second)
	}
}
