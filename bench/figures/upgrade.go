package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// restarts is how often the time of an upgrade is taken.
const restarts = 5

// upgrade measures what clients see when the server is replaced with many sessions
// stored: the time from SIGTERM until the next process is ready, and until it has
// answered a turn of a session that goes on.
func (b *bench) upgrade(o hostproc.Options, sessions int) error {
	h := hostproc.Start(b, o) // makes the state directory
	h.Stop()
	start := time.Now()
	if err := b.store(h, sessions); err != nil {
		return err
	}
	fmt.Printf("%d sessions of two turns stored in %s (%s)\n", sessions, time.Since(start).Round(time.Second), mib(sizeOf(h.StateDir)))
	h.Restart()
	previous, err := ask(h, "/v1/responses", map[string]any{"model": "codex", "input": "hello"})
	if err != nil {
		return err
	}
	var ready, answered []time.Duration
	for range restarts {
		start := time.Now()
		h.Signal(syscall.SIGTERM)
		h.Ended(hostproc.StopTimeout)
		stopped := time.Since(start)
		h.Restart()
		ready = append(ready, time.Since(start))
		if previous, err = ask(h, "/v1/responses", map[string]any{"model": "codex", "input": "hello", "previous_response_id": previous}); err != nil {
			return err
		}
		answered = append(answered, time.Since(start))
		fmt.Fprintf(os.Stderr, "stopped after %s, ready after %s, a turn after %s\n", stopped.Round(time.Millisecond), ready[len(ready)-1].Round(time.Millisecond), answered[len(answered)-1].Round(time.Millisecond))
	}
	fmt.Printf("from SIGTERM to ready with %d stored sessions: p50 %s, worst %s\n", sessions, at(ready, 50), at(ready, 100))
	fmt.Printf("from SIGTERM to the end of a first turn that goes on: p50 %s, worst %s\n", at(answered, 50), at(answered, 100))
	fmt.Printf("RSS then: %s\n", mib(h.RSS()))
	h.Stop()
	return nil
}

// store puts sessions in by the import of another server's, which is the way to make
// many of them without as many turns.
func (b *bench) store(h *hostproc.Host, sessions int) error {
	path := filepath.Join(b.TempDir(), "sessions.json")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	_, _ = w.WriteString(`{"version":1,"sessions":[`)
	answer, err := json.Marshal(strings.Repeat("an answer of some length. ", 20))
	if err != nil {
		return err
	}
	now := time.Now().Unix()
	for i := range sessions {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		_, _ = fmt.Fprintf(w, `{"id":"agsess_%024x","agent":"ses-1","created_at":%d,"last_active_at":%d,"metadata":{"n":"%d"},"native_session_id":"n%d","status":"idle","turns":[`, i+1, now-int64(i), now-int64(i), i, i)
		for turn := range 2 {
			if turn > 0 {
				_ = w.WriteByte(',')
			}
			_, _ = fmt.Fprintf(w, `{"id":"turn_%024x","status":"completed","created_at":%d,"started_at":%d,"completed_at":%d,"usage":{"input_tokens":10,"output_tokens":5},"prompt":"hello","items":[{"type":"message","status":"completed","data":{"text":%s,"phase":"final_answer"}}]}`,
				2*i+turn+1, now-int64(i), now-int64(i), now-int64(i), answer)
		}
		_, _ = w.WriteString(`]}`)
	}
	_, _ = w.WriteString(`]}`)
	if err := w.Flush(); err != nil { // keeps the first error of a write
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	cmd := exec.Command(h.Bin.Server, "store", "import", path, "--config", h.Config, "--state-dir", h.StateDir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Home}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// sizeOf is what the files of a directory take.
func sizeOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}
