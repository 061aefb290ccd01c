package process

import (
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

// All who ask before a look begins get the same one; who asks later gets a later one.
func TestLooksAreShared(t *testing.T) {
	t.Parallel()
	var c counter
	first := c.ask()
	for range 1000 {
		if c.ask() != first {
			t.Fatal("two looks for those who asked before the first began")
		}
	}
	one := c.give(first)
	if c.give(first) != one || c.made != 1 {
		t.Errorf("%d looks for one", c.made)
	}
	if second := c.ask(); second == first || c.give(second) == one || c.made != 2 {
		t.Errorf("an old look is given to one who asked after it began; %d looks", c.made)
	}
}

// A look that is shared is never older than the asking for it.
func TestLookShowsWhatWasThereWhenItWasAskedFor(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				cmd := exec.Command("/bin/sleep", "100")
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				c := looks.take()
				i, there := c.at[cmd.Process.Pid]
				if !there || c.all[i].dead() {
					t.Error("a process that was there is not seen")
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
		})
	}
	wg.Wait()
}

// Trees that end all at once leave nothing, be it marked or only known by its parents.
func TestEndingsAtOnceLeaveNothing(t *testing.T) {
	t.Parallel()
	const n = 16
	var left []int
	var trees []*run
	for i := range n {
		script := "setsid " + escapee + " & wait"
		if i%2 == 0 {
			script = "setsid env -i " + escapee + " & wait"
		}
		r := start(t, sh(script))
		trees = append(trees, r)
		left = append(left, atoi(t, r.first(t)))
	}
	var wg sync.WaitGroup
	for i, r := range trees {
		wg.Go(func() {
			r.Record()
			if i%4 < 2 {
				r.Signal(syscall.SIGKILL)
			} else {
				r.SignalTree(syscall.SIGKILL)
			}
			<-r.Exited()
			r.Sweep(t.Context())
		})
	}
	wg.Wait()
	for i, pid := range left {
		if running(pid) {
			t.Errorf("tree %d left %d", i, pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Not parallel: it counts the looks of all. A tree that was signalled and has left
// nothing costs no look more than the one before the signal.
func TestSweepOfASignalledTreeNeedsNoLook(t *testing.T) {
	if !subreaper.Load() {
		t.Skip("without the subreaper nothing cheap says that nothing is left")
	}
	for i := range 3 {
		spec := sh("exec sleep 100")
		spec.Marker = fmt.Sprintf("state/boot/signalled-%d", i)
		r := start(t, spec)
		if list, ok := adopted(); !ok || len(list) > 0 {
			t.Skip("there are orphans, so it has to look:", list)
		}
		before := made()
		r.Record()
		r.Signal(syscall.SIGINT)
		r.wait(t)
		if n := r.Sweep(t.Context()); n != 0 {
			t.Errorf("killed %d", n)
		}
		if n := made() - before; n != 1 {
			t.Errorf("%d looks, want that before the signal only", n)
		}
	}
}

func made() int {
	looks.looking.Lock()
	defer looks.looking.Unlock()
	return looks.made
}

// Who was recorded is ended even if nothing else tells of it: no orphan, in no group or
// session of the tree, without its mark.
func TestRecordedMemberIsNotLeft(t *testing.T) {
	t.Parallel()
	member := exec.Command("/bin/sleep", "100")
	member.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	forget, err := Spared(func() (int, error) { // of the sweeps of other tests
		if err := member.Start(); err != nil {
			return 0, err
		}
		return member.Process.Pid, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer forget()
	defer func() { _ = member.Wait() }()
	r := start(t, sh("exec sleep 100"))
	r.Record()
	e, ok := stat(member.Process.Pid)
	if !ok {
		t.Fatal("the member is not there")
	}
	r.tree.record([]entry{e})
	r.Signal(syscall.SIGKILL)
	r.wait(t)
	if n := r.Sweep(t.Context()); n != 1 || running(member.Process.Pid) {
		t.Errorf("killed %d, running %v", n, running(member.Process.Pid))
		_ = member.Process.Kill()
	}
}
