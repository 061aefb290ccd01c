package process

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestOwnGroup(t *testing.T) {
	t.Parallel()
	const v2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	const hybrid = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:5 - cgroup2 cgroup2 rw\n"
	for _, c := range []struct{ mounts, own, want string }{
		{v2, "0::/system.slice/agenthost.service\n", "/sys/fs/cgroup/system.slice/agenthost.service"},
		{hybrid, "4:memory:/a\n0::/\n", "/sys/fs/cgroup/unified"},
		{"30 23 0:26 /docker/ab /sys/fs/cgroup rw - cgroup2 none rw\n", "0::/docker/ab/x\n", "/sys/fs/cgroup/x"},
		{"30 23 0:26 /docker/ab /sys/fs/cgroup rw - cgroup2 none rw\n", "0::/docker/abc\n", ""},
		{"30 23 0:26 / /mnt/c\\040g rw - cgroup2 none rw\n", "0::/\n", "/mnt/c g"},
		{v2, "0::/../../elsewhere\n", ""},
		{v2, "4:memory:/a\n", ""},
		{"22 27 0:21 / /proc rw - proc proc rw\n", "0::/\n", ""},
		{"", "", ""}, {"- - -\n", "0::/", ""}, {" - cgroup2\n", "0::/", ""},
	} {
		got, err := ownGroup([]byte(c.mounts), []byte(c.own))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q %q: %q %v, want %q", c.mounts, c.own, got, err, c.want)
		}
	}
}

// fakeFS is a directory that has the files of a group; a kernel's would make them.
func fakeFS(t *testing.T, controllers, handed, procs string) *Cgroups {
	t.Helper()
	base := t.TempDir()
	for name, text := range map[string]string{"cgroup.controllers": controllers, "cgroup.subtree_control": handed, "cgroup.procs": procs} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := cgroupsAt(base)
	if err != nil {
		t.Fatal(err)
	}
	c.rmdir = os.RemoveAll
	c.write = func(dir, file, text string) error {
		if file != "cgroup.subtree_control" {
			return write(dir, file, text)
		}
		on := words(filepath.Join(dir, file))
		if procs := content(t, dir, "cgroup.procs"); strings.TrimSpace(procs) != "" && procs != "absent" && len(on) == 0 && dir == base {
			return syscall.EBUSY
		}
		if on[text[1:]] = true; text[0] == '-' {
			delete(on, text[1:])
		}
		return write(dir, file, strings.Join(slices.Sorted(maps.Keys(on)), " "))
	}
	return c
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		return "absent"
	}
	return string(b)
}

func TestGroupsFiles(t *testing.T) {
	t.Parallel()
	c := fakeFS(t, "cpu memory pids\n", "memory pids\n", "")
	if m, p := c.Limited(); !m || !p {
		t.Fatal("the controllers that are handed down are not seen")
	}
	// What an earlier start left is killed; another state directory's is not ours.
	const state = "0123456789abcdef0123456789abcdef"
	for _, name := range []string{"agenthost-0123456789abcdef-old", "agenthost-ffffffffffffffff-old"} {
		if err := os.Mkdir(filepath.Join(c.base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if killed, err := c.Begin(state, "boot"); err == nil || killed != 0 || c.Dir() != "" {
		t.Errorf("a kernel that cannot kill a group is taken: %d %v", killed, err)
	}
	if _, err := os.Stat(filepath.Join(c.base, "agenthost-ffffffffffffffff-old")); err != nil {
		t.Error("a foreign group was touched")
	}
	if _, err := os.Stat(filepath.Join(c.base, "agenthost-0123456789abcdef-old")); err == nil {
		t.Error("the old group is still there")
	}

	dir := filepath.Join(c.base, "agenthost-0123456789abcdef-boot")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"cgroup.kill", "cgroup.subtree_control"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("memory pids"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.memory, c.pids = true, true
	c.dir = dir
	g := c.group(groupName("state/boot/turn1"), &Limits{Memory: 4096, Processes: 7})
	if g == nil || filepath.Base(g.dir) != "turn1" {
		t.Fatalf("%+v", g)
	}
	if m, p := g.holds(); !m || !p {
		t.Error("the kernel's limits are not counted on")
	}
	for file, want := range map[string]string{"memory.max": "4096", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "7"} {
		if got := content(t, g.dir, file); got != want {
			t.Errorf("%s holds %q", file, got)
		}
	}
	if g.kill(); content(t, g.dir, "cgroup.kill") != "1" {
		t.Error("not killed")
	}
	for name, text := range map[string]string{
		"memory.events": "low 0\nhigh 0\nmax 4\noom 1\noom_kill 1\n", "pids.events": "max 2\n",
		"cpu.stat": "usage_usec 2500000\nuser_usec 1\n", "cgroup.events": "populated 1\nfrozen 0\n", "cgroup.procs": "12\n13\n",
	} {
		if err := write(g.dir, name, text); err != nil {
			t.Fatal(err)
		}
	}
	if m, p := g.hits(); !m || !p {
		t.Error("what the kernel did is not seen")
	}
	if cpu, ok := g.cpu(); !ok || cpu.Seconds() != 2.5 {
		t.Errorf("cpu %s", cpu)
	}
	if g.empty() {
		t.Error("a populated group is empty")
	}
	below := filepath.Join(g.dir, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := write(below, "cgroup.procs", "14\n"); err != nil {
		t.Fatal(err)
	}
	if got := g.pids(); len(got) != 3 || got[2] != 14 {
		t.Errorf("pids %v", got)
	}
	g.remove()
	c.Close()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the host's group is left")
	}
	var none *Cgroups
	var nobody *group
	nobody.kill()
	nobody.remove()
	if none.group("x", &Limits{}) != nil || none.Dir() != "" || !nobody.empty() || nobody.pids() != nil || nobody.open() != -1 {
		t.Error("no groups are something")
	}
}

// A server alone in its group moves into a leaf; one that is not alone does not.
func TestDelegate(t *testing.T) {
	t.Parallel()
	self := strconv.Itoa(os.Getpid())
	alone := fakeFS(t, "memory pids\n", "", self+"\n")
	alone.Delegate()
	if m, p := alone.Limited(); m || p || alone.moved || content(t, alone.base, leafName, "cgroup.procs") != "absent" {
		t.Error("a group that is still busy handed something down")
	}
	inner := alone.write
	alone.write = func(dir, file, text string) error {
		if dir != alone.base && file == "cgroup.procs" { // a process is in one group only
			_ = write(alone.base, file, "")
		}
		return inner(dir, file, text)
	}
	alone.Delegate()
	if m, p := alone.Limited(); !m || !p || !alone.moved || content(t, alone.base, leafName, "cgroup.procs") != self {
		t.Error("not moved into a leaf")
	}
	alone.Close()
	if alone.moved || content(t, alone.base, "cgroup.procs") != self || content(t, alone.base, "cgroup.subtree_control") != "" ||
		content(t, alone.base, leafName, "cgroup.procs") != "absent" {
		t.Error("not put back")
	}
	crowd := fakeFS(t, "memory pids\n", "", self+"\n1\n")
	crowd.Delegate()
	none := fakeFS(t, "hugetlb\n", "", self+"\n")
	none.Delegate()
	if crowd.moved || none.moved {
		t.Error("moved without need or right")
	}
}

// realCgroups are the machine's, in a host's group of their own.
func realCgroups(t *testing.T) *Cgroups {
	t.Helper()
	c, err := FindCgroups()
	if err != nil {
		t.Skip("cgroup v2 is not writable here:", err)
	}
	if _, err := c.Begin(strconv.Itoa(os.Getpid())+t.Name(), t.Name()); err != nil {
		t.Skip("cgroup v2 cannot be used here:", err)
	}
	t.Cleanup(func() {
		dir := c.Dir()
		c.Close()
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	})
	return c
}

// What leaves the session, its parents and its environment is still in the group.
func TestGroupHoldsWhatEscapes(t *testing.T) {
	c := realCgroups(t)
	spec := sh("setsid env -i sh -c 'env -i setsid sleep 300 & echo $!' ; exit 0")
	spec.Cgroups = c
	r := start(t, spec)
	pid := atoi(t, r.first(t))
	r.wait(t)
	if got := r.group.pids(); len(got) != 1 || got[0] != pid {
		t.Errorf("the group holds %v, not %d", got, pid)
	}
	if killed := r.Sweep(t.Context()); killed != 1 || running(pid) {
		t.Errorf("killed %d, running %v", killed, running(pid))
	}
	if _, err := os.Stat(r.group.dir); err == nil {
		t.Error("the turn's group is left")
	}
}

// A tree that left nothing behind leaves its group to the next one, which it can do
// nothing to any more.
func TestGroupIsUsedAgain(t *testing.T) {
	if !subreaper.Load() {
		t.Skip("without the subreaper nothing cheap says that nothing is left")
	}
	c := realCgroups(t)
	spec := sh("echo on")
	spec.Cgroups = c
	first := start(t, spec)
	first.wait(t)
	first.Sweep(t.Context())
	spec = sh("setsid sleep 300 & echo $!; read x")
	spec.Cgroups, spec.Stdin = c, nil
	next := start(t, spec)
	pid := atoi(t, next.first(t))
	if next.group.dir != first.group.dir {
		t.Errorf("%s was not used again, but %s", first.group.dir, next.group.dir)
	}
	Kill.Do(first.Process)
	first.Sweep(t.Context())
	if got := first.group.pids(); len(got) != 0 {
		t.Errorf("the first tree still has %v", got)
	}
	if !running(pid) {
		t.Error("the end of the first tree ended the next")
	}
	if killed := next.Sweep(t.Context()); killed == 0 || running(pid) {
		t.Errorf("killed %d, running %v", killed, running(pid))
	}
	next.wait(t)
	if _, err := os.Stat(next.group.dir); err == nil {
		t.Error("the group of a tree that had to be killed is left")
	}
	spec = sh("echo on")
	spec.Cgroups, spec.Limits = c, Limits{OpenFiles: 50}
	bound := start(t, spec)
	bound.wait(t)
	bound.Sweep(t.Context())
	if len(c.spare) != 0 {
		t.Errorf("the group of a tree with limits is kept: %v", c.spare)
	}
}

// A group that was killed as a whole is given to no other tree: some kernels would kill
// what is started in it.
func TestKilledGroupIsNotUsedAgain(t *testing.T) {
	c := realCgroups(t)
	for range 3 {
		spec := sh("echo on; sleep 300")
		spec.Cgroups = c
		killed := start(t, spec)
		killed.first(t)
		Kill.Do(killed.Process)
		killed.wait(t)
		killed.Sweep(t.Context())
		if len(c.spare) != 0 {
			t.Errorf("the killed group is kept: %v", c.spare)
		}
		spec = sh("echo fine")
		spec.Cgroups = c
		next := start(t, spec)
		if line := next.first(t); line != "fine" {
			t.Errorf("it said %q", line)
		}
		next.wait(t)
		next.Sweep(t.Context())
		c.spare = nil
	}
}

// A tree that forks faster than it can be listed is ended by one write.
func TestGroupEndsAForkBomb(t *testing.T) {
	c := realCgroups(t)
	spec := sh("echo on; for n in 1 2 3; do (i=0; while [ $i -lt 60 ]; do setsid sleep 300 & i=$((i+1)); done) & done; wait")
	spec.Cgroups = c
	r := start(t, spec)
	r.first(t)
	Kill.Do(r.Process)
	r.Sweep(t.Context())
	if left := r.group.pids(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestBadGroupCostsNoStart(t *testing.T) {
	t.Parallel()
	spec := sh("echo fine")
	spec.Cgroups = &Cgroups{dir: t.TempDir(), rmdir: os.RemoveAll} // no group of a kernel's
	r := start(t, spec)
	if s := r.wait(t); s.Code != 0 || r.text() != "fine" || r.group != nil {
		t.Errorf("%+v %q", s, r.text())
	}
	spec.Path = "/nowhere/at/all"
	if _, err := Start(spec); err == nil || !strings.Contains(err.Error(), ErrNotFound.Error()) {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(spec.Cgroups.dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// The next start ends what a killed one left in its group.
func TestBeginEndsTheOldGroup(t *testing.T) {
	c := realCgroups(t)
	spec := sh("env -i setsid sleep 300 & echo $!; wait")
	spec.Cgroups = c
	r := start(t, spec)
	pid := atoi(t, r.first(t))
	next, err := FindCgroups()
	if err != nil {
		t.Fatal(err)
	}
	killed, err := next.Begin(strconv.Itoa(os.Getpid())+t.Name(), "next")
	if err != nil || killed < 2 || running(pid) {
		t.Errorf("killed %d: %v", killed, err)
	}
	next.Close()
	if s := r.wait(t); s.Signal != "SIGKILL" {
		t.Errorf("%+v", s)
	}
	_ = syscall.Rmdir(c.dir)
}
