package agents

import "testing"

// Whatever stands in a field, the answer is an object or a refusal that names it.
func TestOddValuesAreAnsweredNotCrashedOn(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{Hosted: true})
	path, _ := s.fresh()
	agent := s.do("POST", "/agents", `{"model":"codex"}`).is("Agent").str("id")
	odd := []string{`null`, `7`, `-1.5`, `1e999`, `"x"`, `""`, `true`, `[]`, `{}`, `[null]`, `[[]]`, `[{}]`, `[7]`, `{"a":null}`,
		`{"type":null}`, `{"type":7}`, `[{"type":null}]`, `[{"type":"agent.session.input.message","input":[null]}]`,
		`[{"role":"user","content":[null]}]`, `[{"role":"user","content":[{}]}]`, `{"format":null}`, `{"format":{"type":"json_schema","schema":7}}`,
		`{"enabled":null}`, `{"effort":null}`, `{"ttl":null}`, `{"limit":null}`, `{"async":null}`}
	for _, at := range []struct {
		path   string
		before string
		fields []string
	}{
		{"/agents", `"model":"codex",`, agentFields},
		{"/agents/" + agent, ``, agentFields},
		{"/agents/sessions", `"agent_id":"` + agent + `",`, sessionFields},
		{path, ``, []string{"agent", "metadata", "prompt_cache_options", "review", "spend_control"}},
		{path + "/events", ``, []string{"events", "input"}},
	} {
		for _, field := range at.fields {
			for _, v := range odd {
				if field == "stream" && v == "true" {
					continue // a stream has no end here
				}
				body := `{` + at.before + `"` + field + `":` + v + `}`
				if a := s.do("POST", at.path, body); a.Status != 200 && a.Status != 202 && a.Status != 400 && a.Status != 404 {
					t.Errorf("POST %s %s: status %d %s", at.path, body, a.Status, a.Raw)
				}
			}
		}
	}
}
