package provider_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/provider"
	"github.com/agenthost/agenthost/fakes/tools"
)

const testKey = "scripted-key-0123456789"

// cli is a real CLI that talks to a scripted provider.
type cli struct {
	t                    *testing.T
	provider             *provider.Server
	url, binary, model   string
	home, workspace, tmp string
}

func newCLI(t *testing.T, name string) *cli {
	t.Helper()
	c := &cli{t: t, model: "gpt-5.5", binary: tools.Need(t, "bin/"+name)}
	c.provider, c.url = start(t, provider.Script{Key: testKey})
	dir := t.TempDir()
	// The home may not lie under what the CLI sees as its temporary directory.
	for path, at := range map[string]*string{"home": &c.home, "workspace": &c.workspace, "tmp": &c.tmp} {
		*at = filepath.Join(dir, path)
		if err := os.Mkdir(*at, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// run runs one turn and returns its lines, parsed.
func (c *cli) run(env, args []string, prompt string) (lines []map[string]any, status int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.binary, args...)
	cmd.Dir, cmd.Stdin = c.workspace, strings.NewReader(prompt)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + c.tmp, "LANG=C.UTF-8"}, env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		c.t.Fatalf("run %s: %v", c.binary, err)
	}
	for line := range bytes.Lines(out) {
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			c.t.Errorf("a line is not JSON: %s", line)
		}
		lines = append(lines, v)
	}
	if len(lines) == 0 {
		c.t.Fatalf("no output; stderr: %s", errs.String())
	}
	return lines, cmd.ProcessState.ExitCode()
}

// at walks into a parsed line.
func at(v any, path ...string) any {
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func quote(t *testing.T, s string) string { t.Helper(); return string(encode(t, s)) }

// codex runs a turn of the real Codex; thread resumes one.
func (c *cli) codex(thread, prompt string, more ...string) (lines []map[string]any, status int) {
	args := []string{"exec"}
	if thread != "" {
		args = append(args, "resume")
	}
	args = append(args, "--json", "--skip-git-repo-check", "-m", c.model,
		"-c", `model_provider="host"`,
		"-c", `model_providers.host={name="host",base_url="`+c.url+`/v1",env_key="AGENT_PROVIDER_KEY",wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
		"-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false",
		"--disable", "plugins", "--disable", "apps", "--disable", "unbounded_connection_retries",
		"--dangerously-bypass-approvals-and-sandbox")
	if args = append(args, more...); thread != "" {
		args = append(args, thread)
	}
	return c.run([]string{"CODEX_HOME=" + c.home, "AGENT_PROVIDER_KEY=" + testKey}, append(args, "-"), prompt)
}

// item finds a finished item of a type.
func item(lines []map[string]any, kind string) map[string]any {
	for _, l := range lines {
		if it, ok := l["item"].(map[string]any); ok && l["type"] == "item.completed" && it["type"] == kind {
			return it
		}
	}
	return nil
}

func TestRealCodexRunsOnTheScriptedProvider(t *testing.T) {
	t.Parallel()
	c := newCLI(t, "codex")
	lines, status := c.codex("", "Please remember the word heron. [[think: let me see]]")
	if status != 0 || item(lines, "agent_message")["text"] != "I will remember the word heron." || item(lines, "reasoning")["text"] != "let me see" {
		t.Errorf("text turn: %d %v", status, lines)
	}
	thread, _ := lines[0]["thread_id"].(string)
	lines, status = c.codex(thread, "What did I ask you to remember?")
	if status != 0 || item(lines, "agent_message")["text"] != "You asked me to remember the word heron." {
		t.Errorf("resumed turn: %d %v", status, lines)
	}
	if usage := at(lines[len(lines)-1], "usage", "input_tokens"); usage != float64(2*provider.InputTokens) {
		t.Errorf("usage after two responses: %v", usage)
	}
	lines, _ = c.codex("", "[[say: I will run it.]] [[shell: echo hi; exit 3]]")
	if it := item(lines, "command_execution"); it["aggregated_output"] != "hi\n" || it["exit_code"] != 3.0 {
		t.Errorf("shell turn: %v", lines)
	}
	lines, _ = c.codex("", "[[write: sub/a.txt some text]]")
	if b, err := os.ReadFile(filepath.Join(c.workspace, "sub", "a.txt")); err != nil || strings.TrimSpace(string(b)) != "some text" || item(lines, "file_change") == nil {
		t.Errorf("write turn: %q %v %v", b, err, lines)
	}
	server := `mcp_servers.scripted={command=` + quote(t, os.Args[0]) + `,env={` + asMCP + `="1"}}`
	// Models whose tools are offered, in code mode, searched for.
	for _, c.model = range []string{"unknown", "gpt-5.6-sol", "gpt-5.5"} {
		lines, _ = c.codex("", `[[mcp: scripted echo {"text":"ping"}]]`, "-c", server)
		if it := item(lines, "mcp_tool_call"); it["server"] != "scripted" || !strings.Contains(string(encode(t, it["result"])), "echo: ping") {
			t.Errorf("MCP turn of %s: %v", c.model, lines)
		}
		lines, _ = c.codex("", `[[call: echo {"text":"one"}]] [[and]] [[call: echo {"text":"two"}]] [[call: env {"name":"HOME"}]]`, "-c", server)
		if said, _ := item(lines, "agent_message")["text"].(string); !strings.HasPrefix(said, "The tool returned: echo: one\necho: two\n") {
			t.Errorf("calls by bare names of %s: %v", c.model, lines)
		}
		lines, _ = c.codex("", `[[try: transfer {}]] [[say: went on]]`, "-c", server)
		if item(lines, "agent_message")["text"] != "went on" {
			t.Errorf("a tried call of %s: %v", c.model, lines)
		}
	}
	asked := filepath.Join(c.workspace, "schema.json")
	if err := os.WriteFile(asked, []byte(`{"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array","items":{"$ref":"#/$defs/w"}}},"required":["n","list"],"additionalProperties":false,"$defs":{"w":{"enum":["x"],"type":"string"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, _ = c.codex("", "[[json]]", "--output-schema", asked)
	if item(lines, "agent_message")["text"] != `{"list":["x"],"n":7}` {
		t.Errorf("an answer to a schema: %v", lines)
	}
	for kind, want := range map[string]string{"401": "401 Unauthorized", "500": "high demand", "429": "429 Too Many Requests", "context": "ran out of room", "cut": "stream disconnected", "incomplete": "max_output_tokens", "quota": "Quota exceeded"} {
		lines, status = c.codex("", "[[error: "+kind+"]]")
		message, _ := at(lines[len(lines)-1], "error", "message").(string)
		if status != 1 || !strings.Contains(message, want) {
			t.Errorf("error %s: %d %q", kind, status, message)
		}
	}
	for _, r := range c.provider.Requests() {
		if r.Path != "/v1/responses" || r.KeySHA256 != provider.SHA256(testKey) {
			t.Errorf("request %s %s with key %s", r.Method, r.Path, r.KeySHA256)
		}
	}
}

// claude runs a turn of the real Claude Code; session resumes one.
func (c *cli) claude(session, prompt string, more ...string) (lines []map[string]any, status int) {
	args := []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions"}
	if session != "" {
		args = append(args, "--resume", session)
	}
	args = append(args, more...)
	return c.run([]string{
		"CLAUDE_CONFIG_DIR=" + c.home, "ANTHROPIC_BASE_URL=" + c.url, "ANTHROPIC_API_KEY=" + testKey, "IS_SANDBOX=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=0",
	}, args, prompt)
}

// block finds a content block of a kind.
func block(lines []map[string]any, kind string) map[string]any {
	for _, l := range lines {
		if l["type"] != "assistant" && l["type"] != "user" {
			continue
		}
		list, _ := at(l, "message", "content").([]any)
		for _, b := range list {
			if b, ok := b.(map[string]any); ok && b["type"] == kind {
				return b
			}
		}
	}
	return nil
}

func TestRealClaudeCodeRunsOnTheScriptedProvider(t *testing.T) {
	t.Parallel()
	c := newCLI(t, "claude")
	lines, status := c.claude("", "Please remember the word heron. [[think: let me see]]")
	last := lines[len(lines)-1]
	if status != 0 || last["result"] != "I will remember the word heron." || block(lines, "thinking")["thinking"] != "let me see" {
		t.Errorf("text turn: %d %v", status, last)
	}
	session, _ := last["session_id"].(string)
	lines, status = c.claude(session, "What did I ask you to remember?")
	if last = lines[len(lines)-1]; status != 0 || last["result"] != "You asked me to remember the word heron." || last["session_id"] != session {
		t.Errorf("resumed turn: %d %v", status, last)
	}
	if usage := at(last, "usage", "output_tokens"); usage != float64(provider.OutputTokens) {
		t.Errorf("usage of one response: %v", usage)
	}
	lines, _ = c.claude("", "[[say: I will run it.]] [[shell: echo hi; pwd]]")
	if b := block(lines, "tool_result"); b["content"] != "hi\n"+c.workspace || lines[len(lines)-1]["result"] != "The tool returned: hi\n"+c.workspace {
		t.Errorf("shell turn: %v", lines)
	}
	lines, _ = c.claude("", "[[write: sub/a.txt some text]]")
	if b, err := os.ReadFile(filepath.Join(c.workspace, "sub", "a.txt")); err != nil || string(b) != "some text" {
		t.Errorf("write turn: %q %v %v", b, err, lines)
	}
	server := `{"mcpServers":{"scripted":{"command":` + quote(t, os.Args[0]) + `,"env":{"` + asMCP + `":"1"}}}}`
	lines, _ = c.claude("", `[[mcp: scripted echo {"text":"ping"}]]`, "--mcp-config", server, "--strict-mcp-config")
	if last = lines[len(lines)-1]; last["result"] != "The tool returned: echo: ping" {
		t.Errorf("MCP turn: %v", lines)
	}
	lines, _ = c.claude("", `[[call: echo {"text":"one"}]] [[and]] [[call: echo {"text":"two"}]] [[try: transfer]] [[call: fail {"text":"no"}]]`, "--mcp-config", server, "--strict-mcp-config")
	if said, _ := lines[len(lines)-1]["result"].(string); !strings.HasPrefix(said, "The tool returned: echo: one\necho: two\n") {
		t.Errorf("calls by bare names: %v", lines)
	}
	for kind, want := range map[string]string{"401": "Failed to authenticate", "500": "API Error: 500", "429": "rejected (429)", "context": "Prompt is too long"} {
		lines, status = c.claude("", "[[error: "+kind+"]]")
		last = lines[len(lines)-1]
		if text, _ := last["result"].(string); status != 1 || last["is_error"] != true || !strings.Contains(text, want) {
			t.Errorf("error %s: %d %v", kind, status, last)
		}
	}
	for _, r := range c.provider.Requests() {
		if r.Method == "POST" && (r.Auth != "X-Api-Key" || r.KeySHA256 != provider.SHA256(testKey)) {
			t.Errorf("request %s %s with key %s", r.Method, r.Path, r.KeySHA256)
		}
	}
}
