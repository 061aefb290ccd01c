package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// Limits bound the host. The zero value of a field means its default.
type Limits struct {
	MaxConcurrentTurns  int           // max(4, 4 x cores)
	MaxPrincipalTurns   int           // of one principal at once; 0 is no bound
	MaxAgentTurns       int           // of one saved agent at once, or of the unsaved ones of one adapter; 0 is no bound
	AgentTurnsPerMinute int           // inputs that one of these takes; 0 is no bound
	MaxQueue            int           // 32 inputs waiting in one session
	MaxWaitingTurns     int           // 10,000 waiting in the host
	MaxSessions         int64         // 1,000,000; one more takes the place of the longest idle
	SessionTTL          time.Duration // 720 h idle
	StoreMaxBytes       int64         // of the store; 0 is no bound
	MaxSubscribers      int           // 32 streams of one session
	PassivateAfter      time.Duration // 60 s
	MaxWaitingProcesses int           // 64 turns that wait for their caller without a slot
	ToolResultTimeout   time.Duration // 10 min for the caller's answer to a call
	TurnTimeout         time.Duration // 30 min
	IdleTimeout         time.Duration // 5 min
	SettleQuiet         time.Duration // 300 ms
	Linger              time.Duration // 5 s
	Runners             RunnerLimits
	InterruptGrace      time.Duration // 5 s
	TerminateGrace      time.Duration // 3 s
	MaxLineBytes        int           // 64 MiB
	MaxItemBytes        int           // 2 MiB
	MaxOutputBytes      int64         // 256 MiB of one turn's stdout
	JournalMaxBytes     int64         // 32 MiB of one session
	MinAvailableMemory  uint64        // 512 MiB; below it no further turn starts
	RingBytes           int           // 1 MiB of recent events kept in memory a session
	MaxAgents           int           // 10,000 saved agents of one principal
	MaxSecretBytes      int64         // 64 MiB of header values of callers' MCP servers, in memory
	MaxFileBytes        int64         // 10 MiB of one stored file
	MaxFilesBytes       int64         // 256 MiB of one principal's stored files
	MaxFiles            int           // 10,000 stored files of one principal
	MaxArtifactBytes    int64         // 10 MiB of one artifact
	MaxArtifactsBytes   int64         // 256 MiB of one session's artifacts
	MaxArtifacts        int           // 1,000 artifacts of one session
	PublishTimeout      time.Duration // 10 s for the artifacts of one turn
	InstallTimeout      time.Duration // 15 min for the installation of a CLI
	// What the processes of one turn may take of the machine. Default: no bound.
	MaxCPU         time.Duration
	MaxMemoryBytes int64
	MaxProcesses   int   // with their threads
	MaxWritten     int64 // bytes of one file
	MaxOpenFiles   int   // of one process
	// Budgets bound what turns use: one turn, a session, a principal ever, and the
	// host in one day of UTC. Default: none.
	Budgets budget.Caps
}

// RunnerLimits bound the processes that serve many turns. The zero value of a field
// means its default.
type RunnerLimits struct {
	Start  time.Duration // a minute until a new one must be ready
	Ping   time.Duration // 15 s of silence until it is asked for a sign of life, and until it must give one
	Idle   time.Duration // 60 s without a turn until it is ended
	Turns  int           // 200 turns until it is replaced
	Memory int64         // 1 GiB until it is replaced
	// MaxIdle is how many without a turn are kept: 8.
	MaxIdle int
}

func (l *RunnerLimits) fill() {
	def(&l.Start, time.Minute)
	def(&l.Ping, 15*time.Second)
	def(&l.Idle, time.Minute)
	def(&l.Turns, 200)
	def(&l.Memory, 1<<30)
	def(&l.MaxIdle, 8)
}

func (l Limits) withDefaults() Limits {
	l.Runners.fill()
	def(&l.MaxConcurrentTurns, max(4, 4*runtime.NumCPU()))
	def(&l.MaxQueue, 32)
	def(&l.MaxWaitingTurns, 10_000)
	def(&l.MaxSessions, 1_000_000)
	def(&l.SessionTTL, 720*time.Hour)
	def(&l.MaxSubscribers, 32)
	def(&l.PassivateAfter, time.Minute)
	def(&l.MaxWaitingProcesses, 64)
	def(&l.ToolResultTimeout, 10*time.Minute)
	def(&l.TurnTimeout, 30*time.Minute)
	def(&l.IdleTimeout, 5*time.Minute)
	def(&l.SettleQuiet, 300*time.Millisecond)
	def(&l.Linger, 5*time.Second)
	def(&l.InterruptGrace, 5*time.Second)
	def(&l.TerminateGrace, 3*time.Second)
	def(&l.MaxLineBytes, 64<<20)
	def(&l.MaxItemBytes, 2<<20)
	def(&l.MaxOutputBytes, 256<<20)
	def(&l.JournalMaxBytes, 32<<20)
	def(&l.MinAvailableMemory, 512<<20)
	def(&l.RingBytes, 1<<20)
	def(&l.MaxAgents, 10_000)
	def(&l.MaxSecretBytes, 64<<20)
	def(&l.MaxFileBytes, 10<<20)
	def(&l.MaxFilesBytes, 256<<20)
	def(&l.MaxFiles, 10_000)
	def(&l.MaxArtifactBytes, 10<<20)
	def(&l.MaxArtifactsBytes, max(256<<20, l.MaxArtifactBytes))
	def(&l.MaxArtifacts, 1_000)
	def(&l.PublishTimeout, 10*time.Second)
	def(&l.InstallTimeout, 15*time.Minute)
	return l
}

func def[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// HomeMode says whose state directory a CLI uses.
type HomeMode string

// Home modes. HomePrivate is below the state directory, by principal and
// adapter; HomeInherit is the user's own.
const (
	HomePrivate HomeMode = "private"
	HomeInherit HomeMode = "inherit"
)

// RuntimeConfig is one adapter and how it is run.
type RuntimeConfig struct {
	Adapter agent.Adapter
	// Binary is a file name to look up in the tools directories and PATH, or an
	// absolute path. Empty means Adapter.Binary().
	Binary      string
	Home        HomeMode         // default HomePrivate
	Driver      Driver           // default DriverAuto
	Permissions spec.Permissions // default workspace_write
	// OnBusy is what becomes of a message that comes while a turn runs, unless it, its
	// session or its agent says; default queue.
	OnBusy spec.OnBusy
	// Strict refuses workspace_write on an adapter that cannot confine it.
	Strict    bool
	Sandboxed bool
	Isolation Isolation // default what a host always does
	// Declared says that the adapter is one of the operator's own: a command that a
	// policy has to list.
	Declared bool
	LLM      agent.LLM
	// Relay keeps the key from the CLI: it talks to its provider through the host.
	Relay bool
	// Passthrough names variables of the host's environment the CLI may see, as far as
	// the policy lets its principal; Vendor those that the CLI itself asks for.
	Passthrough, Vendor []string
	ExtraArgs           []string
	// Proof is what tests found out about the adapter; it is only shown.
	Proof agent.Proof
	// Remedy says, behind a semicolon, what to do when the program is not there.
	Remedy string
	// Manifests are the versions of the CLI that may be installed, the newest first.
	Manifests []agent.Manifest
	// AutoInstall installs the newest of them when a turn needs the program and it is
	// not there: the turn waits.
	AutoInstall bool
}

func (r *RuntimeConfig) remedy() string {
	if r.Remedy != "" {
		return r.Remedy
	}
	return fmt.Sprintf("install it or set agents.%s.binary", r.Adapter.Name())
}

// Option configures a Host.
type Option func(*config)

type config struct {
	store    store.Store
	runtimes []RuntimeConfig
	fallback string
	limits   Limits
	logger   *slog.Logger
	stateDir string
	// certificates is the directory of certificates.
	certificates string
	tools        []string
	environ      []string
	workspace    string
	secrets      []string
	locked       bool
	agents       []spec.Agent
	clock        func() time.Time
	callerMCP    spec.MCPScope
	lookup       func(ctx context.Context, host string) ([]netip.Addr, error)
	warden       Warden
	cgroups      *process.Cgroups
	tapes        func(*Taped) Tape
	shares       map[string]Share
	hidden       *redact.Live
	memory       scales
	shortRest    time.Duration
	crowd        int64
	policy       *policy.Roster
	// machine is what there is to isolate with; unseen are paths that no confined CLI sees.
	machine *isolation.Machine
	unseen  []string
}

// WithStore sets where journal and records live. The Host closes it. Default: a
// memory store, which keeps nothing over a restart.
func WithStore(s store.Store) Option { return func(c *config) { c.store = s } }

// WithRuntime adds an adapter.
func WithRuntime(r RuntimeConfig) Option {
	return func(c *config) { c.runtimes = append(c.runtimes, r) }
}

// WithDefaultAdapter names the adapter of requests that pin none; "none" for
// none. Default: the only one there is, else none.
func WithDefaultAdapter(name string) Option { return func(c *config) { c.fallback = name } }

// WithLimits sets the bounds.
func WithLimits(l Limits) Option { return func(c *config) { c.limits = l } }

// WithClock sets the wall clock: the times of events, and the days that a budget
// is kept for. Default: time.Now.
func WithClock(now func() time.Time) Option { return func(c *config) { c.clock = now } }

// WithLogger sets where the Host logs. Default: nowhere.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithStateDir sets the directory of private workspaces, homes, turn files, stored
// files and artifacts; required. It is made with mode 0700.
func WithStateDir(dir string) Option { return func(c *config) { c.stateDir = dir } }

// WithCertificates sets the directory of certificates; see Certify. Default: the state
// directory.
func WithCertificates(dir string) Option { return func(c *config) { c.certificates = dir } }

// WithToolsDirs sets the directories searched for CLIs before PATH.
func WithToolsDirs(dirs ...string) Option { return func(c *config) { c.tools = dirs } }

// WithEnviron sets the environment CLIs are given an allowlisted part of.
// Default: the process's own.
func WithEnviron(env []string) Option { return func(c *config) { c.environ = env } }

// WithWorkspace sets the directory that sessions without one of their own work
// in. Default: a private directory per session.
func WithWorkspace(dir string) Option { return func(c *config) { c.workspace = dir } }

// WithSecrets names values of the embedding program, such as its callers'
// tokens, that nothing a CLI prints may show.
func WithSecrets(values ...string) Option {
	return func(c *config) { c.secrets = append(c.secrets, values...) }
}

// WithHidden makes the secrets that the Host learns of known to live, which the embedder
// may use for its own logs. Default: one of the Host's own, for what it logs itself.
func WithHidden(live *redact.Live) Option { return func(c *config) { c.hidden = live } }

// WithAgents adds saved agents that callers see and cannot change.
func WithAgents(list ...spec.Agent) Option { return func(c *config) { c.agents = list } }

// WithCallerMCP lets callers bring the MCP servers in scope. Default: none.
func WithCallerMCP(scope spec.MCPScope) Option { return func(c *config) { c.callerMCP = scope } }

// WithLockedAgents refuses every write of saved agents.
func WithLockedAgents() Option { return func(c *config) { c.locked = true } }

// WithWarden sets who ends the Host's process trees when this program is killed.
// Default: nobody, and the next start on the state directory does it.
func WithWarden(w Warden) Option { return func(c *config) { c.warden = w } }

// WithCgroups gives every tree a control group of its own. Default: trees are found
// by group, recorded tree and marker.
func WithCgroups(g *process.Cgroups) Option { return func(c *config) { c.cgroups = g } }

// WithTapes records what CLIs are told and what they say: start is asked for a tape
// for each process, before it is started, and may give nil for none. Default: nothing
// is recorded.
func WithTapes(start func(*Taped) Tape) Option { return func(c *config) { c.tapes = start } }

// WithIsolation says what there is to isolate with, and which paths no confined CLI may
// see besides the state directory, such as the configuration of the embedding program.
// Default: the levels that need nothing.
func WithIsolation(m *isolation.Machine, unseen ...string) Option {
	return func(c *config) { c.machine, c.unseen = m, append(c.unseen, unseen...) }
}

func (c *config) validate() error {
	var errs []error
	if c.stateDir == "" {
		errs = append(errs, errors.New("state directory: not set; pass WithStateDir"))
	} else if !filepath.IsAbs(c.stateDir) {
		errs = append(errs, fmt.Errorf("state directory %q: must be absolute", c.stateDir))
	}
	seen := map[string]bool{}
	for _, r := range c.runtimes {
		if r.Adapter == nil {
			errs = append(errs, errors.New("runtime: Adapter is nil"))
			continue
		}
		for _, n := range append([]string{r.Adapter.Name()}, r.Adapter.Aliases()...) {
			if seen[n] {
				errs = append(errs, fmt.Errorf("runtime %q: the name %q is taken by another adapter", r.Adapter.Name(), n))
			}
			seen[n] = true
		}
		switch _, can := r.Adapter.(agent.Persistent); {
		case r.Driver == DriverPersistent && !can:
			errs = append(errs, fmt.Errorf("runtime %q: it has no persistent driver; use auto or exec", r.Adapter.Name()))
		case r.Driver != "" && r.Driver != DriverAuto && r.Driver != DriverExec && r.Driver != DriverPersistent:
			errs = append(errs, fmt.Errorf("runtime %q: no driver %q; use auto, exec or persistent", r.Adapter.Name(), r.Driver))
		}
		if err := spec.ValidOnBusy("on_busy", r.OnBusy); err != nil {
			errs = append(errs, fmt.Errorf("runtime %q: %w", r.Adapter.Name(), err))
		}
		if r.Home == HomeInherit && r.Isolation.asked() >= isolation.Home {
			errs = append(errs, fmt.Errorf("runtime %q: isolation %s gives the CLI a home of its own, so its home cannot be the user's", r.Adapter.Name(), r.Isolation.asked()))
		}
		if err := spec.ValidPermissions(r.Permissions); err != nil {
			errs = append(errs, fmt.Errorf("runtime %q: %w", r.Adapter.Name(), err))
		}
		for i := range r.Manifests {
			if err := r.Manifests[i].Valid(); err != nil {
				errs = append(errs, fmt.Errorf("runtime %q: %w", r.Adapter.Name(), err))
			}
		}
	}
	if c.fallback != "" && c.fallback != "none" && !seen[c.fallback] {
		errs = append(errs, fmt.Errorf("default adapter %q: no such adapter", c.fallback))
	}
	if c.workspace != "" && !filepath.IsAbs(c.workspace) {
		errs = append(errs, fmt.Errorf("workspace %q: must be absolute", c.workspace))
	}
	named := map[string]bool{}
	for i := range c.agents {
		a := &c.agents[i]
		switch err := spec.ValidAgentName(a.Name); {
		case err != nil:
			errs = append(errs, fmt.Errorf("agent %q: %w", a.Name, err))
		case a.Name == "":
			errs = append(errs, errors.New("agent without a name: a configured agent needs one"))
		case seen[a.Name]:
			errs = append(errs, fmt.Errorf("agent %q: this is the name of an adapter", a.Name))
		case named[a.Name]:
			errs = append(errs, fmt.Errorf("agent %q: two configured agents have this name", a.Name))
		}
		named[a.Name] = true
		if !seen[a.Adapter] {
			errs = append(errs, fmt.Errorf("agent %q: no adapter %q", a.Name, a.Adapter))
		}
	}
	return errors.Join(errs...)
}

func (c *config) fill() {
	c.agents = configured(c.agents)
	c.stateDir = filepath.Clean(c.stateDir)
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	if c.clock == nil {
		c.clock = time.Now
	}
	if c.lookup == nil {
		c.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.environ == nil {
		c.environ = os.Environ()
	}
	if c.machine == nil {
		c.machine = &isolation.Machine{Unwrapped: "this program does not look for bwrap"}
	}
	c.limits = c.limits.withDefaults()
	c.memory.fill()
	def(&c.shortRest, shortRest)
	def(&c.crowd, crowd)
	for i := range c.runtimes {
		r := &c.runtimes[i]
		def(&r.Binary, r.Adapter.Binary())
		def(&r.Home, HomePrivate)
		def(&r.Driver, DriverAuto)
		def(&r.Permissions, spec.WorkspaceWrite)
	}
	if c.fallback == "" && len(c.runtimes) == 1 {
		c.fallback = c.runtimes[0].Adapter.Name()
	}
	if c.fallback == "none" {
		c.fallback = ""
	}
}
