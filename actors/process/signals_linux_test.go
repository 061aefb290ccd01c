package process

import (
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// libc are 32 and 33, which the C library keeps for its threads: programs that it
// spawns (from make, say) inherit them as ignored, and nobody sends them.
const libc = 1<<31 | 1<<32

// A child hears what its parent does not: the parent is started with signals
// ignored, as nohup and a shell's & do, or blocked.
func TestChildrenGetDefaultSignals(t *testing.T) {
	t.Parallel()
	ignoring := helper(t, "signals")
	ignoring.Args = []string{"-c", `trap '' HUP INT QUIT TERM PIPE TSTP USR1; exec "$0"`, ignoring.Path}
	ignoring.Path = "/bin/sh"
	nohup := helper(t, "signals")
	nohup.Args, nohup.Path = []string{nohup.Path}, "nohup"
	for name, spec := range map[string]Spec{"trap": ignoring, "nohup": nohup, "masked": helper(t, "mask")} {
		r := start(t, spec)
		if s := r.wait(t); s.Code != 0 {
			t.Fatalf("%s: %+v %s", name, s, r.text())
		}
		for _, key := range []string{"SigBlk", "SigIgn"} {
			m := regexp.MustCompile(key + `:\s*([0-9a-f]+)`).FindStringSubmatch(r.text())
			if m == nil {
				t.Fatalf("%s: %q", name, r.text())
			}
			set, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			if set&^libc != 0 {
				t.Errorf("%s: %s %x", name, key, set)
			}
		}
	}
}

func TestSignalNames(t *testing.T) {
	t.Parallel()
	for s, want := range map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV", 64: "SIG64"} {
		if got := signalName(s); got != want {
			t.Errorf("%d: %s", s, got)
		}
	}
	r := start(t, sh("kill -SEGV $$"))
	if s := r.wait(t); s.Signal != "SIGSEGV" || s.Code != -1 {
		t.Errorf("%+v", s)
	}
	if r := start(t, sh("echo "+strings.Repeat("x", 10))); r.wait(t).Signal != "" {
		t.Error("a signal without one")
	}
}
