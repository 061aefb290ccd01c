package actors

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/spec"
)

// Isolation is how far an adapter's CLI is kept from the rest of the machine.
type Isolation struct {
	// Level is the highest to be used, as far as the machine has it; Required the one
	// below which nothing is run.
	Level, Required isolation.Level
	// Read and Write are further paths that a confined CLI may reach, Ports further TCP
	// ports that it may connect to.
	Read, Write []string
	Ports       []uint16
}

// asked is the level to reach.
func (i *Isolation) asked() isolation.Level { return max(i.Level, i.Required) }

// Lacks says why this host does not have a level of isolation, "" when it does.
func (h *Host) Lacks(l isolation.Level) string {
	if l == isolation.Cgroup {
		if h.cfg.cgroups != nil {
			return ""
		}
		if why := h.cfg.machine.Ungrouped; why != "" {
			return why
		}
		return "turns get no control group here"
	}
	return h.cfg.machine.Lacks(l)
}

// levels are what a turn of the adapter gets as far as the machine decides.
func (h *Host) levels(r *RuntimeConfig) (set isolation.Set) {
	asked := r.Isolation.asked()
	if asked == isolation.Auto {
		set = set.With(isolation.Group)
		if h.cfg.cgroups != nil {
			set = set.With(isolation.Cgroup)
		}
		return set
	}
	for _, l := range isolation.Levels() {
		if l <= asked && h.lacks(r, l) == "" {
			set = set.With(l)
		}
	}
	return set
}

// lacks says why the adapter's turns cannot have a level here, "" when they can.
func (h *Host) lacks(r *RuntimeConfig, l isolation.Level) string {
	why := h.Lacks(l)
	if _, is := r.Adapter.(agent.SelfServing); is && why == "" && l == isolation.Landlock {
		return "its CLI talks to itself at a TCP port that is not known beforehand, and landlock allows ports by number; bubblewrap can hold it"
	}
	return why
}

// confines says that a turn with these levels reaches no file but its own.
func confines(set isolation.Set) bool {
	return set.Has(isolation.Landlock) || set.Has(isolation.Bubblewrap)
}

// isolable refuses an adapter whose required level this machine does not have.
func (h *Host) isolable(r *RuntimeConfig) error {
	return h.reached(r, h.levels(r), "")
}

// reached refuses a set without the required level; why says it where the machine does
// not. What bubblewrap shuts out, landlock would as well.
func (h *Host) reached(r *RuntimeConfig, set isolation.Set, why string) error {
	required := r.Isolation.Required
	if required == isolation.Auto || set.Has(required) || required == isolation.Landlock && set.Has(isolation.Bubblewrap) {
		return nil
	}
	name := r.Adapter.Name()
	return event.Fail(event.IsolationUnavailable, fmt.Sprintf(
		"agents.%s.isolation.required is %s, and a turn cannot have it: %s; agenthost doctor lists the levels of this machine", name, required, cmp.Or(h.lacks(r, required), why)))
}

// isolate decides the levels of one turn, when it is known whom its CLI talks to, and
// gives the ports of these.
func (h *Host) isolate(r *RuntimeConfig, req *agent.Request, environ []string) (isolation.Set, []uint16, error) {
	set, why := h.levels(r), ""
	if !confines(set) {
		return set, nil, h.reached(r, set, "")
	}
	ports, foreign := peers(r, req, environ)
	if set.Has(isolation.Bubblewrap) && foreign != "" {
		why = fmt.Sprintf("a network of its own reaches loopback ports only, and %s is none; use the host's relay, or level landlock", foreign)
		set &^= isolation.Set(0).With(isolation.Bubblewrap)
		h.log.Warn("weaker isolation than configured", "adapter", r.Adapter.Name(), "levels", set.String(), "why", why)
	}
	return set, ports, h.reached(r, set, why)
}

// peers are the TCP ports that a turn's CLI has to reach, and one of the addresses that
// is not of this machine, "" when all are.
func peers(r *RuntimeConfig, req *agent.Request, environ []string) (ports []uint16, foreign string) {
	ports = append(ports, r.Isolation.Ports...)
	add := func(what, address string) {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" {
			return
		}
		port := u.Port()
		switch {
		case port != "":
		case u.Scheme == "http" || u.Scheme == "ws":
			port = "80"
		case strings.HasPrefix(u.Scheme, "socks"):
			port = "1080"
		default:
			port = "443"
		}
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			ports = append(ports, uint16(n))
		}
		if ip := net.ParseIP(u.Hostname()); foreign == "" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			foreign = what
		}
	}
	if req.LLM.BaseURL != "" {
		add("the model provider", req.LLM.BaseURL)
	} else if _, known := r.Adapter.(agent.Versioner); known || r.Adapter.Capabilities().BaseURL {
		add("the CLI's own model provider", "https://provider") // of a declared program nobody knows
	}
	if req.Host != nil {
		add("the host", req.Host.URL)
	}
	for name, m := range req.MCP {
		if m.URL != "" {
			add("the MCP server "+name, m.URL)
		}
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		if v, ok := lookup(environ, name); ok && v != "" {
			if !strings.Contains(v, "://") {
				v = "http://" + v
			}
			add("the proxy of "+name, v)
		}
	}
	return ports, foreign
}

// readable are the trees that programs of this machine live in.
var readable = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/proc", "/sys"}

// devices may be written to. A terminal's are among them, for tools that open one.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// guarded are files below readable that hold secrets; a server that runs as root could
// read them.
var guarded = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private",
	"/etc/ssh/ssh_host_*_key", "/etc/krb5.keytab",
}

// certificateVars name files and directories that a CLI reads to know its peers.
var certificateVars = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}

// box is what the turn's CLI may reach: its workspace, its home, its own program, what
// programs of this machine need, and its peers. dirs are further ones of its own.
func (h *Host) box(r *RuntimeConfig, set isolation.Set, req *agent.Request, environ []string, ports []uint16, dirs ...string) (*isolation.Box, error) {
	b := &isolation.Box{Level: set.Top(), Ports: slices.Clone(ports)}
	b.Read = append(b.Read, readable...)
	b.Read = append(b.Read, h.cfg.tools...)
	b.Read = append(b.Read, programTree(req.Binary)...)
	for _, name := range certificateVars {
		if v, ok := lookup(environ, name); ok {
			b.Read = append(b.Read, v)
		}
	}
	path, _ := lookup(environ, "PATH")
	b.Read = append(b.Read, filepath.SplitList(path)...)
	if to, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		b.Read = append(b.Read, to)
	}
	b.Read = append(b.Read, r.Isolation.Read...)
	b.Write = append(append(append(b.Write, devices...), dirs...), r.Isolation.Write...)
	if req.Permissions == spec.ReadOnly {
		b.Read = append(b.Read, req.Workspace)
	} else {
		b.Write = append(b.Write, req.Workspace)
	}
	if req.Home != "" {
		b.Write = append(b.Write, req.Home)
	}
	b.Hide = append(append(b.Hide, h.cfg.stateDir), h.cfg.unseen...)
	for _, pattern := range guarded {
		found, _ := filepath.Glob(pattern)
		b.Hide = append(b.Hide, found...)
	}
	if b.Level == isolation.Bubblewrap {
		b.Program = h.cfg.machine.Bwrap
	}
	if err := b.Tidy(); err != nil {
		return nil, event.Fail(event.WorkspaceUnavail, fmt.Sprintf("the session's CLI cannot be confined: %v", err))
	}
	return b, nil
}

// programTree is where an installed program's own files are.
func programTree(binary string) (dirs []string) {
	for _, p := range []string{binary, resolvedPath(binary)} {
		dir := filepath.Dir(p)
		if at := strings.Index(dir, "/node_modules/"); at >= 0 {
			dir = dir[:at+len("/node_modules")]
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

func resolvedPath(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// ownHome is the HOME of the level of that name; it lasts as long as the CLI's state.
func ownHome(req *agent.Request) string { return filepath.Join(req.Home, "user") }

// homeVars are what of the host's environment leads to a person's own files.
func homeVars(name string) bool {
	switch name {
	case "HOME", "TMPDIR", "TMP", "TEMP", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "QWEN_HOME", "CURSOR_CONFIG_DIR":
		return true
	}
	return strings.HasPrefix(name, "XDG_") && strings.HasSuffix(name, "_HOME")
}

// homeless is environ without what leads to a person's own files.
func homeless(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return homeVars(name)
	})
}

// temporary makes dir the temporary directory of env.
func temporary(env []string, dir string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "TMPDIR" || name == "TMP" || name == "TEMP"
	})
	return append(out, "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir)
}

// Bounds of the level rlimits where nothing else is configured.
const (
	maxFileSize  = 8 << 30
	maxOpenFiles = 4096
)

// heldBy adds what the level rlimits bounds.
func heldBy(set isolation.Set, l process.Limits) process.Limits {
	if set.Has(isolation.Rlimits) {
		def(&l.FileSize, maxFileSize)
		def(&l.OpenFiles, maxOpenFiles)
	}
	return l
}

// groupsOf are the control groups of a turn with these levels.
func (h *Host) groupsOf(set isolation.Set) *process.Cgroups {
	if set.Has(isolation.Cgroup) {
		return h.cfg.cgroups
	}
	return nil
}

// environ makes the environment of a turn's CLI of what the adapter adds. passthrough
// names variables of the host's that it may see.
func (h *Host) environ(passthrough []string, req *agent.Request, set isolation.Set, more ...[]string) func(own []string) []string {
	base, private := h.cfg.environ, []string(nil)
	if set.Has(isolation.Home) {
		base, private = homeless(base), []string{"HOME=" + ownHome(req)}
	}
	return func(own []string) []string {
		return childEnv(base, passthrough, append(slices.Clone(more), private, own)...)
	}
}

// confine makes what the turn's levels need on disk, and says how the CLI is started.
// inDir says that the CLI reads files of the turn's directory. It works on the disk.
func (h *Host) confine(r *RuntimeConfig, j *job, ports []uint16, inDir bool) error {
	req, set := j.request, j.isolation
	if r.Isolation.asked() != isolation.Auto {
		j.told = set.String()
	}
	if set.Has(isolation.Home) {
		if err := os.MkdirAll(ownHome(req), 0o700); err != nil {
			return workspaceFailure("the CLI's home directory cannot be made", err)
		}
	}
	if j.berth != nil {
		j.berth.isolation = set
		if !confines(set) {
			return nil
		}
		var dirs []string
		if inDir {
			dirs = append(dirs, req.Dir)
		}
		var err error
		j.berth.box, err = h.box(r, set, req, h.cfg.environ, ports, dirs...)
		return err
	}
	if !set.Has(isolation.Home) {
		return nil
	}
	j.dir = req.Dir
	tmp, err := makeTemporary(req.Dir)
	if err != nil {
		return err
	}
	j.env = temporary(j.env, tmp)
	if !confines(set) {
		return nil
	}
	box, err := h.box(r, set, req, h.cfg.environ, ports, req.Dir)
	if err != nil {
		return err
	}
	j.wrap, err = h.enter(box, req.Workspace, req.Dir, &j.release)
	return err
}

// isolateRunner does for a runner what confine does for a turn of its own. It returns
// the runner's directory, "" when it has none.
func (h *Host) isolateRunner(b *berth, spec *process.Spec, dir string, m *launched) (string, error) {
	if !b.isolation.Has(isolation.Home) {
		return m.dir, nil
	}
	tmp, err := makeTemporary(dir)
	if err != nil {
		return m.dir, err
	}
	spec.Env = temporary(spec.Env, tmp)
	if b.box == nil {
		return dir, nil
	}
	if spec.Dir == h.cfg.stateDir { // which it does not see
		spec.Dir = dir
	}
	own := *b.box
	own.Write = append(slices.Clone(own.Write), dir)
	spec.Wrap, err = h.enter(&own, spec.Dir, dir, &m.release)
	return dir, err
}

// enter is what begins the command line of a CLI in the box. It starts in start; dir is
// its own directory. What has to end with it is added to release.
func (h *Host) enter(box *isolation.Box, start, dir string, release *func()) ([]string, error) {
	box.Dir = start
	if box.Level == isolation.Bubblewrap {
		box.Bridge = filepath.Join(dir, "ports")
		bridge, err := isolation.OpenBridge(box.Bridge, box.Ports)
		if err != nil {
			return nil, event.Fail(event.WorkspaceUnavail, "the way of the CLI to its provider cannot be made: "+err.Error())
		}
		before := *release
		*release = func() {
			bridge.Close()
			if before != nil {
				before()
			}
		}
	}
	return box.Wrap(h.cfg.machine.Helper), nil
}

// makeTemporary makes the private temporary directory below dir.
func makeTemporary(dir string) (string, error) {
	tmp := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return "", workspaceFailure("the turn's private directory cannot be made", err)
	}
	return tmp, nil
}
