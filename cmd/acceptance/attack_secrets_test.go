package acceptance

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/mcp"
	"github.com/agenthost/agenthost/fakes/tools"
)

// sweptVariable is a secret variable of a configured agent.
const sweptVariable = "var-6e02b9d7c41f4a83"

// turnFiles are those that a CLI reads in the private directory of its turn or its
// process. None holds a secret: they name variables.
var turnFiles = []string{"instructions.md", "mcp.json", "settings.json", "mark.js", "output-schema.json"}

// A server with a secret of each kind runs an agent of each adapter: the real CLIs where
// they are, by both drivers, and stand-ins. While its command runs, no argv of its tree
// has one, and no file of its turn; afterwards neither does any file of the state
// directory, journal and the CLIs' homes among it, nor of the workspace, nor the log.
func TestAttackSecretsAreSwept(t *testing.T) {
	t.Parallel()
	for adapter, program := range realCLIs {
		if !plays(t, adapter) || briefly[adapter] != nil && !certifies() {
			continue
		}
		for _, driver := range []string{"exec", "persistent"} {
			if adapter == "opencode" && driver == "exec" {
				continue // it has no such driver
			}
			t.Run(adapter+" "+driver, func(t *testing.T) {
				t.Parallel()
				sweptRig := sweep(t, adapter, func(settings ...setting) *cliRig {
					return newCLIRig(t, adapter, tools.Need(t, program), append(settings, cli(adapter, map[string]any{"driver": driver}))...)
				})
				keyArrived(t, sweptRig)
			})
		}
	}
	for _, adapter := range []string{"codex", "claude-code"} {
		t.Run(adapter+" stand-in", func(t *testing.T) {
			t.Parallel()
			sweep(t, adapter, func(settings ...setting) *cliRig { return &cliRig{rig: newRig(t, settings...), workspace: t.TempDir()} })
		})
	}
	for _, adapter := range []string{"someagent", "cursor"} {
		t.Run(adapter+" stand-in", func(t *testing.T) {
			t.Parallel()
			sweep(t, adapter, func(settings ...setting) *cliRig {
				return acpRig(t, append(settings, cli("someagent", map[string]any{"llm_env": map[string]any{"api_key": "SOME_KEY"}}))...)
			})
		})
	}
}

// sweep plays one agent and looks for the values.
func sweep(t *testing.T, adapter string, start func(...setting) *cliRig) *cliRig {
	t.Helper()
	secrets := []string{cliKey, mcpToken, mcpKey, sweptVariable}
	clean := func(what string, data []byte) {
		t.Helper()
		for _, value := range secrets {
			for _, form := range []string{value, url.QueryEscape(value), base64.RawStdEncoding.EncodeToString([]byte(value))} {
				if i := bytes.Index(data, []byte(form)); i >= 0 {
					t.Errorf("%s is in %s: %q", value, what, clip(data[max(0, i-80):min(len(data), i+len(form)+20)]))
				}
			}
		}
	}
	server := &mcp.Server{Want: map[string]string{"Authorization": "Bearer " + mcpToken, "X-Key": mcpKey}}
	address, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	r := start(
		func(c *rigConfig) { c.Adapters["caller_mcp"] = []string{"127.0.0.1"} },
		key("definitions", []any{map[string]any{"name": "swept", "runtime": adapter, "secrets": map[string]string{"SWEPT": "${HOSTS_SWEPT}"}, "instructions": "Be brief."}}),
		env("ABX_AGENTS_ALLOW_PRIVATE_URLS=1", "HOSTS_SWEPT="+sweptVariable, "ABX_LLM_API_KEY="+cliKey),
		limit("runner_idle", "1s"),
	)
	// The command leaves a file that says that the secret is there; it ends when it is told to.
	body := map[string]any{"model": "swept", "stream": true, "input": `[[shell: test -n "$SWEPT" && echo there; touch running; until test -e enough; do sleep 0.1; done; echo over]]`}
	if adapter != "cursor" && adapter != "someagent" { // their stand-in takes no tool servers by HTTP
		body["tools"] = []any{map[string]any{
			"type": "mcp", "server_label": "docs", "server_url": address, "require_approval": "never", "headers": map[string]any{"X-Key": mcpKey}, "authorization": mcpToken,
		}}
	}
	running := r.http.open("POST", "/v1/responses", body)
	id := word(running.waitKind(cliTurnLimit, "response.created", 1)[0].data(), "response", "id")
	session := strings.TrimPrefix(r.http.ok("GET", "/v1/responses/"+id, nil).str("conversation", "id"), "conv_")
	work := r.http.ok("GET", "/v1/agents/sessions/agsess_"+session, nil).str("environment", "workspace_directory")
	var looked atomic.Int32
	files := map[string]bool{}
	look := func() {
		for _, p := range r.Descendants() {
			looked.Add(1)
			clean("the argv of "+p.String(), []byte(p.Command))
		}
		for _, room := range []string{"turns", "runners"} {
			_ = filepath.WalkDir(filepath.Join(r.StateDir, room), func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return nil // it may be gone already
				}
				info, err := d.Info()
				if err != nil {
					return nil
				}
				if d.IsDir() {
					if info.Mode().Perm() != 0o700 {
						t.Errorf("the directory %s is %v", path, info.Mode())
					}
					return nil
				}
				data, err := os.ReadFile(path)
				if err != nil {
					return nil
				}
				files[d.Name()] = true
				clean("the turn's "+path, data)
				if info.Mode() != 0o600 && adapter != "qwen-code" { // it writes its settings anew, with a mode of its own
					t.Errorf("the turn's %s is %v", path, info.Mode())
				}
				name := d.Name()
				if adapter == "qwen-code" {
					name = strings.TrimSuffix(name, ".tmp")
				}
				if !slices.Contains(turnFiles, name) {
					t.Errorf("the turn has a file %s that is not among %q", path, turnFiles)
				}
				return nil
			})
		}
	}
	r.until(cliTurnLimit, "the command runs", func() bool {
		look()
		if count(running.all(), "response.completed")+count(running.all(), "response.failed") > 0 {
			t.Fatalf("the turn ended before its command ran: %s", clip(running.raw()))
		}
		_, err := os.Stat(filepath.Join(work, "running"))
		return err == nil
	})
	look()
	if err := os.WriteFile(filepath.Join(work, "enough"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	running.end(cliTurnLimit)
	clean("the stream", running.raw())
	turn := toldByResponse(t, lastObject(running))
	if turn.status != "completed" || len(turn.commands) != 1 || !strings.Contains(turn.commands[0].output, "over") {
		t.Errorf("the turn: %+v", turn)
	}
	if looked.Load() < 3 {
		t.Errorf("%d processes were seen: too few for a CLI with a shell", looked.Load())
	}
	if want := map[string]string{"claude-code": "mcp.json", "qwen-code": "settings.json", "opencode": "mark.js"}[adapter]; want != "" && !files[want] {
		t.Errorf("%s was not seen in the turn's directory: %v", want, files)
	}
	r.Clean(30 * time.Second)
	for _, room := range []string{"turns", "runners"} {
		if left, err := os.ReadDir(filepath.Join(r.StateDir, room)); err != nil || len(left) > 0 {
			t.Errorf("left in %s: %v %v", room, left, err)
		}
	}
	if r.provider != nil {
		heard := false
		for _, q := range server.Requests() {
			heard = heard || !q.Refused
		}
		if !heard {
			t.Error("the caller's server was never reached with its headers, so nothing was looked for")
		}
	}
	searchDir(t, r.StateDir, clean)
	searchDir(t, work, clean)
	clean("store dump", r.dump(session))
	clean("the log", []byte(r.Log()))
	return r
}
