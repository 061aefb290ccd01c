package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// bench is one run.
type bench struct{ hostproc.Alone }

func main() {
	sessions := flag.Int("sessions", 10_000, "idle sessions to make")
	stored := flag.Int("stored", 100_000, "sessions that are stored when the server is replaced; 0 leaves it out")
	turns := flag.Int("turns", 200, "turns, spawns and syncs to time")
	passivate := flag.Duration("passivate", 20*time.Second, "limits.passivate_after of the second memory figure")
	flag.Parse()
	b := &bench{hostproc.Alone{Name: "figures"}}
	err := b.Do(func() error { return b.run(*sessions, *stored, *turns, *passivate) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func (b *bench) run(sessions, stored, turns int, passivate time.Duration) error {
	bin, err := hostproc.Build()
	if err != nil {
		return err
	}
	cli := filepath.Join(b.TempDir(), "codex")
	if err := os.Symlink(bin.Fake, cli); err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d cores\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	options := hostproc.Options{
		Config:      map[string]any{"limits": map[string]any{"passivate_after": passivate.String()}},
		Adapters:    map[string]any{"codex": map[string]any{"binary": cli, "home": "private"}},
		OutsideTemp: true, // the temp directory may be in memory, where a sync costs nothing
	}
	if sessions > 0 {
		if err := b.memory(options, sessions, passivate); err != nil {
			return err
		}
	}
	if stored > 0 {
		if err := b.upgrade(options, stored); err != nil {
			return err
		}
	}
	if turns == 0 {
		return nil
	}
	return b.latency(options, cli, turns)
}

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func (b *bench) memory(o hostproc.Options, sessions int, passivate time.Duration) error {
	h := hostproc.Start(b, o)
	fmt.Printf("RSS of the idle server: %s\n", mib(h.RSS()))
	if _, err := ask(h, "/v1/responses", map[string]any{"model": "codex", "input": "hello"}); err != nil {
		return err
	}
	fmt.Printf("RSS after a turn: %s\n", mib(h.RSS()))
	start := time.Now()
	for range sessions {
		if _, err := ask(h, "/v1/agents/sessions", map[string]any{"agent": map[string]any{"model": "codex"}}); err != nil {
			return err
		}
	}
	took := time.Since(start)
	fmt.Printf("RSS with %d fresh idle sessions: %s (%d active; made in %s, %.2f ms each)\n", sessions, mib(h.RSS()),
		int(h.Metric("agenthost_sessions_active")), took.Round(time.Millisecond), took.Seconds()*1000/float64(sessions))
	deadline := time.Now().Add(passivate + time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for h.Metric("agenthost_sessions_active") > 0 {
		if time.Now().After(deadline) {
			return errors.New("the sessions do not leave memory")
		}
		<-tick.C
	}
	fmt.Printf("RSS when they have left memory: %s, of which Go's heap holds %s in objects and %s free\n", mib(h.RSS()),
		mib(int64(h.Metric("go_memstats_heap_alloc_bytes"))), mib(int64(h.Metric("go_memstats_heap_idle_bytes")-h.Metric("go_memstats_heap_released_bytes"))))
	h.Stop()
	h.Restart()
	fmt.Printf("RSS after a restart with %d stored sessions: %s\n", sessions, mib(h.RSS()))
	h.Stop()
	return nil
}

func (b *bench) latency(o hostproc.Options, cli string, n int) error {
	h := hostproc.Start(b, o)
	f, err := os.Create(filepath.Join(h.StateDir, "..", "synced"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := os.MkdirAll(filepath.Join(h.Home, "bare"), 0o700); err != nil {
		return err
	}
	page := make([]byte, 4096)
	var spawn, sync, fresh, chained []time.Duration
	previous := ""
	for i := range n + 10 {
		times := [4]time.Duration{}
		var err error
		steps := []func(){
			func() { err = errors.Join(err, bare(cli, h.Home)) },
			func() {
				_, werr := f.Write(page)
				err = errors.Join(err, werr, datasync(f))
			},
			func() {
				_, aerr := ask(h, "/v1/responses", map[string]any{"model": "codex", "input": "hello"})
				err = errors.Join(err, aerr)
			},
			func() {
				body := map[string]any{"model": "codex", "input": "hello"}
				if previous != "" {
					body["previous_response_id"] = previous
				}
				var aerr error
				previous, aerr = ask(h, "/v1/responses", body)
				err = errors.Join(err, aerr)
			},
		}
		for j, step := range steps {
			start := time.Now()
			step()
			times[j] = time.Since(start)
		}
		if err != nil {
			return err
		}
		if i < 10 { // caches
			continue
		}
		spawn, sync, fresh, chained = append(spawn, times[0]), append(sync, times[1]), append(fresh, times[2]), append(chained, times[3])
	}
	fmt.Printf("bare spawn of the CLI: p50 %s, p99 %s\n", at(spawn, 50), at(spawn, 99))
	fmt.Printf("one write and fdatasync: p50 %s, p99 %s\n", at(sync, 50), at(sync, 99))
	fmt.Printf("turn in a new session: p50 %s, p99 %s\n", at(fresh, 50), at(fresh, 99))
	fmt.Printf("turn in the same session: p50 %s, p99 %s\n", at(chained, 50), at(chained, 99))
	over := at(chained, 50) - at(spawn, 50)
	fmt.Printf("turn over bare spawn: p50 %s, which is %.1f fdatasyncs (new session: %s, %.1f)\n", over, ratio(over, at(sync, 50)),
		at(fresh, 50)-at(spawn, 50), ratio(at(fresh, 50)-at(spawn, 50), at(sync, 50)))
	h.Stop()
	return nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func at(all []time.Duration, percent int) time.Duration {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[min(len(all)-1, len(all)*percent/100)].Round(10 * time.Microsecond)
}

// bare runs the CLI as the host does, without the host.
func bare(cli, home string) error {
	cmd := exec.Command(cli, "exec", "--json", "--skip-git-repo-check", "-")
	cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CODEX_HOME=" + filepath.Join(home, "bare")}
	cmd.Stdin = strings.NewReader("hello")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the CLI alone: %w: %s", err, out)
	}
	if !bytes.Contains(out, []byte("turn.completed")) {
		return fmt.Errorf("the CLI alone says %s", out)
	}
	return nil
}

// ask posts and returns the id of what was made; a turn must be completed.
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
	if err := json.Unmarshal(got, &o); err != nil || resp.StatusCode != 200 || o.Status != "completed" && o.Status != "idle" {
		return "", fmt.Errorf("%s: %d %s", path, resp.StatusCode, got)
	}
	return o.ID, nil
}
