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
// stream: the official SDKs raise.
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

// torn kills the server while a script of testdata/sdk reads a stream.
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
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
		if last == "reading" && r.Running() {
			r.Kill()
		}
	}
	if err := cmd.Wait(); err != nil || r.Running() || !strings.HasPrefix(last, "raised ") {
		t.Errorf("the client of a killed server says %q (%v)\n%s", last, err, errs.String())
	}
	t.Log(last)
}
