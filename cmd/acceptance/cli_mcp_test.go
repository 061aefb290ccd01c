package acceptance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/mcp"
	"github.com/agenthost/agenthost/fakes/tools"
)

// Values of headers that callers send to their MCP server; they must not be seen
// anywhere else.
const (
	mcpToken = "tok-4d1f0c77a95b4e21"
	mcpKey   = "key-b83e6a50c2d74f19"
)

// mcpRig is a server with a real CLI that may use the callers' MCP server.
type mcpRig struct {
	*cliRig
	server *mcp.Server
	url    string
}

func eachMCP(t *testing.T, play func(t *testing.T, r *mcpRig, adapter string)) {
	for adapter, program := range realCLIs {
		if !plays(t, adapter) {
			continue
		}
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			play(t, newMCPRig(t, adapter, tools.Need(t, program)), adapter)
		})
	}
}

func newMCPRig(t *testing.T, adapter, program string) *mcpRig {
	t.Helper()
	s := &mcp.Server{Want: map[string]string{"Authorization": "Bearer " + mcpToken, "X-Key": mcpKey}}
	at, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	own := newCLIRig(t, adapter, program,
		func(c *rigConfig) { c.Adapters["caller_mcp"] = []string{"127.0.0.1"} },
		env("ABX_AGENTS_ALLOW_PRIVATE_URLS=1"),
	)
	return &mcpRig{own, s, at}
}

// tool is the server as a tool of the Responses wire.
func (r *mcpRig) tool(more ...any) map[string]any {
	o := map[string]any{
		"type": "mcp", "server_label": "docs", "server_url": r.url, "require_approval": "never",
		"headers": map[string]any{"X-Key": mcpKey}, "authorization": mcpToken,
	}
	for i := 0; i+1 < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return o
}

// agentTool is the server as a tool of the Agents wire.
func (r *mcpRig) agentTool() map[string]any {
	return map[string]any{"type": "mcp", "server_label": "docs", "transport": map[string]any{
		"type": "http", "server_url": r.url, "headers": map[string]any{"X-Key": mcpKey}, "authorization": mcpToken,
	}}
}

// calls counts the calls of a tool that reached the server.
func (r *mcpRig) calls(tool string) (n int) {
	for _, q := range r.server.Requests() {
		if q.Method == "tools/call" && q.Tool == tool {
			n++
		}
	}
	return n
}

// mcpCall checks that a turn called one tool of the server and heard its answer.
func mcpCall(t *testing.T, turn *told, tool, output string) {
	t.Helper()
	n := 0
	for _, item := range turn.items {
		if word(item, "type") != "mcp_call" || word(item, "server_label") != "docs" {
			continue
		}
		if n++; word(item, "name") != tool || word(item, "status") != "completed" || !strings.Contains(word(item, "output"), output) {
			t.Errorf("the call: %v", item)
		}
	}
	if turn.status != "completed" || n != 1 {
		t.Errorf("%d calls of docs in %+v", n, turn)
	}
}

// The server of a request's tools reaches the CLI with its secret headers, its calls
// show on both wires, and the values are nowhere else.
func TestRealCLICallsTheServerOfACaller(t *testing.T) {
	t.Parallel()
	eachMCP(t, func(t *testing.T, r *mcpRig, adapter string) {
		clean := func(what string, data []byte) {
			t.Helper()
			for _, value := range []string{mcpToken, mcpKey} {
				for _, form := range []string{value, url.QueryEscape(value), base64.RawStdEncoding.EncodeToString([]byte(value))} {
					if i := bytes.Index(data, []byte(form)); i >= 0 {
						t.Errorf("a value is in %s: %q", what, clip(data[max(0, i-80):min(len(data), i+len(form)+20)]))
					}
				}
			}
		}
		tool := []any{r.tool()}

		// While a call waits, every argv below the server is looked at.
		running := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": `[[mcp: docs wait {"ms":700}]]`, "stream": true, "tools": tool})
		looked := 0
		r.until(cliTurnLimit, "the call waits", func() bool {
			for _, p := range r.Descendants() {
				looked++
				clean("the argv of "+p.String(), []byte(p.Command))
			}
			return r.calls("wait") > 0
		})
		frames := running.end(cliTurnLimit)
		checkResponse(t, running)
		clean("the stream", running.raw())
		if looked == 0 {
			t.Error("no process was seen")
		}
		object := lastObject(running)
		turn := toldByResponse(t, object)
		mcpCall(t, turn, "wait", "waited")
		r.verified(t, adapter, "hosted_mcp")
		for _, o := range []map[string]any{object, at(frames[0].data(), "response").(map[string]any)} {
			if word(o, "tools", 0, "server_url") != r.url || word(o, "tools", 0, "headers", "X-Key") != "[redacted]" || at(o, "tools", 0, "authorization") != nil {
				t.Errorf("tools as they are shown: %v", at(o, "tools"))
			}
		}
		readOnOtherWire(t, r.cliRig, turn, true)

		// A request brings its servers for itself alone, and may bring them again.
		none := toldByResponse(t, r.http.respond(map[string]any{"model": adapter, "previous_response_id": "resp_" + turn.turn, "input": `[[mcp: docs echo {"text":"ping"}]]`}).object)
		if r.calls("echo") != 0 {
			t.Errorf("a server of an earlier request was called: %+v", none)
		}
		again := toldByResponse(t, r.http.respond(map[string]any{"model": adapter, "previous_response_id": "resp_" + none.turn, "input": `[[mcp: docs echo {"text":"pong"}]]`, "tools": tool}).object)
		mcpCall(t, again, "echo", "echo: pong")

		// The Agents wire: an agent's own server, and a session's.
		made := r.http.ok("POST", "/v1/agents", map[string]any{"model": adapter, "name": "helper", "tools": []any{r.agentTool()}})
		clean("the agent", made.body)
		if made.str("tools", 0, "transport", "headers", "X-Key") != "[redacted]" {
			t.Errorf("an agent's tool: %s", made.body)
		}
		created := r.http.ok("POST", "/v1/agents/sessions", map[string]any{"agent_id": made.str("id"), "environment": map[string]any{"type": "self_hosted"}, "input": `[[mcp: docs echo {"text":"agent"}]]`})
		clean("the session", created.body)
		if created.str("agent", "tools", 0, "transport", "server_url") != r.url || at(created.object, "agent", "tools", 0, "transport", "headers") != nil {
			t.Errorf("a session's tool: %s", created.body)
		}
		session := strings.TrimPrefix(created.str("id"), "agsess_")
		mcpCall(t, toldBySession(t, r.cliRig, session), "echo", "echo: agent")

		r.Clean(time.Minute)
		searchDir(t, r.StateDir, clean)

		// A server that says what it was sent shows nothing. What the CLI itself keeps of
		// its conversation is its own affair.
		for _, header := range []string{"X-Key", "Authorization"} {
			echoed := toldByResponse(t, r.http.respond(map[string]any{"model": adapter, "input": `[[mcp: docs header {"name":"` + header + `"}]]`, "tools": tool}).object)
			mcpCall(t, echoed, "header", "[redacted]")
			clean("the response", r.http.ok("GET", "/v1/responses/resp_"+echoed.turn, nil).body)
			clean("store dump", r.dump(echoed.session))
		}
		for _, s := range []string{turn.session, session} {
			clean("store dump", r.dump(s))
			clean("the items", r.http.ok("GET", "/v1/agents/sessions/agsess_"+s+"/items?limit=100", nil).body)
		}
		clean("the log", []byte(r.Log()))
		for _, q := range r.server.Requests() {
			if q.Refused {
				t.Errorf("a request came without the headers: %v", q.Header)
			}
		}
	})
}

// What allowed_tools does not name is not called, whatever the model wants.
func TestRealCLIIsHeldToAllowedTools(t *testing.T) {
	t.Parallel()
	eachMCP(t, func(t *testing.T, r *mcpRig, adapter string) {
		for _, allowed := range []any{[]string{"echo"}, map[string]any{"tool_names": []string{"echo"}}} {
			ask := func(prompt string) *told {
				return toldByResponse(t, r.http.respond(map[string]any{"model": adapter, "input": prompt, "tools": []any{r.tool("allowed_tools", allowed)}}).object)
			}
			before := r.calls("fail")
			if turn := ask(`[[mcp: docs fail {"text":"called"}]]`); r.calls("fail") != before || turn.status != "completed" {
				t.Errorf("a tool that is not allowed was called: %+v", turn)
			}
			mcpCall(t, ask(`[[mcp: docs echo {"text":"yes"}]]`), "echo", "echo: yes")
		}
		empty := toldByResponse(t, r.http.respond(map[string]any{"model": adapter, "input": `[[mcp: docs env {"name":"HOME"}]]`, "tools": []any{r.tool("allowed_tools", []string{})}}).object)
		if r.calls("env") != 0 {
			t.Errorf("a tool of none was called: %+v", empty)
		}
	})
}

// After a restart the values are gone: what needs them says so, and goes on when they
// come again.
func TestLostHeaderValuesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	r := newMCPRig(t, "codex", tools.Need(t, realCLIs["codex"]))
	agent := r.http.ok("POST", "/v1/agents", map[string]any{"model": "codex", "tools": []any{r.agentTool()}}).str("id")
	first := askAgents(t, r.cliRig, agent, nil, `[[mcp: docs echo {"text":"one"}]]`)
	mcpCall(t, first, "echo", "echo: one")
	response := toldByResponse(t, r.http.respond(map[string]any{"model": "codex", "input": `[[mcp: docs echo {"text":"two"}]]`, "tools": []any{r.tool()}}).object)
	r.Stop()
	r.Restart()

	const param = "mcp_servers.docs.headers."
	lost := r.http.say("agsess_"+first.session, "hello")
	if lost.status != 400 || lost.str("error", "code") != "invalid_request" || !strings.HasPrefix(lost.str("error", "param"), param) || !strings.Contains(lost.str("error", "message"), "send the header values again") {
		t.Errorf("input of a session whose values are lost: %d %s", lost.status, lost.body)
	}
	body := map[string]any{"agent_id": agent, "environment": map[string]any{"type": "self_hosted"}}
	if fresh := r.http.do("POST", "/v1/agents/sessions", body); fresh.status != 400 || !strings.HasPrefix(fresh.str("error", "param"), param) {
		t.Errorf("a session of an agent whose values are lost: %d %s", fresh.status, fresh.body)
	}
	path := "/v1/agents/sessions/agsess_" + first.session
	r.http.ok("POST", path, map[string]any{"metadata": map[string]any{"still": "changeable"}})
	r.http.ok("POST", path, map[string]any{"agent": map[string]any{"tools": []any{r.agentTool()}}})
	mcpCall(t, askAgents(t, r.cliRig, "", first, `[[mcp: docs echo {"text":"three"}]]`), "echo", "echo: three")

	again := map[string]any{"model": "codex", "previous_response_id": "resp_" + response.turn, "input": `[[mcp: docs echo {"text":"four"}]]`, "tools": []any{r.tool()}}
	mcpCall(t, toldByResponse(t, r.http.respond(again).object), "echo", "echo: four")
	r.http.ok("POST", "/v1/agents/"+agent, map[string]any{"tools": []any{r.agentTool()}})
	r.http.ok("POST", "/v1/agents/sessions", body)
}

// The official Python SDK gives its tools to a real CLI, on both wires.
func TestPythonSDKWithMCPTools(t *testing.T) {
	t.Parallel()
	python := tools.Need(t, "py-3.57.0/bin/python")
	r := newMCPRig(t, "codex", tools.Need(t, realCLIs["codex"]))
	v := judged(t, r.rig, r.URL, python, []string{"-B", "mcp.py"},
		"ORACLE_MODEL=codex", "ORACLE_MCP_URL="+r.url, "ORACLE_MCP_TOKEN="+mcpToken, "ORACLE_MCP_KEY="+mcpKey)
	if v.ended != nil || len(v.passed) != 5 || len(v.failed) > 0 {
		t.Errorf("%d passed, failed %v, %v\n%s", len(v.passed), v.failed, v.ended, v.errors)
	}
}

// Case 110 with the real CLIs: settings files of a project, sound or not, are what they
// were after a turn with a tool server, and the turn ends with words. Qwen Code brings
// its own up to its version by itself: what it cannot read it keeps beside it.
//
//cases:110
func TestRealCLIsLeaveSettingsAlone(t *testing.T) {
	t.Parallel()
	eachMCP(t, func(t *testing.T, r *mcpRig, adapter string) {
		for _, name := range []string{"x_settings_valid.json", "x_settings_comments.json", "x_settings_invalid.json"} {
			work := t.TempDir()
			content := recorded(t, name)
			var files []string
			for _, f := range []string{".mcp.json", ".claude/settings.json", ".qwen/settings.json"} {
				path := filepath.Join(work, f)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, path)
			}
			body := sessionBody(adapter, `[[mcp: docs echo {"text":"hello"}]]`)
			body["agent"].(map[string]any)["tools"] = []any{r.agentTool()}
			body["environment"].(map[string]any)["workspace_directory"] = work
			id := r.http.ok("POST", "/v1/agents/sessions", body).str("id")
			turn := toldBySession(t, r.cliRig, strings.TrimPrefix(id, "agsess_"))
			switch {
			case turn.status == "completed":
				mcpCall(t, turn, "echo", "hello")
			case turn.status != "failed" || turn.message == "":
				t.Errorf("%s: %+v", name, turn)
			case name == "x_settings_valid.json":
				t.Errorf("with sound settings: %+v", turn)
			}
			for _, path := range files {
				now, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if own := adapter == "qwen-code" && strings.Contains(path, "/.qwen/"); !bytes.Equal(now, content) && !(own && keptByQwen(t, path, content, now)) {
					t.Errorf("%s: %s was changed to %q", name, path, clip(now))
				}
			}
		}
	})
}

// keptByQwen says that Qwen Code's settings are as they were but for the mark of its
// version, or that they are kept beside the file.
func keptByQwen(t *testing.T, path string, was, is []byte) bool {
	t.Helper()
	if kept, err := os.ReadFile(path + ".corrupted"); err == nil {
		return bytes.Equal(kept, was)
	}
	var before, after map[string]json.RawMessage
	if json.Unmarshal(was, &before) != nil || json.Unmarshal(is, &after) != nil {
		return false
	}
	delete(after, "$version")
	same := len(before) == len(after)
	for name, value := range before {
		var a, b bytes.Buffer
		same = same && json.Compact(&a, value) == nil && json.Compact(&b, after[name]) == nil && bytes.Equal(a.Bytes(), b.Bytes())
	}
	return same
}
