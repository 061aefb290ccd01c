package acceptance

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rawRequests are recorded requests, byte for byte, and how each is answered.
var rawRequests = []struct {
	file   string
	number int
	status int
}{
	{"h_expect_unauth.http", 81, 401}, {"h_expect_too_large.http", 81, 413},
	{"h_trailing_slash.http", 82, 404}, {"h_double_slash.http", 82, 404},
	{"h_id_encoded_slash.http", 83, 404}, {"h_id_dotdot.http", 83, 404}, {"h_id_nul.http", 83, 404}, {"h_id_bad_utf8.http", 83, 404},
	{"h_events_encoded.http", 83, 404}, {"h_artifact_dotdot.http", 83, 404}, {"h_artifact_enc.http", 83, 404}, {"h_artifact_double_enc.http", 83, 404},
	{"h_bad_content_length.http", 84, 400},
	{"h_preflight.http", 85, 204}, {"h_head_models.http", 85, 200},
	{"a_bearer_lower.http", 97, 200}, {"a_bearer_upper_two_spaces.http", 97, 200}, {"a_bearer_trailing_space.http", 97, 200}, {"a_bearer_tab.http", 97, 200},
	{"a_query_token.http", 99, 401},
}

// Requests as they were recorded: each has one answer, at once, in JSON when it is a
// refusal, that leads nowhere and tells nothing of the machine or the token.
//
//cases:81,82,83,84,85,97,99
func TestCaseRawRequests(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	all, err := filepath.Glob(filepath.Join("testdata", "cases", "*.http"))
	if err != nil || len(all) != len(rawRequests) {
		t.Errorf("%d recorded requests, %d are played: %v", len(all), len(rawRequests), err)
	}
	for _, c := range rawRequests {
		request := strings.ReplaceAll(string(recorded(t, c.file)), "{{TOKEN}}", appToken)
		method, _, _ := strings.Cut(request, " ")
		start := time.Now()
		text := r.http.tcp(request)
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("case %d %s: answered after %s", c.number, c.file, took)
		}
		a := parsed(t, text, method)
		if a.status != c.status {
			t.Errorf("case %d %s: %d, not %d: %s", c.number, c.file, a.status, c.status, clip([]byte(text)))
			continue
		}
		if a.header.Get("Location") != "" || strings.Contains(text, "100 Continue") || strings.Count(text, "HTTP/1.1 ") != 1 {
			t.Errorf("case %d %s: %s", c.number, c.file, clip([]byte(text)))
		}
		if a.status >= 400 && (a.code() == "" || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json")) {
			t.Errorf("case %d %s: no envelope: %s", c.number, c.file, clip([]byte(text)))
		}
		if method == "HEAD" && len(a.body) != 0 {
			t.Errorf("case %d %s: a body: %q", c.number, c.file, a.body)
		}
		for _, leak := range []string{"root:", "goroutine", ".go:", appToken, r.StateDir} {
			if strings.Contains(text, leak) {
				t.Errorf("case %d %s: the answer tells %q", c.number, c.file, leak)
			}
		}
	}
	if strings.Contains(r.Log(), appToken) {
		t.Error("the token is in the log")
	}
	r.untouched(0)
	r.Stop()
}
