package mcp_test

import (
	"bytes"
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
