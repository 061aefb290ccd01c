package hostproc

import (
	"strings"
	"testing"
	"time"
)

func TestServerRunsStopsAndStartsAgain(t *testing.T) {
	t.Parallel()
	h := Start(t, Options{Config: map[string]any{"log": map[string]any{"level": "debug"}}})
	if status, body, err := get(h.URL + "/healthz"); err != nil || status != 200 {
		t.Fatalf("%d %s %v", status, body, err)
	}
	if h.RSS() < 1<<20 || h.Descriptors() < 3 || h.Goroutines() < 3 {
		t.Errorf("RSS %d, %s", h.RSS(), h.Usage())
	}
	code, said := Refused(t, Options{StateDir: h.StateDir})
	if code == 0 || !strings.Contains(said, "in use by another server") {
		t.Errorf("a second server: exit code %d: %s", code, said)
	}
	first := h.Pid
	h.Kill()
	if h.Running() || Alive(first) {
		t.Error("alive after SIGKILL")
	}
	h.Restart()
	if h.Pid == first {
		t.Error("not restarted")
	}
	h.Clean(time.Second)
	h.Stop()
}
