package endpoint

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzMessages: whatever a CLI posts at its door is answered, and a tool is called
// with arguments that are JSON, by the name that it was offered under.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		initialize, callOf("a", `{"x":1}`), callOf("a", `null`), callOf("a", `[]`), callOf("a", `"x"`), callOf("nothing", `{}`),
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"a"}}`,
		`[` + initialize + `,` + callOf("a", `{}`) + `]`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`,
		`{"jsonrpc":"2.0","id":1e30,"method":"tools/call","params":{"name":"a","arguments":{"a":{"a":{}}}}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`, `{"jsonrpc":"1.0","id":5,"method":"initialize"}`, "\xff\xfe", `{`,
		strings.Repeat(`[`, 20000), `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"a","arguments":` + strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5001) + `}`,
	} {
		f.Add([]byte(s))
	}
	srv := New()
	srv.base = "http://door.test" // it needs no listener
	var t *testing.T              // of the run: inputs come one after another
	d, err := srv.Open([]Tool{{Name: "a"}}, func(c Call) Result {
		if c.Tool != "a" || !json.Valid(c.Arguments) {
			t.Errorf("called %q with %q", c.Tool, c.Arguments)
		}
		return Result{Content: []Content{{Text: string(c.Arguments)}}}
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(d.Close)
	f.Fuzz(func(now *testing.T, body []byte) {
		t = now
		for _, version := range []string{"", "2025-06-18"} {
			r := httptest.NewRequestWithContext(now.Context(), http.MethodPost, d.URL, strings.NewReader(string(body)))
			r.Header.Set("Authorization", "Bearer "+d.Token)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if version != "" {
				r.Header.Set("Mcp-Protocol-Version", version)
			}
			w := httptest.NewRecorder()
			srv.serve(w, r)
			if w.Code >= 500 {
				now.Errorf("%q: %d %s", body, w.Code, w.Body)
			}
		}
	})
}
