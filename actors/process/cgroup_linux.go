package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Cgroups makes a control group (v2) for each process, below the group that this
// program is in itself. A tree in one is found by one read and killed by one write,
// whatever it did to its environment, its parents and its session; and it is bound
// as a whole where the group has the controllers.
type Cgroups struct {
	base string // the group that this program is in
	dir  string // that of one Host, made by Begin
	// memory and pids say that base hands these controllers down.
	memory, pids bool
	moved        bool // this program was put into a leaf of its own

	// spare are groups of trees that left nothing behind, for the next ones: making a
	// group and taking it away cost more than all else about it.
	mu    sync.Mutex
	spare []string

	// What the kernel does of itself in its own file system and a directory does not.
	rmdir func(string) error
	write func(dir, file, text string) error
}

// FindCgroups looks up the mount and this program's own group. It changes nothing;
// an error says why groups cannot be used here.
func FindCgroups() (*Cgroups, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("cgroup v2: %w", err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("cgroup v2: %w", err)
	}
	base, err := ownGroup(mounts, own)
	if err != nil {
		return nil, fmt.Errorf("cgroup v2: %w", err)
	}
	return cgroupsAt(base)
}

func cgroupsAt(base string) (*Cgroups, error) {
	if err := unix.Access(base, unix.W_OK|unix.X_OK); err != nil {
		return nil, fmt.Errorf("cgroup v2: %s is not writable: %w", base, err)
	}
	if err := unix.Access(filepath.Join(base, "cgroup.procs"), unix.W_OK); err != nil {
		return nil, fmt.Errorf("cgroup v2: %s: no process may be put there: %w", base, err)
	}
	c := &Cgroups{base: base, rmdir: unix.Rmdir, write: write}
	c.controllers()
	return c, nil
}

// ownGroup is the directory of this program's group. On a hybrid host the v2 mount
// is beside those of v1, and only it has a line with an empty controller list.
func ownGroup(mounts, own []byte) (string, error) {
	path := ""
	for line := range bytes.Lines(own) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("0::")); ok {
			path = string(rest)
		}
	}
	if path == "" || strings.HasPrefix(path, "/..") {
		return "", errors.New("this program is in no group that can be seen")
	}
	for line := range bytes.Lines(mounts) {
		left, right, ok := strings.Cut(string(line), " - ")
		f, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(f) < 5 || len(kind) < 1 || kind[0] != "cgroup2" {
			continue
		}
		root, at := f[3], unescape(f[4])
		rel := path
		if root != "/" {
			if rel, ok = strings.CutPrefix(path, root); !ok || rel != "" && rel[0] != '/' {
				continue
			}
		}
		return filepath.Join(at, rel), nil
	}
	return "", errors.New("not mounted")
}

// unescape undoes what the kernel does to blanks in paths: \040 and the like.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// controllers reads which ones groups below base get.
func (c *Cgroups) controllers() {
	on := words(filepath.Join(c.base, "cgroup.subtree_control"))
	c.memory, c.pids = on["memory"], on["pids"]
}

func words(file string) map[string]bool {
	out := map[string]bool{}
	for _, w := range bytes.Fields(readAll(file)) {
		out[string(w)] = true
	}
	return out
}

// leafName is the group that a server alone in its group moves into: a group that
// hands controllers down may hold no process itself.
const leafName = "agenthost-server"

// Delegate makes base hand the memory and pids controllers down, if it has them and
// either may do so as it is or holds nobody but this program, which then moves into
// a leaf. It is process-wide, so only a server's main calls it, before it starts
// anything.
func (c *Cgroups) Delegate() {
	have := words(filepath.Join(c.base, "cgroup.controllers"))
	if c.memory && c.pids || !have["memory"] && !have["pids"] {
		return
	}
	c.enable(c.base)
	if c.controllers(); c.memory || c.pids {
		return
	}
	if alone := bytes.Fields(readAll(filepath.Join(c.base, "cgroup.procs"))); len(alone) != 1 || string(alone[0]) != strconv.Itoa(os.Getpid()) {
		return
	}
	leaf := filepath.Join(c.base, leafName)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return
	}
	if c.write(leaf, "cgroup.procs", strconv.Itoa(os.Getpid())) != nil {
		_ = c.rmdir(leaf)
		return
	}
	c.moved = true
	c.enable(c.base)
	if c.controllers(); !c.memory && !c.pids {
		c.moveBack()
	}
}

func (c *Cgroups) enable(dir string) {
	for _, name := range []string{"memory", "pids"} {
		_ = c.write(dir, "cgroup.subtree_control", "+"+name) // read back by controllers
	}
}

func (c *Cgroups) moveBack() {
	if !c.moved {
		return
	}
	for _, name := range []string{"memory", "pids"} {
		_ = c.write(c.base, "cgroup.subtree_control", "-"+name)
	}
	if c.write(c.base, "cgroup.procs", strconv.Itoa(os.Getpid())) == nil {
		_ = c.rmdir(filepath.Join(c.base, leafName))
		c.moved = false
	}
}

// prefix begins the names of the groups of our hosts.
const prefix = "agenthost-"

// Begin makes the group of a host: state names its state directory, whose one user
// it is, and boot this start. What earlier starts left in theirs is killed.
func (c *Cgroups) Begin(state, boot string) (killed int, err error) {
	name := prefix + short(state) + "-" + short(boot)
	old, err := filepath.Glob(filepath.Join(c.base, prefix+short(state)+"-*"))
	if err != nil {
		return 0, fmt.Errorf("cgroup v2: %w", err)
	}
	for _, dir := range old {
		if filepath.Base(dir) != name {
			killed += c.clear(dir)
		}
	}
	dir := filepath.Join(c.base, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return killed, fmt.Errorf("cgroup v2: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		_ = c.rmdir(dir)
		return killed, fmt.Errorf("cgroup v2: this kernel cannot kill a group: %w", err)
	}
	if c.memory || c.pids {
		c.enable(dir)
		on := words(filepath.Join(dir, "cgroup.subtree_control"))
		c.memory, c.pids = on["memory"], on["pids"]
	}
	c.dir = dir
	return killed, nil
}

func short(id string) string { return id[:min(len(id), 16)] }

// clear ends what is in a group and removes it.
func (c *Cgroups) clear(dir string) (killed int) {
	g := &group{dir: dir, rmdir: c.rmdir}
	killed = len(g.pids())
	g.kill()
	g.emptied(5 * time.Second)
	g.remove()
	return killed
}

// Limited says which limits of a tree the kernel holds here.
func (c *Cgroups) Limited() (memory, processes bool) {
	return c != nil && c.memory, c != nil && c.pids
}

// Dir is the host's group, "" before Begin.
func (c *Cgroups) Dir() string {
	if c == nil {
		return ""
	}
	return c.dir
}

// Close removes the host's group and puts this program back to where it was.
func (c *Cgroups) Close() {
	if c.dir != "" {
		(&group{dir: c.dir, rmdir: c.rmdir}).remove()
		c.dir = ""
	}
	c.moveBack()
}

// group is the control group of one process and everything below it.
type group struct {
	dir string
	// memory and processes say that the kernel holds these limits.
	memory, processes bool
	rmdir             func(string) error
	of                *Cgroups // whose spare one it may become; nil: it may not
	again             bool     // it had another tree before

	mu   sync.Mutex
	left bool // it is no longer this tree's
	// killed says that cgroup.kill was written. Kernels (seen on 6.18) count its uses in
	// the group and compare with the count of the group that a child is cloned from: one
	// that is started in a group that was killed once may be killed at once.
	killed bool
}

// maxSpare bounds the groups that wait for a tree.
const maxSpare = 64

// group makes one; nil when it cannot, which costs a guarantee and no turn.
func (c *Cgroups) group(name string, l *Limits) *group {
	if c == nil || c.dir == "" {
		return nil
	}
	g := &group{dir: filepath.Join(c.dir, name), rmdir: c.rmdir}
	if *l == (Limits{}) { // what the kernel counts for limits begins with the group
		g.of = c
		if g.reuse() {
			return g
		}
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil
	}
	if l.Memory > 0 && c.memory {
		g.memory = write(g.dir, "memory.max", strconv.FormatInt(l.Memory, 10)) == nil
		_ = write(g.dir, "memory.swap.max", "0")  // else it would swap first; absent without swap
		_ = write(g.dir, "memory.oom.group", "1") // all of it or nothing
	}
	if l.Processes > 0 && c.pids {
		g.processes = write(g.dir, "pids.max", strconv.Itoa(l.Processes)) == nil
	}
	return g
}

// reuse takes a spare one's place.
func (g *group) reuse() bool {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	last := len(g.of.spare) - 1
	if last < 0 {
		return false
	}
	g.dir, g.again = g.of.spare[last], true
	g.of.spare = g.of.spare[:last]
	return true
}

// leave keeps a group for another tree, after one of which nothing is left: neither a
// process, which the caller knows, nor a group below.
func (g *group) leave() {
	if g == nil {
		return
	}
	g.mu.Lock()
	kept := g.of != nil && !g.left && !g.killed && len(g.tree()) == 1
	g.left = true // the next tree is none of this one's business
	g.mu.Unlock()
	if !kept || !g.spared() {
		g.remove()
	}
}

func (g *group) spared() bool {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if len(g.of.spare) >= maxSpare {
		return false
	}
	g.of.spare = append(g.of.spare, g.dir)
	return true
}

// name of the group of a marker: its last part, which is the turn's.
func groupName(marker string) string {
	name := marker[strings.LastIndexByte(marker, '/')+1:]
	if name == "" || name == "." || name == ".." {
		return "process"
	}
	return name
}

func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}

// open gives a descriptor for the start of a process in the group, -1 if it cannot.
func (g *group) open() int {
	if g == nil {
		return -1
	}
	const how = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
	fd, err := unix.Open(g.dir, how, 0)
	if g.again && errors.Is(err, unix.ENOENT) && os.Mkdir(g.dir, 0o755) == nil { // somebody tidied up
		fd, err = unix.Open(g.dir, how, 0)
	}
	if err != nil {
		return -1
	}
	return fd
}

// pids are the living processes of the group and of groups below it.
func (g *group) pids() (list []int) {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left {
		return nil
	}
	for _, dir := range g.tree() {
		for _, w := range bytes.Fields(readAll(filepath.Join(dir, "cgroup.procs"))) {
			if pid, ok := number(w); ok && pid > 0 {
				list = append(list, pid)
			}
		}
	}
	return list
}

// tree lists the group and those that a process with rights made below it, the
// lowest last. The link count says at once whether there are any.
func (g *group) tree() []string {
	dirs := []string{g.dir}
	var st unix.Stat_t
	if unix.Stat(g.dir, &st) != nil || st.Nlink == 2 {
		return dirs
	}
	for i := 0; i < len(dirs) && len(dirs) < 1000; i++ {
		entries, _ := os.ReadDir(dirs[i])
		for _, e := range entries {
			if e.IsDir() {
				dirs = append(dirs, filepath.Join(dirs[i], e.Name()))
			}
		}
	}
	return dirs
}

// empty says that no process is in the group.
func (g *group) empty() bool {
	return g == nil || !bytes.Contains(readAll(filepath.Join(g.dir, "cgroup.events")), []byte("populated 1"))
}

// kill ends everything in the group at once, what is just being forked too.
func (g *group) kill() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.left {
		g.killed = true
		_ = write(g.dir, "cgroup.kill", "1")
	}
}

// emptied waits until the group is empty.
func (g *group) emptied(limit time.Duration) bool {
	for end := time.Now().Add(limit); !g.empty(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// remove takes the group away, the lower ones first.
func (g *group) remove() {
	if g == nil {
		return
	}
	dirs := g.tree()
	for i := len(dirs) - 1; i >= 0; i-- {
		_ = g.rmdir(dirs[i])
	}
}

// counter reads one number of a file of "name number" lines.
func (g *group) counter(file, name string) (int64, bool) {
	for line := range bytes.Lines(readAll(filepath.Join(g.dir, file))) {
		f := bytes.Fields(line)
		if len(f) == 2 && string(f[0]) == name {
			n, err := strconv.ParseInt(string(f[1]), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// cpu is the time that all that was ever in the group has used; not known when that
// was more than one tree.
func (g *group) cpu() (time.Duration, bool) {
	if g.again {
		return 0, false
	}
	us, ok := g.counter("cpu.stat", "usage_usec")
	return time.Duration(us) * time.Microsecond, ok
}

// hits says which limits the kernel has held the group to.
func (g *group) hits() (memory, processes bool) {
	if g == nil {
		return false, false
	}
	if g.memory {
		n, _ := g.counter("memory.events", "oom_kill")
		memory = n > 0
	}
	if g.processes {
		n, _ := g.counter("pids.events", "max")
		processes = n > 0
	}
	return memory, processes
}

// inGroup says whether a start in a group failed because of the group: then it is
// tried without.
func inGroup(err error) bool {
	return errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) ||
		errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EBADF) ||
		errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.E2BIG)
}

// holds says which limits the kernel holds for the group.
func (g *group) holds() (memory, processes bool) {
	return g != nil && g.memory, g != nil && g.processes
}
