package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/bench/talk"
	"github.com/agenthost/agenthost/fakes/provider"
	"github.com/agenthost/agenthost/fakes/tools"
)

// bench is one run.
type bench struct{ hostproc.Alone }

func main() {
	adapter := flag.String("adapter", "codex", "whose CLI is measured: codex, claude-code, opencode or qwen-code")
	sessions := flag.Int("sessions", 0, "sessions that run a turn at once; 0: 16 of claude-code, 64 of the others")
	turns := flag.Int("turns", 60, "turns of each kind to time")
	crowd := flag.Bool("crowd", true, "measure the sessions at once")
	flag.Parse()
	b := &bench{hostproc.Alone{Name: "runners"}}
	err := b.Do(func() error { return b.run(*adapter, *sessions, *turns, *crowd) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "runners:", err)
		os.Exit(1)
	}
}

// cli is what differs between CLIs.
type cli struct {
	program  string // below build/tools
	sessions int
	// only says that it has no process a turn.
	only bool
}

var clis = map[string]cli{
	"codex":       {program: "bin/codex", sessions: 64},
	"claude-code": {program: "bin/claude", sessions: 16},
	"opencode":    {program: "bin/opencode", sessions: 64, only: true},
	"qwen-code":   {program: "bin/qwen", sessions: 64},
}

func (b *bench) run(adapter string, sessions, turns int, crowd bool) error {
	c, ok := clis[adapter]
	if !ok {
		return fmt.Errorf("no adapter %q is measured here", adapter)
	}
	program, ok := tools.Path(c.program)
	if !ok {
		return fmt.Errorf("%s is not installed: run fakes/tools/install.sh all", c.program)
	}
	if sessions == 0 {
		sessions = c.sessions
	}
	model := provider.New(provider.Script{Key: talk.Key})
	url, err := model.Start()
	if err != nil {
		return err
	}
	b.Cleanup(func() { _ = model.Close() })
	options := func(driver string) hostproc.Options {
		return hostproc.Options{
			Config: map[string]any{"limits": map[string]any{"max_concurrent_turns": sessions, "runner_idle": "10m"}},
			Adapters: map[string]any{"default": adapter, adapter: map[string]any{
				"binary": program, "home": "private", "driver": driver,
			}},
			Env:         []string{"ABX_LLM_BASE_URL=" + url + "/v1", "ABX_LLM_API_KEY=" + talk.Key},
			OutsideTemp: true,
		}
	}
	fmt.Printf("%s/%s, %d cores, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), adapter)
	if crowd {
		h := hostproc.Start(b, options("persistent"))
		if err := b.crowd(h, adapter, sessions); err != nil {
			return err
		}
		h.Stop()
	}
	if turns == 0 {
		return nil
	}
	h := hostproc.Start(b, options("persistent"))
	var exec *hostproc.Host
	if !c.only {
		exec = hostproc.Start(b, options("exec"))
	}
	if _, err := ask(h, "/v1/responses", map[string]any{"model": adapter, "input": "[[say: hello]]"}); err != nil { // its runner is looked at
		return err
	}
	// Each has as many turns as the other, in as many processes: one that plays more often
	// is a faster one, with opencode by a tenth.
	var bare [2]talk.Talker
	for i := range bare {
		if bare[i], err = talk.Alike(adapter, h, filepath.Join(filepath.Dir(h.StateDir), fmt.Sprint("bare", i))); err != nil {
			return err
		}
		defer bare[i].Close()
	}
	if err := b.latency(h, exec, bare[0].Turn, bare[1].Fresh(), adapter, turns); err != nil {
		return err
	}
	h.Stop()
	if exec != nil {
		exec.Stop()
	}
	return nil
}

func mib(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

// crowd has all sessions run a turn at once.
func (b *bench) crowd(h *hostproc.Host, adapter string, n int) error {
	fmt.Printf("RSS of the idle server: %s\n", mib(h.RSS()))
	var wait sync.WaitGroup
	errs := make(chan error, n)
	began := time.Now()
	for i := range n {
		wait.Go(func() {
			text := fmt.Sprintf("[[slow: 100]] [[count: 150]] of session %d", i)
			if _, err := ask(h, "/v1/responses", map[string]any{"model": adapter, "input": text}); err != nil {
				errs <- err
			}
		})
	}
	done := make(chan struct{})
	go func() { wait.Wait(); close(done) }()
	var most, server, runners int64
	processes := 0
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-tick.C:
			now := int64(h.Metric("agenthost_turns_running"))
			held, count := resident(h)
			if now >= most {
				most, server, runners, processes = now, max(server, h.RSS()), max(runners, held), count
			}
		}
	}
	close(errs)
	if err := <-errs; err != nil {
		return err
	}
	fmt.Printf("%d turns at once (%s in all): server %s, %d long-lived CLIs, with what they started %s together, %.1f MiB a turn\n",
		most, time.Since(began).Round(time.Millisecond), mib(server), processes, mib(runners), float64(runners)/(1<<20)/float64(max(most, 1)))
	return nil
}

// resident is the memory of the CLIs and of what they started, and how many CLIs there
// are.
func resident(h *hostproc.Host) (bytes int64, clis int) {
	for _, p := range h.Marked() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				bytes += kib << 10
			}
		}
		if p.Parent == h.Pid {
			clis++
		}
	}
	return bytes, clis
}

// quiet is what lies between two turns: CLIs go on working behind one.
const quiet = 100 * time.Millisecond

// latency times turns, one of each kind after the other, in turns the first.
func (b *bench) latency(h, exec *hostproc.Host, bare, fresh func(string) error, adapter string, n int) error {
	const prompt = "[[say: hello]]"
	chained := func(h *hostproc.Host) func(string) error {
		previous := ""
		return func(prompt string) (err error) {
			body := map[string]any{"model": adapter, "input": prompt}
			if previous != "" {
				body["previous_response_id"] = previous
			}
			previous, err = ask(h, "/v1/responses", body)
			return err
		}
	}
	var single func(string) error
	if exec != nil {
		single = chained(exec)
	}
	kinds := []struct {
		name string
		play func(string) error
		took []time.Duration
	}{
		{name: "bare protocol, conversation kept loaded", play: bare},
		{name: "bare protocol, conversation loaded for each turn", play: fresh},
		{name: "through the host", play: chained(h)},
		{name: "through the host, a process a turn", play: single},
	}
	for i := range n + 5 {
		for j := range kinds {
			k := &kinds[(i+j)%len(kinds)]
			if k.play == nil {
				continue
			}
			time.Sleep(quiet)
			start := time.Now()
			if err := k.play(prompt); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			if i >= 5 { // caches
				k.took = append(k.took, time.Since(start))
			}
		}
	}
	for _, k := range kinds {
		if k.play != nil {
			fmt.Printf("%s: p50 %s, p95 %s\n", k.name, at(k.took, 50), at(k.took, 95))
		}
	}
	hosted := at(kinds[2].took, 50)
	for _, k := range kinds[:2] {
		if k.play != nil {
			fmt.Printf("host over %s: p50 %s\n", k.name, hosted-at(k.took, 50))
		}
	}
	if single == nil {
		return nil
	}
	fmt.Printf("host's long-lived CLI is %.2f of a process a turn\n", float64(hosted)/float64(max(at(kinds[3].took, 50), 1)))
	return nil
}

func at(all []time.Duration, percent int) time.Duration {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[min(len(all)-1, len(all)*percent/100)].Round(10 * time.Microsecond)
}

// ask posts and returns the id of a completed response.
func ask(h *hostproc.Host, path string, body any) (id string, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	resp, err := http.Post(h.URL+path, "application/json", bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var o struct{ ID, Status string }
	if err := json.Unmarshal(got, &o); err != nil || resp.StatusCode != 200 || o.Status != "completed" {
		return "", fmt.Errorf("%s: %d %s", path, resp.StatusCode, got)
	}
	return o.ID, nil
}
