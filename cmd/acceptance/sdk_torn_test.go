package acceptance

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/tools"
)

// A server that dies in the middle of a stream must not look like the end of the
// stream: the official SDKs raise. From its next run they read on behind the last
// event that they have, to the end of the response.
func TestTornStreamRaises(t *testing.T) {
	t.Parallel()
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		torn(t, tools.Need(t, "py-3.57.0/bin/python"), []string{"-B", "torn.py"})
	})
	t.Run("javascript", func(t *testing.T) {
		t.Parallel()
		node, sdk := javaScript(t)
		torn(t, node, []string{"torn.mjs"}, sdk)
	})
}

// torn kills the server while a script of testdata/sdk reads a stream, and starts it
// again.
func torn(t *testing.T, program string, args []string, more ...string) {
	t.Helper()
	r := sdkRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join("testdata", "sdk")
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "NO_PROXY=*", "no_proxy=*",
		"OPENAI_BASE_URL=" + r.URL + "/v1", "OPENAI_API_KEY=" + sdkToken,
	}, more...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	next, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last, raised := "", ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
		if last == "reading" && r.Running() {
			r.Kill()
		}
		if strings.HasPrefix(last, "raised ") {
			raised = last
			r.Restart()
			if _, err := next.Write([]byte(r.URL + "\n")); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || raised == "" || last != "resumed response.failed server_restarted" {
		t.Errorf("the client of a killed server says %q, %q (%v)\n%s", raised, last, err, errs.String())
	}
	t.Log(raised)
}
