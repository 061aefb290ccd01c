package acceptance

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/tools"
)

// The official SDKs, unchanged, are the judges of both wires: each version plays
// the cases of testdata/sdk against a server of its own.

func TestPythonSDK3570(t *testing.T) { t.Parallel(); pythonSDK(t, "3.57.0") }
func TestPythonSDK3510(t *testing.T) { t.Parallel(); pythonSDK(t, "3.51.0") }
func TestPythonSDK3290(t *testing.T) { t.Parallel(); pythonSDK(t, "3.29.0") }

func TestJavaScriptSDKNewest(t *testing.T) {
	t.Parallel()
	node, sdk := javaScript(t)
	oracle(t, 30, node, []string{"oracle.mjs"}, sdk)
}

func javaScript(t *testing.T) (program, env string) {
	t.Helper()
	sdk := tools.Need(t, "sdk-js/newest/node_modules/openai/index.mjs")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("the SDK is installed, but node is not on PATH")
	}
	return node, "ORACLE_SDK=" + sdk
}

func pythonSDK(t *testing.T, version string) {
	t.Helper()
	python := tools.Need(t, "py-"+version+"/bin/python")
	oracle(t, 38, python, []string{"-B", "oracle.py"})
}

// The oracles are worth something only if they see what is wrong: a field that is
// missing, a type word that no union has, an event that repeats.
func TestOraclesSeeFaults(t *testing.T) {
	t.Parallel()
	r := sdkRig(t)
	faults := map[string]struct{ old, with, play string }{
		"missing in an event":     {`"output_index":`, `"output_indey":`, "sessions_create_stream"},
		"missing in a turn":       {`"session_id":`, `"session_ie":`, "items_and_turns"},
		"missing in usage":        {`"cached_tokens":`, `"cached_tokenz":`, "responses_create_stream"},
		"an unknown type of item": {`"command_execution"`, `"command_executiom"`, "items_and_turns"},
		"a status that is none":   {`"status":"completed"`, `"status":"completes"`, "responses_stream_helper"},
	}
	judges := map[string]func(*testing.T) (string, []string, string){
		"python": func(t *testing.T) (string, []string, string) {
			return tools.Need(t, "py-3.57.0/bin/python"), []string{"-B", "oracle.py"}, ""
		},
		"javascript": func(t *testing.T) (string, []string, string) {
			node, sdk := javaScript(t)
			return node, []string{"oracle.mjs"}, sdk
		},
	}
	for fault, f := range faults {
		for judge, find := range judges {
			t.Run(fault+", "+judge, func(t *testing.T) {
				t.Parallel()
				program, args, more := find(t)
				v := judged(t, r, tamperer(t, r.URL, f.old, f.with), program, append(args, f.play), more)
				if len(v.failed) != 1 || v.failed[f.play] == "" {
					t.Errorf("was not seen: %+v", v)
				}
			})
		}
	}
}

const (
	sdkToken = "sdk-test-token-0123456789"
	// oracleLimit is far above what a suite takes, about ten seconds.
	oracleLimit = 3 * time.Minute
)

// sdkRig is a server as the oracles expect it: a token, a short queue, and an
// adapter whose program does not exist.
func sdkRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t,
		key("auth", map[string]any{"tokens": []any{map[string]any{"id": "app", "roles": []string{"dev"}, "token_env": "APP_API_KEY"}}}),
		env("APP_API_KEY="+sdkToken),
		limit("max_queue", 2),
		limit("max_concurrent_turns", 16),
		cli("ghost", map[string]any{"adapter": "command", "command": []string{"/nonexistent/ghost", "{prompt}"}, "prompt": "argv", "output": map[string]any{"format": "text"}}),
	)
	r.http.token = sdkToken
	return r
}

// oracle plays a whole script against a server of its own; each of its lines
// becomes a subtest, and there must be as many as cases, so that a script cut short
// does not pass.
func oracle(t *testing.T, cases int, program string, args []string, more ...string) {
	t.Helper()
	r := sdkRig(t)
	start := time.Now()
	v := judged(t, r, r.URL, program, args, more...)
	for name, why := range v.failed {
		t.Run(name, func(t *testing.T) { t.Error(why) })
	}
	for _, name := range v.passed {
		t.Run(name, func(*testing.T) {})
	}
	if n := len(v.passed) + len(v.failed); n != cases || v.total != cases {
		t.Errorf("%d of %d cases were played, want %d", n, v.total, cases)
	}
	if (v.ended == nil) != (len(v.failed) == 0) || v.errors != "" {
		t.Errorf("%s: %v\n%s", filepath.Base(program), v.ended, clip([]byte(v.errors)))
	}
	t.Logf("%d cases in %.1f s", v.total, time.Since(start).Seconds())
	if strings.Contains(r.Log(), "level=ERROR") {
		t.Errorf("the server logged an error:\n%s", r.LogTail())
	}
	r.Clean(15 * time.Second)
}

// verdict is what a script said.
type verdict struct {
	passed []string
	failed map[string]string // with the reason
	total  int               // cases that the script has played, by its own count
	ended  error
	errors string // standard error
}

// judged runs a script of testdata/sdk against a server at base.
func judged(t *testing.T, r *rig, base, program string, args []string, more ...string) *verdict {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "sdk"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), oracleLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "NO_PROXY=*", "no_proxy=*",
		"OPENAI_BASE_URL=" + base + "/v1", "OPENAI_API_KEY=" + sdkToken, "ORACLE_COUNT_URL=" + countRequests(t, r.URL),
	}, more...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	v := &verdict{failed: map[string]string{}}
	v.ended = cmd.Run()
	v.errors = errs.String()
	for line := range strings.Lines(out.String()) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, why, _ := strings.Cut(rest, " ")
		switch word {
		case "ok":
			v.passed = append(v.passed, name)
		case "FAIL":
			v.failed[strings.TrimSuffix(name, ":")] = why
		case "end":
			if v.total, err = strconv.Atoi(rest); err != nil {
				t.Errorf("last line %q", line)
			}
		default:
			t.Errorf("unexpected line: %s", line)
		}
	}
	return v
}
