package isolation

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// tryBubblewrap says why bwrap cannot make what a Box needs, "" when it can.
func tryBubblewrap(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/proc/self/exe", "--version")
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	if line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n")); len(line) > 0 {
		return fmt.Sprintf("%s cannot do its work here: %s", path, line)
	}
	return fmt.Sprintf("%s cannot do its work here: %v", path, err)
}
