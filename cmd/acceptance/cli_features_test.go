package acceptance

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/adaptertest"
)

// lastAsked is the body of the newest request that the model got with a text in it.
func (r *cliRig) lastAsked(t *testing.T, text string) []byte {
	t.Helper()
	all := r.provider.Requests()
	for i := len(all) - 1; i >= 0; i-- {
		if bytes.Contains(all[i].Body, []byte(text)) {
			return all[i].Body
		}
	}
	t.Errorf("the model was never asked with %q", text)
	return nil
}

func (r *cliRig) definitions(list ...map[string]any) setting {
	all := make([]any, len(list))
	for i, d := range list {
		all[i] = d
	}
	return key("definitions", all)
}

// What a request asks for reaches the model: its name, instructions on a first and
// on a resumed turn, effort, the schema of the answer. What the model does, thinking
// and speaking in pieces, reaches the caller.
func TestRealCLIAskedFeatures(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		ask := func(body map[string]any) *told {
			t.Helper()
			return toldByResponse(t, r.http.do("POST", "/agents/"+adapter+"/v1/responses", body).object)
		}
		model := map[string]string{"codex": "gpt-5.5", "claude-code": "claude-sonnet-4-5", "qwen-code": "gpt-5.5", "opencode": "gpt-5.5"}[adapter]
		first := ask(map[string]any{"model": model, "input": "[[say: one]] mark-first", "instructions": "Always wave like a heron."})
		completed(t, first, "one")
		body := string(r.lastAsked(t, "mark-first"))
		if !strings.Contains(body, `"model":"`+model+`"`) {
			t.Errorf("the model's name is not %s: %s", model, clip([]byte(body)))
		}
		if !strings.Contains(body, "Always wave like a heron.") {
			t.Error("the first turn's instructions do not reach the model")
		}
		r.verified(t, adapter, "model", "instructions_first_turn")

		second := ask(map[string]any{"model": model, "input": "[[say: two]] mark-second", "instructions": "Now bow like a crane.", "previous_response_id": "resp_" + first.turn})
		completed(t, second, "two")
		if !strings.Contains(string(r.lastAsked(t, "mark-second")), "Now bow like a crane.") {
			t.Error("a resumed turn's instructions do not reach the model")
		}
		r.verified(t, adapter, "instructions_resumed_turn")

		effort := ask(map[string]any{"model": model, "input": "[[say: three]] mark-effort", "reasoning": map[string]any{"effort": "low"}})
		completed(t, effort, "three")
		if body := r.lastAsked(t, "mark-effort"); bytes.Contains(body, []byte(`"effort":"low"`)) || bytes.Contains(body, []byte(`"reasoning_effort":"low"`)) {
			r.verified(t, adapter, "reasoning_effort")
		} else if adapter != "claude-code" && r.can(adapter, "reasoning_effort") {
			t.Errorf("the effort does not reach the model: %s", clip(body))
		}

		thought := ask(map[string]any{"model": model, "input": "[[think: let me see]] [[say: four]]"})
		completed(t, thought, "four")
		if len(thought.items) == 0 || word(thought.items[0], "type") != "reasoning" || word(thought.items[0], "summary", 0, "text") != "let me see" {
			t.Errorf("no reasoning: %v", thought.items)
		}
		r.verified(t, adapter, "reasoning")

		s := r.http.open("POST", "/agents/"+adapter+"/v1/responses", map[string]any{"model": model, "input": "[[slow: 5]] [[count: 30]]", "stream": true})
		frames := s.end(cliTurnLimit)
		checkResponse(t, s)
		pieces := count(frames, "response.output_text.delta")
		switch {
		case (adapter != "codex" || r.persistent(adapter)) && pieces < 5:
			t.Errorf("a slow answer came in %d pieces", pieces)
		case r.persistent(adapter) && adapter == "qwen-code": // the matrix is about what auto takes
		case r.persistent(adapter) || adapter != "codex":
			r.verified(t, adapter, "deltas")
		case pieces != 1:
			t.Errorf("codex exec now tells pieces: %d", pieces)
		}
		r.Clean(cliTurnLimit)
	})
}

// The answer has the schema that was asked for, by the CLI's own means.
func TestRealCLISchema(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		if !r.can(adapter, "output_schema") {
			t.Skip("it has no schema with this driver, and says so")
		}
		prompt := map[string]string{
			"codex": `[[say: {"zebra":"striped"}]]`, "claude-code": `[[call: StructuredOutput {"zebra":"striped"}]]`,
			"qwen-code": `[[call: structured_output {"zebra":"striped"}]]`,
		}[adapter]
		a := r.http.do("POST", "/v1/responses", map[string]any{
			"model": adapter, "input": prompt, "text": map[string]any{"format": map[string]any{
				"type": "json_schema", "name": "animal", "schema": map[string]any{
					"type": "object", "properties": map[string]any{"zebra": map[string]any{"type": "string"}}, "required": []string{"zebra"}, "additionalProperties": false,
				},
			}},
		})
		turn := toldByResponse(t, a.object)
		if turn.status != "completed" || strings.ReplaceAll(turn.text, " ", "") != `{"zebra":"striped"}` {
			t.Errorf("%s %q: %s", turn.status, turn.text, clip(a.body))
		}
		asked := r.lastAsked(t, "striped")
		if !bytes.Contains(asked, []byte("zebra")) || !bytes.Contains(asked, []byte("additionalProperties")) {
			t.Errorf("the schema does not reach the model: %s", clip(asked))
		}
		r.verified(t, adapter, "output_schema")
		r.Clean(cliTurnLimit)
	})
}

// A configured tool server is started by the CLI, and a call of its tool is an item.
func TestRealCLIToolServer(t *testing.T) {
	t.Parallel()
	for adapter := range realCLIs {
		if !plays(t, adapter) {
			continue
		}
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			r := definedRig(t, adapter, map[string]any{
				"name": "with-tools", "mcp_servers": map[string]any{"docs": map[string]any{"command": os.Args[0], "args": []string{"-test.run=^$"}, "env": map[string]string{asMCP: "1"}}},
			})
			for name, ask := range askers {
				turn := ask(t, r, "with-tools", nil, `[[mcp: docs echo {"text":"ping"}]] [[say: called]]`)
				completed(t, turn, "called")
				found := false
				for _, item := range turn.items {
					found = found || word(item, "type") == "mcp_call" && word(item, "server_label") == "docs" && word(item, "name") == "echo" && strings.Contains(word(item, "output"), "echo: ping")
				}
				if !found {
					t.Errorf("%s: no call of docs/echo in %v", name, turn.items)
				}
			}
			r.verified(t, adapter, "mcp_tools")
			r.Clean(cliTurnLimit)
		})
	}
}

// definedRig is a rig of one real CLI with a saved agent.
func definedRig(t *testing.T, adapter string, definition map[string]any, settings ...setting) *cliRig {
	t.Helper()
	definition["runtime"] = adapter
	program := need(t, adapter)
	return newCLIRig(t, adapter, program, append([]setting{(*cliRig)(nil).definitions(definition)}, settings...)...)
}

// The CLI's own limit of inner turns ends the turn by name.
func TestRealCLIInnerTurns(t *testing.T) {
	t.Parallel()
	for _, adapter := range []string{"claude-code", "qwen-code"} {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			r := definedRig(t, adapter, map[string]any{"name": "brief", "limits": map[string]any{"max_turns": 1}})
			if !r.can(adapter, "max_turns") {
				t.Skip("it has no such limit with this driver, and says so")
			}
			turn := askResponses(t, r, "brief", nil, "[[shell: echo one]] [[shell: echo two]] [[say: far]]")
			if turn.status != "incomplete" {
				t.Errorf("the response: %+v", turn)
			}
			if a := askAgents(t, r, "brief", nil, "[[shell: echo one]] [[shell: echo two]] [[say: far]]"); a.status != "failed" || a.code != "usage_limit_exceeded" {
				t.Errorf("the turn: %+v", a)
			}
			r.verified(t, adapter, "max_turns")
			r.Clean(cliTurnLimit)
		})
	}
}

// read_only writes nothing, full_access also outside the workspace.
func TestRealCLIPermissions(t *testing.T) {
	t.Parallel()
	for adapter := range realCLIs {
		if !plays(t, adapter) {
			continue
		}
		for _, permission := range []string{"read_only", "full_access"} {
			t.Run(adapter+" "+permission, func(t *testing.T) {
				t.Parallel()
				r := definedRig(t, adapter, map[string]any{"name": "limited", "permissions": permission}, cli(adapter, map[string]any{"sandboxed": permission == "full_access"}))
				outside := filepath.Join(r.StateDir, "..", "outside.txt")
				askResponses(t, r, "limited", nil, "[[shell: echo x > in.txt]] [[say: done]]")
				askResponses(t, r, "limited", nil, "[[shell: echo x > '"+outside+"']] [[say: done]]")
				askResponses(t, r, "limited", nil, "[[write: made.txt some text]] [[say: done]]")
				_, err := os.Stat(outside)
				wrote := map[string]bool{"in.txt": r.fileOf("in.txt") != "", "made.txt": r.fileOf("made.txt") != "", "outside": err == nil}
				for what, did := range wrote {
					if did != (permission == "full_access") {
						t.Errorf("%s with %s: written %v", what, permission, did)
					}
				}
				completed(t, askResponses(t, r, "limited", nil, "[[say: all well]]"), "all well")
				r.verified(t, adapter, "permission_"+permission)
				r.Clean(cliTurnLimit)
			})
		}
	}
}

// What is not built is refused by name, with nothing stored and nothing started.
// Whoever builds a row takes it out here and records what its own test verified.
func TestToolsOfCallersThatAnAdapterCannotTakeAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, cli("mytool", map[string]any{"adapter": "command", "command": []string{"cat"}, "output": map[string]any{"format": "text"}}),
		func(c *rigConfig) { c.Adapters["caller_mcp"] = []string{"mcp.example.com"} })
	for feature, tool := range map[string]map[string]any{
		"hosted_mcp":     {"type": "mcp", "server_label": "d", "server_url": "https://mcp.example.com/mcp", "require_approval": "never"},
		"function_tools": weather(),
	} {
		agents := tool
		if feature == "hosted_mcp" {
			agents = map[string]any{"type": "mcp", "server_label": "d", "transport": map[string]any{"type": "http", "url": "https://mcp.example.com/mcp"}}
		}
		for adapter, column := range map[string]string{"mytool": adapters.Declared, "cursor": "cursor"} {
			for path, body := range map[string]map[string]any{
				"/v1/responses":       {"model": adapter, "input": "go", "tools": []any{tool}},
				"/v1/agents/sessions": {"agent": map[string]any{"model": adapter, "tools": []any{agents}}, "input": "go"},
			} {
				if a := r.http.do("POST", path, body); a.status != 400 || !strings.Contains(word(a.object, "error", "param"), "tools") {
					t.Errorf("%s of %s by %s: %d %s", feature, adapter, path, a.status, clip(a.body))
				}
			}
			adaptertest.Record(t, column, feature, agent.Refused, "")
		}
	}
	r.untouched(0)
	r.Stop()
}

// GET /v1/agents/runtimes says what the capability matrix says.
func TestRuntimesTellTheFacts(t *testing.T) {
	t.Parallel()
	r := newRig(t, cli("mytool", map[string]any{"adapter": "command", "command": []string{"cat"}, "output": map[string]any{"format": "text"}}))
	facts, err := adapters.Facts()
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]any{}
	for _, one := range r.http.ok("GET", "/v1/agents/runtimes", nil).list("data") {
		told[word(one, "id")] = one
	}
	for name, column := range map[string]string{"codex": "codex", "claude-code": "claude-code", "qwen-code": "qwen-code", "cursor": "cursor", "mytool": adapters.Declared} {
		features, _ := at(told[name], "features").(map[string]any)
		if len(features) != len(adapters.Features) {
			t.Errorf("%s: %d features are told, there are %d", name, len(features), len(adapters.Features))
		}
		for _, f := range adapters.Features {
			if want := string(facts[column].Features[f].Is); features[f] != want {
				t.Errorf("%s: %s is told as %v, the facts say %s", name, f, features[f], want)
			}
		}
		if version := word(told[name], "verified_version"); version != facts[column].Version {
			t.Errorf("%s: verified with %q, the facts say %q", name, version, facts[column].Version)
		}
	}
	r.Stop()
}
