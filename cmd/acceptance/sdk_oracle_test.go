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
	sdk := tools.Need(t, "sdk-js/newest/node_modules/openai/index.mjs")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on PATH")
	}
	oracle(t, 29, node, []string{"oracle.mjs"}, "ORACLE_SDK="+sdk)
}

func pythonSDK(t *testing.T, version string) {
	t.Helper()
	python := tools.Need(t, "py-"+version+"/bin/python")
	oracle(t, 35, python, []string{"-B", "oracle.py"})
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

// oracle runs a script of testdata/sdk; each of its lines becomes a subtest, and
// there must be as many as cases, so that a script cut short does not pass.
func oracle(t *testing.T, cases int, program string, args []string, more ...string) {
	t.Helper()
	r := sdkRig(t)
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
		"OPENAI_BASE_URL=" + r.URL + "/v1", "OPENAI_API_KEY=" + sdkToken, "ORACLE_COUNT_URL=" + countRequests(t, r.URL),
	}, more...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	ended := cmd.Run()
	said := 0
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		verdict, rest, _ := strings.Cut(line, " ")
		switch verdict {
		case "ok", "FAIL":
			said++
			name, why, _ := strings.Cut(rest, " ")
			t.Run(strings.TrimSuffix(name, ":"), func(t *testing.T) {
				if verdict == "FAIL" {
					t.Error(why)
				}
			})
		case "end":
			if n, err := strconv.Atoi(rest); err != nil || n != cases {
				t.Errorf("the script has %s cases, want %d", rest, cases)
			}
		default:
			t.Errorf("unexpected line: %s", line)
		}
	}
	if said != cases {
		t.Errorf("%d of %d cases were played", said, cases)
	}
	if ended != nil || errs.Len() > 0 {
		t.Errorf("%s: %v\n%s", filepath.Base(program), ended, clip(errs.Bytes()))
	}
	t.Logf("%d cases in %.1f s", said, time.Since(start).Seconds())
	if strings.Contains(r.Log(), "level=ERROR") {
		t.Errorf("the server logged an error:\n%s", r.LogTail())
	}
	r.Clean(15 * time.Second)
}
