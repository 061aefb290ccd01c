package acceptance

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Case 48: a session goes on in the workspace and with the home it began with, on
// either wire, after its agent and the host's defaults have changed.
//
//cases:48
func TestCase48SessionStaysInItsPlace(t *testing.T) {
	t.Parallel()
	for _, adapter := range []string{"codex", "claude-code"} {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			first, second := t.TempDir(), t.TempDir()
			r := newRig(t, env("FAKE_MODE=echo"), key("environments", map[string]any{"workspace": first}))
			agent := r.http.ok("POST", "/v1/agents", map[string]any{"name": "builder", "model": adapter}).str("id")
			start := r.http.respond(map[string]any{"model": agent, "input": "one"})
			session := "agsess_" + strings.TrimPrefix(start.str("conversation", "id"), "conv_")
			was := echoed(outputText(start))
			if was.cwd != first {
				t.Fatalf("the first turn works in %q: %s", was.cwd, clip(start.body))
			}
			same := func(what string, is echo) {
				t.Helper()
				for _, name := range []string{"HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"} {
					if is.env[name] != was.env[name] {
						t.Errorf("%s: %s is %q, was %q", what, name, is.env[name], was.env[name])
					}
				}
				resumes := slices.ContainsFunc(is.args, func(a string) bool { return a == "resume" || a == "--resume" })
				if is.cwd != first || !resumes {
					t.Errorf("%s: works in %q with %q", what, is.cwd, is.args)
				}
			}
			text, err := os.ReadFile(r.Config)
			if err != nil || !bytes.Contains(text, []byte(first)) {
				t.Fatalf("the configuration does not name the workspace: %v", err)
			}
			if err := os.WriteFile(r.Config, bytes.ReplaceAll(text, []byte(first), []byte(second)), 0o600); err != nil {
				t.Fatal(err)
			}
			r.http.ok("POST", "/v1/agents/"+agent, map[string]any{"instructions": "Work elsewhere."})
			r.Stop()
			r.Restart()
			next := r.http.respond(map[string]any{"model": agent, "input": "two", "previous_response_id": start.str("id")})
			same("by previous_response_id", echoed(outputText(next)))
			r.http.say(session, "three")
			r.http.idle(session, 20*time.Second)
			items := r.http.ok("GET", "/v1/agents/sessions/"+session+"/items?order=desc&limit=1", nil).list("data")
			same("by an event", echoed(strings.Join(texts(items), "")))
			fresh := r.http.respond(map[string]any{"model": agent, "input": "anew"})
			if is := echoed(outputText(fresh)); is.cwd != second {
				t.Errorf("a new session works in %q", is.cwd)
			}
			r.Clean(time.Minute)
			r.Stop()
		})
	}
}

// Case 109: what would lead elsewhere is refused naming the field.
//
//cases:109
func TestCase109NamesAndPaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"..", ".", "a/b", "/etc", "../../x", "a\x00b", "a b", strings.Repeat("n", 5000), "codex"} {
		a := r.http.do("POST", "/v1/agents", map[string]any{"name": name, "model": "codex"})
		if a.status != 400 && a.status != 409 || a.at("error", "param") != "name" {
			t.Errorf("agent name %.40q: %d %s", name, a.status, clip(a.body))
		}
	}
	work := t.TempDir()
	for _, dir := range []string{"..", "a/b", work + "/../etc", "./x", work + "\x00", "/" + strings.Repeat("w", 5000), r.StateDir, filepath.Join(r.StateDir, "homes")} {
		a := r.http.do("POST", "/v1/agents/sessions", map[string]any{
			"agent": map[string]any{"model": "codex"}, "environment": map[string]any{"type": "self_hosted", "workspace_directory": dir},
		})
		if a.status != 400 || a.at("error", "param") != "environment.workspace_directory" {
			t.Errorf("workspace %.40q: %d %s", dir, a.status, clip(a.body))
		}
	}
	r.untouched(0)
	r.Stop()
}

// Case 110: a turn with a tool server changes no settings file of its project,
// sound or not.
//
//cases:110
func TestCase110SettingsFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	var definitions []any
	for _, adapter := range []string{"codex", "claude-code"} {
		definitions = append(definitions, map[string]any{
			"name": "with-" + adapter, "runtime": adapter,
			"mcp_servers": map[string]any{"docs": map[string]any{"command": "docs-server", "env": map[string]string{"K": "v"}}},
		})
	}
	r := newRig(t, key("definitions", definitions))
	for _, name := range []string{"x_settings_valid.json", "x_settings_comments.json", "x_settings_invalid.json"} {
		work := t.TempDir()
		content := recorded(t, name)
		var files []string
		for _, f := range []string{".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".cursor/mcp.json", ".qwen/settings.json"} {
			path := filepath.Join(work, f)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, path)
		}
		for _, adapter := range []string{"codex", "claude-code"} {
			session := r.http.ok("POST", "/v1/agents/sessions", map[string]any{
				"agent":       map[string]any{"model": "with-" + adapter},
				"environment": map[string]any{"type": "self_hosted", "workspace_directory": work}, "input": "[[say: done]]",
			}).str("id")
			r.http.idle(session, 20*time.Second)
			if got := statuses(r.http.turns(session)); !slices.Equal(got, []string{"completed"}) {
				t.Errorf("%s with %s: %v", adapter, name, got)
			}
		}
		for _, path := range files {
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, content) {
				t.Errorf("%s was changed to %q (%v)", path, clip(now), err)
			}
		}
		entries, err := os.ReadDir(work)
		if err != nil || len(entries) != 5 {
			t.Errorf("the workspace now has %v (%v)", entries, err)
		}
	}
	r.Clean(time.Minute)
	r.Stop()
}
