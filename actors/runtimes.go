package actors

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/toolbox"
)

// Runtime is an adapter as it stands on this machine.
type Runtime struct {
	Name         string
	Aliases      []string
	Binary       string // as configured
	Path         string // of the program that is spawned; "" when not found
	Version      string // first line of --version; "" when not known
	Installed    bool
	Default      bool
	Driver       string // "exec" or "persistent"
	DriverWhy    string // in words
	Home         HomeMode
	Permissions  spec.Permissions // what a turn gets unless its agent says otherwise
	Confined     bool             // workspace_write is enforced by the CLI
	KeySet       bool             // a provider key is configured
	Capabilities agent.Capabilities
	Proof        agent.Proof // of the adapter, by its tests
	Lacks        []Lack      // of the installed program, where it is not the tested one
	Installable  []string    // versions that there are manifests of, the newest first
	// Isolation lists the levels that a turn gets here; IsolationLacks says why none is
	// run, where the required one is not there. Boxed says that the host confines it.
	Isolation, IsolationLacks string
	Boxed                     bool
	Install                   *Install // the newest installation, nil when there was none
}

// runtimes is the host's set of adapters; the lists are fixed after newRuntimes.
type runtimes struct {
	list   []*RuntimeConfig
	byName map[string]*RuntimeConfig
	tools  []string
	boxes  []*toolbox.Box // the same directories
	path   string

	mu    sync.Mutex // of found
	found map[string]binary
	// certificates are those of the state directory.
	certificates map[string][]Certificate

	told sync.Map // adapters of which the log has why they are run as they are
}

// binary is a program found on disk, with its version once asked for.
type binary struct {
	path    string // to spawn
	file    string // which decides whether this is still true
	seen    os.FileInfo
	version string
	asked   bool
	help    map[string]string // by the arguments that asked for it
}

func newRuntimes(c *config) *runtimes {
	r := &runtimes{byName: map[string]*RuntimeConfig{}, tools: c.tools, found: map[string]binary{}}
	r.path, _ = lookup(c.environ, "PATH")
	for _, dir := range c.tools {
		r.boxes = append(r.boxes, toolbox.New(dir))
	}
	for i := range c.runtimes {
		rc := &c.runtimes[i]
		r.list = append(r.list, rc)
		r.byName[rc.Adapter.Name()] = rc
		for _, a := range rc.Adapter.Aliases() {
			r.byName[a] = rc
		}
	}
	return r
}

// runtime finds an adapter by name or alias.
func (h *Host) runtime(name string) (*RuntimeConfig, error) {
	if r, ok := h.runtimes.byName[name]; ok {
		return r, nil
	}
	if name == spec.Imported {
		return nil, notContinued()
	}
	return nil, event.Fail(event.RuntimeNotInstalled, fmt.Sprintf("this host has no adapter %q; it has %s", name, h.runtimes.names()))
}

func notContinued() error {
	return event.Fail(event.Unsupported, "this session was imported from another server: it can be read, and not continued or changed; begin a new one")
}

func (r *runtimes) names() string {
	return namesOf(r.list, func(*agent.Capabilities) bool { return true })
}

// namesOf lists the adapters that can do something.
func namesOf(list []*RuntimeConfig, can func(*agent.Capabilities) bool) string {
	var names []string
	for _, rc := range list {
		if caps := rc.Adapter.Capabilities(); can(&caps) {
			names = append(names, rc.Adapter.Name())
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// provider is what a failure to reach the model provider says of its address: the
// host's name alone, for the rest of a URL may hold a key.
func (r *RuntimeConfig) provider() string {
	if r.LLM.BaseURL != "" {
		if u, err := url.Parse(r.LLM.BaseURL); err == nil && u.Host != "" {
			return "the configured provider is " + u.Host
		}
		return "the configured base URL of the provider names no host"
	}
	if !r.Adapter.Capabilities().BaseURL {
		return ""
	}
	return fmt.Sprintf("no base URL is configured, so the CLI asks its own provider; ABX_LLM_BASE_URL, or the variable in agents.%s.llm.base_url_env, names another", r.Adapter.Name())
}

// locate finds the program to spawn. It looks at the file system, so it is not
// for a Receive; what it finds is kept as long as the file does not change.
func (r *runtimes) locate(rc *RuntimeConfig) (string, error) {
	b, err := r.look(rc)
	return b.path, err
}

func (r *runtimes) look(rc *RuntimeConfig) (binary, error) {
	name := rc.Adapter.Name()
	r.mu.Lock()
	b, ok := r.found[name]
	r.mu.Unlock()
	if ok {
		if st, err := os.Stat(b.file); err == nil && unchanged(b.seen, st) {
			return b, nil
		}
	}
	file := r.search(rc.Binary)
	if file == "" {
		return binary{}, event.Fail(event.RuntimeNotInstalled, fmt.Sprintf(
			"the program %q of adapter %s was not found in the tools directory or PATH; %s", rc.Binary, name, rc.remedy()))
	}
	st, err := os.Stat(file)
	if err != nil {
		return binary{}, event.Fail(event.RuntimeNotInstalled, fmt.Sprintf("the program of adapter %s cannot be read: %v", name, err))
	}
	b = binary{path: r.within(file), file: file, seen: st}
	if l, ok := rc.Adapter.(agent.Locator); ok {
		b.path = l.Locate(b.path)
	}
	r.mu.Lock()
	r.found[name] = b
	r.mu.Unlock()
	return b, nil
}

// unchanged says that a program is the one seen before. Installers that switch a
// directory over, and those that give every file the same time, change no time.
func unchanged(seen, now os.FileInfo) bool {
	return os.SameFile(seen, now) && seen.ModTime().Equal(now.ModTime()) && seen.Size() == now.Size()
}

// search looks a program up in the tools directories, their bin folders and the
// PATH that CLIs get.
func (r *runtimes) search(name string) string {
	if filepath.IsAbs(name) {
		if executable(name) {
			return name
		}
		return ""
	}
	var dirs []string
	for _, t := range r.tools {
		dirs = append(dirs, t, filepath.Join(t, "bin"), filepath.Join(t, "node_modules", ".bin"))
	}
	for _, d := range append(dirs, filepath.SplitList(r.path)...) {
		if p := filepath.Join(d, name); filepath.IsAbs(p) && executable(p) {
			return p
		}
	}
	return ""
}

// within is the file that an installed program's link leads to, so that a switch of
// the link does not change what was found.
func (r *runtimes) within(file string) string {
	for _, box := range r.boxes {
		if path, _, ok := box.Program(file); ok {
			return path
		}
	}
	return file
}

// onPath looks a program up in the PATH that CLIs get, "" when it is not there.
func (r *runtimes) onPath(name string) string {
	for _, d := range filepath.SplitList(r.path) {
		if p := filepath.Join(d, name); filepath.IsAbs(p) && executable(p) {
			return p
		}
	}
	return ""
}

// maxUses bounds how often a program is looked up that is removed at once.
const maxUses = 5

// take finds the program to spawn and keeps it from being removed until release.
func (r *runtimes) take(rc *RuntimeConfig) (path string, release func(), err error) {
	for n := 0; ; n++ {
		if path, err = r.locate(rc); err != nil {
			return "", nil, err
		}
		if release, err = r.keep(path); err == nil {
			return path, release, nil
		}
		if !errors.Is(err, toolbox.ErrRemoved) || n == maxUses {
			return "", nil, event.Fail(event.RuntimeNotInstalled, fmt.Sprintf("the program of adapter %s cannot be used: %v", rc.Adapter.Name(), err))
		}
		r.mu.Lock()
		delete(r.found, rc.Adapter.Name())
		r.mu.Unlock()
	}
}

// keep holds the version that an installed program belongs to.
func (r *runtimes) keep(path string) (release func(), err error) {
	var all []func()
	end := func() {
		for _, release := range all {
			release()
		}
	}
	for _, box := range r.boxes {
		release, err := box.Use(path)
		if err != nil {
			end()
			return nil, err
		}
		all = append(all, release)
	}
	return end, nil
}

func executable(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// Runtimes lists the adapters with what is installed of them. The first call
// after a change of a program asks it for its version, if its adapter knows how.
func (h *Host) Runtimes(ctx context.Context) []Runtime {
	out := make([]Runtime, 0, len(h.runtimes.list))
	for _, rc := range h.runtimes.list {
		caps := h.capabilities(rc)
		driver, why := h.driver(rc)
		r := Runtime{
			Name: rc.Adapter.Name(), Aliases: rc.Adapter.Aliases(), Binary: rc.Binary, Driver: string(driver), DriverWhy: why,
			Default: rc.Adapter.Name() == h.fallback(), Home: rc.Home, Permissions: rc.Permissions,
			Isolation: h.levels(rc).String(), Boxed: confines(h.levels(rc)),
			Confined: caps.Confined, KeySet: rc.LLM.APIKey != "", Capabilities: caps, Proof: rc.Proof,
			Installable: h.Installable(rc.Adapter.Name()), Install: h.InstallOf(rc.Adapter.Name()),
		}
		if f, ok := event.AsFailure(h.isolable(rc)); ok {
			r.IsolationLacks = f.Message
		}
		if p, err := h.runtimes.locate(rc); err == nil {
			r.Path, r.Installed = p, true
			r.Version = h.runtimes.version(ctx, rc, h.cfg.environ)
			r.Lacks = h.lacking(ctx, rc, nil)
			r.Capabilities = lessThan(r.Capabilities, r.Lacks)
		}
		out = append(out, r)
	}
	return out
}

// fallback is the adapter of requests that pin none, "" for none.
func (h *Host) fallback() string {
	if r, ok := h.runtimes.byName[h.cfg.fallback]; ok {
		return r.Adapter.Name()
	}
	return ""
}
