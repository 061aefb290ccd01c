package acceptance

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// text.format reaches the model through the real CLI's own schema flag, on either
// wire, and what it answers can be parsed.
func TestRealCLIAnswersToASchema(t *testing.T) {
	t.Parallel()
	schema := map[string]any{
		"type": "object", "properties": map[string]any{"heron_count": map[string]any{"type": "integer"}},
		"required": []string{"heron_count"}, "additionalProperties": false,
	}
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		if !r.can(adapter, "output_schema") {
			t.Skip("it has no schema with this driver, and says so")
		}
		answer := func(json string) string { return "[[say: " + json + "]]" }
		if tool := map[string]string{"claude-code": "StructuredOutput", "qwen-code": "structured_output"}[adapter]; tool != "" { // the model answers with it
			answer = func(json string) string { return "[[call: " + tool + " " + json + "]]" }
		}
		judge := func(wire, text string, since int) {
			t.Helper()
			var said struct {
				Count *int `json:"heron_count"`
			}
			if err := json.Unmarshal([]byte(text), &said); err != nil || said.Count == nil {
				t.Errorf("%s: the answer is %q: %v", wire, text, err)
			}
			asked := false
			for _, q := range r.provider.Requests()[since:] {
				asked = asked || bytes.Contains(q.Body, []byte("heron_count")) && bytes.Contains(q.Body, []byte(`"integer"`))
			}
			if !asked {
				t.Errorf("%s: the schema did not reach the model", wire)
			}
		}
		body := responsesBody(adapter, nil, answer(`{"heron_count": 3}`))
		body["text"] = map[string]any{"format": map[string]any{"type": "json_schema", "name": "herons", "strict": true, "schema": schema}}
		got := r.http.respond(body)
		if got.str("status") != "completed" || got.str("text", "format", "name") != "herons" {
			t.Fatalf("answered %s", clip(got.body))
		}
		judge("responses", outputText(got), 0)

		since := len(r.provider.Requests())
		session := sessionBody(adapter, answer(`{"heron_count": 4}`))
		session["agent"].(map[string]any)["text"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": schema}}
		o := toldBySession(t, r, r.http.ok("POST", "/v1/agents/sessions", session).str("id")[len("agsess_"):])
		if o.status != "completed" {
			t.Fatalf("the session's turn: %+v", o)
		}
		judge("agents", o.text, since)
		r.Clean(time.Minute)
	})
}
