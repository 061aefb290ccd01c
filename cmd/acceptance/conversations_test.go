package acceptance

import (
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/tools"
)

// Cases of conversations.py and conversations.mjs.
const (
	pythonConversations     = 12
	javaScriptConversations = 7
)

// conversationRig is a server for two principals.
func conversationRig(t *testing.T) (r *rig, other string) {
	t.Helper()
	other = "other-test-token-0123456789"
	r = newRig(t,
		key("auth", map[string]any{"tokens": []any{
			map[string]any{"id": "app", "roles": []string{"dev"}, "token_env": "APP_API_KEY"},
			map[string]any{"id": "other", "roles": []string{"dev"}, "token_env": "OTHER_API_KEY"},
		}}),
		env("APP_API_KEY="+sdkToken, "OTHER_API_KEY="+other),
		limit("max_concurrent_turns", 16),
	)
	r.http.token = sdkToken
	return r, "OTHER_API_KEY=" + other
}

func judgeConversations(t *testing.T, cases int, program string, args []string, more ...string) {
	t.Helper()
	r, other := conversationRig(t)
	v := judged(t, r, r.URL, program, args, append(more, other)...)
	for name, why := range v.failed {
		t.Errorf("%s: %s", name, why)
	}
	if n := len(v.passed) + len(v.failed); n != cases || v.total != cases {
		t.Errorf("%d of %d cases were played, want %d: %s", n, v.total, cases, v.errors)
	}
	if strings.Contains(r.Log(), "level=ERROR") {
		t.Errorf("the server logged an error:\n%s", r.LogTail())
	}
	r.Clean(15 * time.Second)
}

func TestConversationsWithThePythonSDK(t *testing.T) {
	t.Parallel()
	judgeConversations(t, pythonConversations, tools.Need(t, "py-3.57.0/bin/python"), []string{"-B", "conversations.py"})
}

func TestConversationsWithTheJavaScriptSDK(t *testing.T) {
	t.Parallel()
	node, sdk := javaScript(t)
	judgeConversations(t, javaScriptConversations, node, []string{"conversations.mjs"}, sdk)
}

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
