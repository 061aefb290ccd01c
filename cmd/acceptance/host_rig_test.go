package acceptance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// rig is a server with stand-in CLIs that log when they ran.
type rig struct {
	*hostproc.Host
	t    *testing.T
	http *caller
	runs string // the stand-ins' log
}

// setting changes a rig before it starts.
type setting func(*rigConfig)

type rigConfig struct {
	hostproc.Options
	config, limits, stream map[string]any
}

// limit sets a key of limits.
func limit(key string, value any) setting { return func(c *rigConfig) { c.limits[key] = value } }

// key sets a key of the top level.
func key(name string, value any) setting { return func(c *rigConfig) { c.config[name] = value } }

func streamKey(name string, value any) setting { return func(c *rigConfig) { c.stream[name] = value } }

// env adds a variable to the server's environment.
func env(kv ...string) setting {
	return func(c *rigConfig) { c.Env = append(c.Env, kv...) }
}

// cli adds settings of one adapter.
func cli(name string, settings map[string]any) setting {
	return func(c *rigConfig) {
		have, _ := c.Adapters[name].(map[string]any)
		all := maps.Clone(have)
		if all == nil {
			all = map[string]any{}
		}
		maps.Copy(all, settings)
		c.Adapters[name] = all
	}
}

// newRig starts a server whose codex and claude-code are the stand-ins.
func newRig(t *testing.T, settings ...setting) *rig {
	t.Helper()
	bin, err := hostproc.Build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := rigConfig{
		config: map[string]any{},
		limits: map[string]any{"min_free_disk": "16MiB", "min_available_memory": "16MiB"},
		stream: map[string]any{},
	}
	c.Adapters = map[string]any{}
	r := &rig{t: t, runs: filepath.Join(dir, "runs")}
	for name, binary := range map[string]string{"codex": "codex", "claude-code": "claude"} {
		link := filepath.Join(dir, binary)
		if err := os.Symlink(bin.Fake, link); err != nil {
			t.Fatal(err)
		}
		cli(name, map[string]any{"binary": link, "home": "private", "passthrough_env": []string{"FAKE_LOG", "FAKE_MODE"}})(&c)
	}
	env("FAKE_LOG=" + r.runs)(&c)
	for _, s := range settings {
		s(&c)
	}
	c.config["limits"] = c.limits
	if len(c.stream) > 0 {
		c.config["stream"] = c.stream
	}
	c.Config = c.config
	r.Host = hostproc.Start(t, c.Options)
	r.http = &caller{t: t, url: func() string { return r.URL }}
	return r
}

// run is one process of a stand-in, as it logged itself.
type run struct {
	tag        string
	pid        int
	start, end int64 // end 0: it never said so
}

// ran reads the stand-ins' log in the order of the starts. left are processes that
// were left behind on purpose.
func (r *rig) ran() (runs []run, left []int) {
	r.t.Helper()
	text, err := os.ReadFile(r.runs)
	if err != nil {
		return nil, nil
	}
	open := map[int]int{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 4 {
			r.t.Fatalf("line of the run log: %q", line)
		}
		at, _ := strconv.ParseInt(f[2], 10, 64)
		pid, _ := strconv.Atoi(f[3])
		switch f[1] {
		case "start":
			open[pid] = len(runs)
			runs = append(runs, run{tag: f[0], pid: pid, start: at})
		case "end":
			if i, ok := open[pid]; ok {
				runs[i].end = at
			}
		case "left":
			left = append(left, pid)
		}
	}
	return runs, left
}

// times counts the starts of each tag.
func (r *rig) times() map[string]int {
	out := map[string]int{}
	runs, _ := r.ran()
	for _, one := range runs {
		out[one.tag]++
	}
	return out
}

// started waits for the process of a tag.
func (r *rig) started(tag string) run {
	r.t.Helper()
	var found run
	r.until(15*time.Second, "the CLI of "+tag+" starts", func() bool {
		runs, _ := r.ran()
		for _, one := range runs {
			if one.tag == tag {
				found = one
				return true
			}
		}
		return false
	})
	return found
}

// until polls a condition.
func (r *rig) until(timeout time.Duration, what string, ok func() bool) {
	r.t.Helper()
	waitFor(r.t, timeout, what, ok)
}

func waitFor(t *testing.T, timeout time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(timeout)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %s: %s", timeout, what)
		}
	}
}

// certify skips what is too long for every change, unless AGENTHOST_CERTIFY=1.
func certify(t *testing.T) {
	t.Helper()
	if os.Getenv("AGENTHOST_CERTIFY") != "1" {
		t.Skip("long: runs with AGENTHOST_CERTIFY=1 (make certify)")
	}
}

// normalTurn checks that the server is well: one turn, and nothing left of it.
func (r *rig) normalTurn() {
	r.t.Helper()
	got := r.http.respond(map[string]any{"model": "codex", "input": "[[say: all well]]"})
	if got.str("status") != "completed" || outputText(got) != "all well" {
		r.t.Errorf("a normal turn afterwards: %s", got.body)
	}
	r.Clean(time.Minute)
}

// directives joins parts of a prompt.
func directives(tag string, parts ...string) string {
	return fmt.Sprintf("tag:%s %s", tag, strings.Join(parts, " "))
}
