package mcp_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/fakes/mcp"
)

func TestServeAnswersTheCallsOfAClient(t *testing.T) {
	t.Setenv("SCRIPTED_SECRET", "0123456789")
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"env","arguments":{"name":"SCRIPTED_SECRET"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"fail","arguments":{"text":"no"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"other"}`,
		`{`,
	}, "\n")
	var out bytes.Buffer
	if err := mcp.Serve(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	wants := []string{`"2025-06-18"`, `"name":"wait"`, `echo: hi`, `has 10 characters`, `"isError":true`, `-32601`, `-32700`}
	if len(lines) != len(wants) {
		t.Fatalf("answers: %s", out.String())
	}
	for i, want := range wants {
		if !strings.Contains(lines[i], want) {
			t.Errorf("answer %d: no %s in %s", i, want, lines[i])
		}
	}
	if !strings.Contains(lines[2], `"id":"a"`) || strings.Contains(out.String(), "0123456789") {
		t.Errorf("answers: %s", out.String())
	}
}

func TestServerInsistsOnItsHeaders(t *testing.T) {
	t.Parallel()
	s := &mcp.Server{Want: map[string]string{"X-Key": "0123456789"}}
	url, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ask := func(method, key, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Key", key)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = a.Body.Close() }()
		text, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(text)
	}
	const key, callHeader = "0123456789", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"header","arguments":{"name":"X-Key"}}}`
	for _, c := range []struct {
		method, key, body string
		status            int
		want              string
	}{
		{"POST", "wrong", callHeader, 401, "missing"},
		{"GET", key, "", 405, ""},
		{"POST", key, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{"POST", key, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 200, `"name":"header"`},
		{"POST", key, callHeader, 200, `"text":"0123456789"`},
		{"POST", key, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`, 200, "echo: hi"},
		{"POST", key, `{`, 400, ""},
	} {
		if status, text := ask(c.method, c.key, c.body); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.body, status, text)
		}
	}
	seen := s.Requests()
	if len(seen) != 5 || !seen[0].Refused || seen[3].Tool != "header" || seen[3].Header.Get("X-Key") != key || seen[1].Method != "notifications/initialized" {
		t.Errorf("seen: %+v", seen)
	}
}
