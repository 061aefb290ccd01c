package actors_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/process"
	"go.uber.org/goleak"
)

// TestMain looks, after all tests, for what they left: goroutines, descriptors,
// zombies, processes. With a directory in its environment the binary is the
// server of TestKilledServer, and with a verb it is the program that confines a CLI.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == isolation.Verb {
		os.Exit(isolation.Main(os.Args[2:]))
	}
	if dir := os.Getenv(victimVar); dir != "" {
		os.Exit(victim(dir))
	}
	if most := os.Getenv(hoardVar); most != "" {
		os.Exit(hoard(most))
	}
	if os.Getenv(subreaperVar) != "" { // as a server is; the tests hold both ways
		if err := process.BecomeSubreaper(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	base := descriptors()
	code := m.Run()
	if code == 0 {
		code = judgeRemains(base)
	}
	os.Exit(code)
}

const subreaperVar = "ACTORS_TEST_SUBREAPER"

func judgeRemains(base int) int {
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines left:", err)
		return 1
	}
	var zombies []int
	end := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ; time.Now().Before(end); <-tick.C {
		if zombies = children('Z'); len(zombies) == 0 && descriptors() <= base+5 {
			return 0
		}
	}
	fmt.Fprintf(os.Stderr, "left: zombies %v, %d descriptors of %d at first\n", zombies, descriptors(), base)
	return 1
}

func descriptors() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// children are the pids of our children in a state.
func children(state byte) (list []int) {
	procs, _ := os.ReadDir("/proc")
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", p.Name(), "stat"))
		if err != nil {
			continue
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(f) > 1 && f[0][0] == state && f[1] == strconv.Itoa(os.Getpid()) {
			list = append(list, pid)
		}
	}
	return list
}

// alive lists the command lines of the processes that belong to a state directory.
func alive(t *testing.T, dir string) (list []string) {
	t.Helper()
	id, err := os.ReadFile(filepath.Join(dir, "id"))
	if err != nil {
		t.Fatal(err)
	}
	mark := []byte(process.MarkerVar + "=" + string(id) + "/")
	procs, _ := os.ReadDir("/proc")
	for _, p := range procs {
		env, err := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
		if err != nil || !bytes.Contains(env, mark) {
			continue
		}
		cmd, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline"))
		list = append(list, p.Name()+": "+string(bytes.ReplaceAll(cmd, []byte{0}, []byte{' '})))
	}
	return list
}

// nothingLeft says that nothing of the host runs: no slot is taken, no tree is
// known, no process is alive and no private file of a turn is there.
func nothingLeft(t *testing.T, h *actors.Host, dir string) {
	t.Helper()
	eventually(t, "no slot taken and no tree known", func() bool {
		s := h.Stats()
		return s.Running == 0 && s.Waiting == 0 && s.Trees == 0
	})
	if left := alive(t, dir); len(left) > 0 {
		t.Errorf("still alive: %q", left)
	}
	eventually(t, "no private files of a turn", func() bool {
		left, err := os.ReadDir(filepath.Join(dir, "turns"))
		return err == nil && len(left) == 0
	})
}
