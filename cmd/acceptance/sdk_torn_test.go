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
// stream: the official SDK raises.
func TestTornStreamRaises(t *testing.T) {
	t.Parallel()
	python := tools.Need(t, "py-3.57.0/bin/python")
	r := sdkRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-B", "torn.py")
	cmd.Dir = filepath.Join("testdata", "sdk")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "NO_PROXY=*", "no_proxy=*",
		"OPENAI_BASE_URL=" + r.URL + "/v1", "OPENAI_API_KEY=" + sdkToken,
	}
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
}
