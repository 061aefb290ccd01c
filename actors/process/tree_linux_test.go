package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// escapee prints its pid and sleeps without holding a pipe.
const escapee = `/bin/sh -c 'echo $$; exec sleep 100 </dev/null >/dev/null 2>&1'`

func TestGrandchildHoldingStdoutDelaysTheEndByTheGrace(t *testing.T) {
	t.Parallel()
	spec := sh("sleep 100 & echo $!; exit 5")
	spec.DrainGrace = 100 * time.Millisecond
	r := start(t, spec)
	<-r.Exited()
	begin := time.Now()
	s := r.wait(t)
	if took := time.Since(begin); took > 50*time.Second {
		t.Errorf("took %v", took)
	}
	if !s.GaveUp || s.Code != 5 {
		t.Errorf("%+v", s)
	}
	pid := atoi(t, r.text())
	if !running(pid) {
		t.Fatal("the grandchild should live until the sweep")
	}
	if n := r.Sweep(t.Context()); n != 1 || running(pid) {
		t.Errorf("killed %d, running %v", n, running(pid))
	}
}

func TestPartOfALineIsDeliveredWhenGivenUp(t *testing.T) {
	t.Parallel()
	spec := sh("sleep 100 & printf abc")
	spec.DrainGrace = 20 * time.Millisecond
	r := start(t, spec)
	if s := r.wait(t); !s.GaveUp || r.text() != "abc" {
		t.Errorf("%q %+v", r.text(), s)
	}
}

func TestSweepFindsWhatLeftTheSession(t *testing.T) {
	t.Parallel()
	spec := sh("setsid " + escapee + " & exit 0")
	spec.DrainGrace = patience
	r := start(t, spec)
	if s := r.wait(t); s.GaveUp {
		t.Errorf("%+v", s)
	}
	pid := atoi(t, r.text())
	if n := r.Sweep(t.Context()); n != 1 || running(pid) {
		t.Errorf("killed %d, running %v", n, running(pid))
	}
	if _, there := stat(pid); there && subreaper.Load() {
		t.Error("not reaped")
	}
}

func TestSweepOfALivingLeader(t *testing.T) {
	t.Parallel()
	r := start(t, sh("setsid "+escapee+" & wait"))
	pid := atoi(t, r.first(t))
	if n := r.Sweep(t.Context()); n != 1 || running(pid) || running(r.Pid()) {
		t.Errorf("killed %d", n)
	}
	if s := r.wait(t); s.Signal != "SIGKILL" {
		t.Errorf("%+v", s)
	}
}

// A process whose first thread has ended looks like a zombie: the same state comes
// for a moment when a program with many threads ends on a busy machine, and then
// it cannot be reaped yet.
func TestSweepFindsAProcessWithoutItsFirstThread(t *testing.T) {
	t.Parallel()
	spec := sh(`setsid "$SELF" & exit 0`)
	spec.Env = append(spec.Env, helperVar+"=headless", "SELF="+os.Args[0])
	spec.DrainGrace = patience
	r := start(t, spec)
	pid := atoi(t, r.first(t))
	r.wait(t)
	eventually(t, "without its first thread", func() bool {
		e, ok := stat(pid)
		return ok && e.state == 'Z'
	})
	if n := r.Sweep(t.Context()); n != 1 || running(pid) {
		t.Errorf("killed %d, running %v", n, running(pid))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if _, there := stat(pid); there && subreaper.Load() {
		t.Error("not reaped")
	}
}

// A tool shell in a session of its own and without our marker is known by its
// parent, as long as that is asked before it dies.
func TestTheTreeIsRecordedBeforeTheFirstSignal(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(r *run){
		"tree":         func(r *run) { r.SignalTree(syscall.SIGKILL) },
		"group, sweep": func(r *run) { r.Signal(syscall.SIGKILL) },
		"record, kill": func(r *run) { r.Record(); _ = syscall.Kill(r.Pid(), syscall.SIGKILL) },
	} {
		r := start(t, sh("setsid env -i "+escapee+" & wait"))
		pid := atoi(t, r.first(t))
		act(r)
		if s := r.wait(t); s.Signal != "SIGKILL" {
			t.Errorf("%s: %+v", name, s)
		}
		r.Sweep(t.Context())
		if running(pid) {
			t.Errorf("%s: still there", name)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Not parallel: an orphan without a mark is killed only by the last sweep that can
// be meant.
func TestUnmarkedDaemonIsFoundByTheSubreaper(t *testing.T) {
	if !subreaper.Load() {
		t.Skip("cannot be found without the subreaper")
	}
	daemon := func() (*run, int) {
		spec := sh("(setsid env -i " + escapee + " &) ; exit 0")
		spec.DrainGrace = patience
		r := start(t, spec)
		r.wait(t)
		return r, atoi(t, r.text())
	}
	r, pid := daemon()
	if n := r.Sweep(t.Context()); n != 1 || running(pid) {
		t.Errorf("killed %d, running %v", n, running(pid))
	}
	// While another process might have started it, it stays.
	other := start(t, sh("exec sleep 100"))
	r, pid = daemon()
	if n := r.Sweep(t.Context()); n != 0 || !running(pid) {
		t.Errorf("killed %d, running %v", n, running(pid))
	}
	if n := other.Sweep(t.Context()); n != 1 || running(pid) {
		t.Errorf("killed %d, running %v", n, running(pid))
	}
}

// Not parallel, for the same reason.
func TestOtherChildrenAreLeftAlone(t *testing.T) {
	own := exec.Command("/bin/sleep", "100")
	apart := exec.Command("/bin/sleep", "100")
	apart.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dead := exec.Command("/bin/true")
	for _, cmd := range []*exec.Cmd{own, apart, dead} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	forget, _ := Spared(func() (int, error) { return apart.Process.Pid, nil })
	t.Cleanup(forget)
	eventually(t, "dead", func() bool { return !running(dead.Process.Pid) })
	r := start(t, sh("setsid sleep 100 & exit 0"))
	<-r.Exited()
	if n := r.Sweep(t.Context()); n > 1 || !running(own.Process.Pid) || !running(apart.Process.Pid) {
		t.Errorf("killed %d", n)
	}
	ReapOrphans()
	if err := dead.Wait(); err != nil {
		t.Errorf("its status was stolen: %v", err)
	}
	for _, cmd := range []*exec.Cmd{own, apart} {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	table.mu.Lock()
	clear(table.spared)
	table.mu.Unlock()
}

func TestTreesDoNotTouchEachOther(t *testing.T) {
	t.Parallel()
	spec := sh("setsid " + escapee + " & exec sleep 100")
	a, b := start(t, spec), start(t, spec)
	apid, bpid := atoi(t, a.first(t)), atoi(t, b.first(t))
	a.SignalTree(syscall.SIGKILL)
	a.Sweep(t.Context())
	if running(apid) || !running(bpid) || !running(b.Pid()) {
		t.Errorf("a %v, b %v %v", running(apid), running(bpid), running(b.Pid()))
	}
}

func TestIgnoredSignalsEndInKill(t *testing.T) {
	t.Parallel()
	r := start(t, sh("trap '' INT TERM; echo up; while :; do sleep 0.05; echo x; done"))
	r.first(t)
	acts := climb(r, NewLadder(30*time.Millisecond, 20*time.Millisecond))
	if s := r.wait(t); s.Signal != "SIGKILL" || fmt.Sprint(acts) != "[interrupt terminate kill]" {
		t.Errorf("%v %+v", acts, s)
	}
	r.Sweep(t.Context())
}

func TestHeardInterruptIsEnough(t *testing.T) {
	t.Parallel()
	r := start(t, sh("trap 'echo bye; exit 7' INT; echo up; while :; do sleep 0.01; done"))
	r.first(t)
	acts := climb(r, NewLadder(patience, patience))
	if s := r.wait(t); s.Code != 7 || !strings.HasSuffix(r.text(), "bye") || acts[len(acts)-1] != Interrupt {
		t.Errorf("%v %+v %q", acts, s, r.text())
	}
}

// climb does what an owner does with a ladder.
func climb(r *run, l *Ladder) (acts []Act) {
	for !l.Done() {
		act, after := l.Next()
		acts = append(acts, act)
		act.Do(r.Process)
		select {
		case <-r.Exited():
			return acts
		case <-time.After(after):
		}
	}
	return acts
}

func TestSignalsBehindTheEndReachTheGroup(t *testing.T) {
	t.Parallel()
	spec := sh("sleep 100 & echo $!; exit 0")
	spec.DrainGrace = time.Millisecond
	r := start(t, spec)
	r.wait(t)
	r.Signal(syscall.SIGTERM)
	pid := atoi(t, r.text())
	eventually(t, "grandchild terminated", func() bool { return !running(pid) })
}

// A number that another process has by now is not ours. Not parallel: another
// sweep might take the stranger for an orphan before it is spared.
//
//cases:119
func TestCase119ReusedPidsAreNotSignalled(t *testing.T) {
	stranger := exec.Command("/bin/sh", "-c", "sleep 100 & echo $!; wait")
	stranger.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := stranger.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	pid, child := stranger.Process.Pid, 0
	forget, _ := Spared(func() (int, error) { return pid, nil })
	t.Cleanup(forget)
	defer func() {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		_ = stranger.Wait()
		eventually(t, "its child ends", func() bool { reap(child); return !running(child) })
		table.mu.Lock()
		delete(table.spared, pid)
		table.mu.Unlock()
	}()
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	e, _ := stat(pid)
	old := e // what was recorded: the number's owner before the stranger
	old.start--
	if signalEntry(old, syscall.SIGKILL); !running(pid) {
		t.Fatal("signalEntry killed a stranger")
	}
	r := start(t, sh("exit 0"))
	r.wait(t)
	r.tree.record([]entry{old})
	// And one whose leader's number went to the stranger, group, session and all.
	p := &Process{pid: pid, start: old.start, reaped: true, gone: r.gone, handle: r.handle}
	for _, p := range []*Process{r.Process, p} {
		for _, e := range p.look().live {
			if e.pid == pid || e.pid == child {
				t.Errorf("a stranger is a member: %+v", e)
			}
		}
		p.Signal(syscall.SIGKILL)
		p.SignalTree(syscall.SIGKILL)
		p.Sweep(t.Context())
	}
	if !running(pid) || !running(child) {
		t.Error("a stranger was killed")
	}
}

// Between two programs a process shows no environment; it is asked again, or a sweep
// that looked just then would leave it.
func TestMarkersAreSeenWhileProgramsChange(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "again")
	text := "#!/bin/sh\n[ $1 = 0 ] && exit 0\nexec \"$0\" $(($1-1))\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	const mark = "state/boot/changes"
	cmd := exec.Command(script, "300")
	cmd.Env = []string{MarkerVar + "=" + mark, "PATH=" + os.Getenv("PATH")}
	forget, err := Spared(func() (int, error) { // of the sweeps of other tests
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer forget()
	looks := 0
	for {
		got := marker(cmd.Process.Pid)
		if program(cmd.Process.Pid) == leaving { // one that exits shows none, and is no matter
			break
		}
		looks++
		if got != mark {
			t.Errorf("look %d: the marker is %q", looks, got)
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if looks < 10 {
		t.Errorf("only %d looks", looks)
	}
}

// Not parallel: it looks at all of this program's children.
func TestSweepAtAnyTimeLeavesNothing(t *testing.T) {
	for i := range 60 {
		spec := sh("(setsid sleep 100 &) ; sleep 100 & exit 0")
		spec.Marker = fmt.Sprintf("anytime-%d/boot/%d", os.Getpid(), i)
		r := start(t, spec)
		if i%2 == 0 {
			<-r.Exited()
		}
		r.Sweep(t.Context())
		all, _ := scan()
		for _, e := range all {
			if marker(e.pid) == spec.Marker || subreaper.Load() && e.ppid == os.Getpid() {
				t.Fatalf("round %d: left %+v", i, e)
			}
		}
	}
}

// Not parallel: it is about the orphans of all.
func TestStragglersAreSweptByTheNext(t *testing.T) {
	if !subreaper.Load() {
		t.Skip("only the subreaper sees them")
	}
	a := start(t, Spec{
		Path: "/bin/sh", Args: []string{"-c", "setsid " + escapee + " & exit 0"},
		Env: []string{"PATH=" + os.Getenv("PATH")}, Marker: "state/boot/a", DrainGrace: patience,
	})
	a.wait(t)
	pid := atoi(t, a.text())
	sweepOf := func(mark string) int {
		spec := sh("exit 0")
		spec.Marker = mark
		r := start(t, spec)
		r.wait(t)
		return r.Sweep(t.Context())
	}
	if n := sweepOf("state/boot/b"); n != 0 || !running(pid) {
		t.Errorf("killed %d of a tree that is not swept yet", n)
	}
	table.swept(a.Process) // as if its sweep had missed it
	if n := sweepOf("state/other/b"); n != 0 || !running(pid) {
		t.Errorf("killed %d of another boot", n)
	}
	if n := sweepOf("state/boot/b"); n != 1 || running(pid) {
		t.Errorf("killed %d, running %v", n, running(pid))
	}
}

func TestSweepEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := start(t, sh("exec sleep 100"))
	r.Sweep(ctx) // returns
	r.wait(t)
}

func TestSweepTwice(t *testing.T) {
	t.Parallel()
	r := start(t, sh("exit 0"))
	r.wait(t)
	if a, b := r.Sweep(t.Context()), r.Sweep(t.Context()); a != 0 || b != 0 {
		t.Errorf("%d %d", a, b)
	}
}

// Not parallel: what it starts is nobody's, so every sweep may take it.
func TestSweepMarked(t *testing.T) {
	state := fmt.Sprintf("state-%d-%v", os.Getpid(), subreaper.Load())
	begin := func(mark string) (pid, child int) {
		cmd := exec.Command("/bin/sh", "-c", "env -i setsid sleep 100 & echo $!; wait")
		cmd.Env = []string{MarkerVar + "=" + mark, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fscan(out, &child); err != nil {
			t.Fatal(err)
		}
		eventually(t, "child execs", func() bool { return mark == "" || marker(child) == "" })
		t.Cleanup(func() {
			_ = syscall.Kill(child, syscall.SIGKILL)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if subreaper.Load() {
				eventually(t, "orphan reaped", func() bool { reap(child); _, there := stat(child); return !there })
			}
		})
		return cmd.Process.Pid, child
	}
	old, oldChild := begin(state + "/old/turn")
	now, nowChild := begin(state + "/now/turn")
	other, _ := begin(state + "x/old/turn")
	none, _ := begin("")
	n, err := SweepMarked(state, func(marker string) bool { return strings.HasPrefix(marker, state+"/now/") })
	if n != 2 || err != nil {
		t.Errorf("killed %d, %v", n, err)
	}
	if running(old) || running(oldChild) {
		t.Error("old ones run")
	}
	for _, pid := range []int{now, nowChild, other, none} {
		if !running(pid) {
			t.Error("killed a stranger")
		}
	}
	if n, err := SweepMarked("", nil); n != 0 || err == nil {
		t.Error("an empty prefix is everybody")
	}
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	good := "12 (a) b) ()) S 3 4 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 100 1"
	e, ok := parseStat([]byte(good))
	if want := (entry{pid: 12, ppid: 3, pgrp: 4, session: 5, start: 9876, state: 'S', threads: 1, ticks: 26}); !ok || e != want {
		t.Errorf("%+v %v", e, ok)
	}
	for i := range strings.Index(good, "9876") {
		if _, ok := parseStat([]byte(good[:i])); ok {
			t.Errorf("took %q", good[:i])
		}
	}
}
