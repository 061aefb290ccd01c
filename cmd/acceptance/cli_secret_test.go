package acceptance

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/provider"
)

// The provider key goes to the CLI and from there to the provider, and nowhere
// else: no event, item, file of the state directory, line of the log or argv has it.
//
//cases:101,103
func TestRealCLIKeyIsNowhereElse(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		clean := func(what string, data []byte) {
			t.Helper()
			for _, form := range keyForms() {
				if i := bytes.Index(data, []byte(form)); i >= 0 {
					t.Errorf("the key is in %s: %q", what, clip(data[max(0, i-80):min(len(data), i+len(form)+20)]))
				}
			}
		}

		// While a command runs, every argv below the server is looked at.
		running := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": "[[shell: sleep 1; echo slept]]", "stream": true})
		looked := 0
		r.until(cliTurnLimit, "the command runs", func() bool {
			slept := false
			for _, p := range r.Descendants() {
				looked++
				clean("the argv of "+p.String(), []byte(p.Command))
				slept = slept || p.Command == "sleep 1"
			}
			return slept
		})
		running.end(cliTurnLimit)
		clean("the stream", running.raw())
		turn := toldByResponse(t, lastObject(running))
		completed(t, turn, "slept")
		if looked < 3 {
			t.Errorf("%d processes were seen: too few for a CLI with a shell", looked)
		}

		failed := askAgents(t, r, adapter, nil, "[[error: 401]]")
		if failed.status != "failed" {
			t.Errorf("the refused turn: %+v", failed)
		}
		r.Clean(time.Minute)
		searchDir(t, r.StateDir, clean)

		// An agent that prints its environment, and the key encoded, shows nothing. What
		// the CLI itself keeps of its conversation is its own affair.
		told := askAgents(t, r, adapter, nil, `[[shell: env; printf %s "$ANTHROPIC_API_KEY" | base64 -w0; cat /proc/$PPID/environ | tr '\0' '\n']]`)
		if len(told.commands) != 1 || !strings.Contains(told.commands[0].output, "PATH=") {
			t.Errorf("the command printed no environment: %+v", told.commands)
		} else if adapter == "claude-code" && strings.Contains(told.commands[0].output, "[redacted]") {
			t.Errorf("Claude Code is handed its key by a pipe, and a command of its sees it: %s", clip([]byte(told.commands[0].output)))
		}
		path := "/v1/agents/sessions/agsess_" + told.session
		replay := r.http.events("agsess_"+told.session, "?after=0")
		replay.waitKind(cliTurnLimit, sessionEvent+"idle", 1)
		clean("the replayed events", replay.raw())
		clean("the items", r.http.ok("GET", path+"/items?limit=100", nil).body)
		clean("the response", r.http.ok("GET", "/v1/responses/resp_"+told.turn, nil).body)
		for _, session := range []string{turn.session, failed.session, told.session} {
			clean("store dump", r.dump(session))
		}
		clean("the log", []byte(r.Log()))
		keyArrived(t, r)
	})
}

// lookAround is a command that keeps its own environment, and those of the processes
// above it up to the server, in seen.txt: those of others are of tests that run beside.
const lookAround = `[[shell: (env; p=$$; while grep -qz '^AGENTHOST_OWNER=' /proc/$p/environ; do tr '\0' '\n' </proc/$p/environ; p=$(awk '/^PPid/{print $2}' /proc/$p/status); done) > seen.txt; printf done]]`

// The commands that Claude Code runs see its key nowhere, although no relay keeps it:
// neither in their environment nor in that of the CLI, which reads it from a pipe. Those
// of Codex have it in no variable of their own.
func TestRealCLICommandsDoNotSeeTheKey(t *testing.T) {
	t.Parallel()
	for adapter, sees := range map[string]string{"claude-code": lookAround, "codex": "[[shell: env > seen.txt; printf done]]"} {
		for _, driver := range []string{"exec", "persistent"} {
			if !certifies() && driver != map[string]string{"claude-code": "persistent", "codex": "exec"}[adapter] {
				continue
			}
			t.Run(adapter+" "+driver, func(t *testing.T) {
				t.Parallel()
				r := newCLIRig(t, adapter, need(t, adapter), cli(adapter, map[string]any{"driver": driver, "permissions": "workspace_write"}))
				first := askAgents(t, r, adapter, nil, "Please remember the word heron.")
				completed(t, first, "I will remember the word heron.")
				told := askAgents(t, r, adapter, first, sees)
				completed(t, told, "done")
				seen := r.fileOf("seen.txt")
				if !strings.Contains(seen, "PATH=") || adapter == "claude-code" && strings.Count(seen, "AGENTHOST_OWNER=") < 2 {
					t.Errorf("the command saw too little: %s", clip([]byte(seen)))
				}
				for _, form := range keyForms() {
					if strings.Contains(seen, form) {
						t.Errorf("a command sees the key of %s", adapter)
					}
				}
				keyArrived(t, r)
			})
		}
	}
}

// keyForms are the key as it is and in its usual encodings.
func keyForms() []string {
	return []string{cliKey, url.QueryEscape(cliKey), base64.RawStdEncoding.EncodeToString([]byte(cliKey))}
}

// searchDir reads every file below dir.
func searchDir(t *testing.T, dir string, clean func(string, []byte)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		clean(path, data)
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("state directory: %d files, %v", files, err)
	}
}

// dump is what `agenthost store dump` says of a session, the server running.
func (r *cliRig) dump(session string) []byte {
	r.t.Helper()
	cmd := exec.Command(r.Bin.Server, "store", "dump", session, "--state-dir", r.StateDir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.Home}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("\n")) {
		r.t.Errorf("store dump %s: %v %s", session, err, clip(out))
	}
	return out
}

func lastObject(s *stream) map[string]any {
	all := s.all()
	if len(all) == 0 {
		return nil
	}
	o, _ := at(all[len(all)-1].data(), "response").(map[string]any)
	return o
}

// keyArrived checks that the provider saw the key that was meant for it.
func keyArrived(t *testing.T, r *cliRig) {
	t.Helper()
	asked := 0
	for _, q := range r.provider.Requests() {
		if q.Method == "POST" {
			asked++
			if q.KeySHA256 != provider.SHA256(cliKey) {
				t.Errorf("%s %s came with another key", q.Method, q.Path)
			}
		}
	}
	if asked == 0 {
		t.Error("no request reached the provider")
	}
}
