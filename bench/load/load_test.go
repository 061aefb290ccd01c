package load

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/bench/report"
)

// stalled is a server that answers each turn at once, but for a while in which it
// answers none.
func stalled(t *testing.T, from, to time.Duration) string {
	t.Helper()
	began := time.Now()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/conversations") {
			_, _ = w.Write([]byte(`{"id":"conv_1"}`))
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // a server looks for a client that left only then
		if now := time.Since(began); now > from && now < to {
			pause(r.Context(), to-now)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: response.created\ndata: {}\n\nevent: response.completed\ndata: {}\n\n"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func options(url string) Options {
	return Options{Target: url, Wire: "responses", Model: "codex", Prompt: "hello", Sessions: 2, Duration: 2 * time.Second, Timeout: time.Minute}
}

// Turns that were due while the host stood still count as waits, though few of them
// were under way.
func TestStallShowsInEveryTurnThatWasDue(t *testing.T) {
	t.Parallel()
	o := options(stalled(t, 500*time.Millisecond, 1500*time.Millisecond))
	o.Rate = 100
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	f := figures(t, r, "responses")
	if f["turns"] != 200 || f["failed"] != 0 {
		t.Errorf("not every turn that was due was played: %v", f)
	}
	// The stall is half of the run: a quarter of all turns waits half of it or more.
	if f["wait_p90_ms"] < 500 {
		t.Errorf("the stall is left out: %v", f)
	}
	// What the few turns under way took says nothing of it.
	if f["work_p90_ms"] > f["wait_p90_ms"]/2 {
		t.Errorf("the time of the request itself has the wait of others: %v", f)
	}
}

func figures(t *testing.T, r *report.Result, wire string) report.Figures {
	t.Helper()
	c := r.Cell("load", "all", wire)
	if c == nil {
		t.Fatalf("no figures of all turns: %+v", r.Cells)
	}
	return c.Reps[0]
}

func TestRetryAfterIsWaitedForWhenAsked(t *testing.T) {
	t.Parallel()
	for _, retry := range []bool{true, false} {
		var refused atomic.Bool
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/conversations") {
				_, _ = w.Write([]byte(`{"id":"conv_1"}`))
				return
			}
			if refused.CompareAndSwap(false, true) {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(429)
				_, _ = w.Write([]byte(`{"error":{"code":"queue_full"}}`))
				return
			}
			_, _ = w.Write([]byte("event: response.completed\ndata: {}\n\n"))
		}))
		o := options(s.URL)
		o.Rate, o.Duration, o.Retry = 10, time.Second, retry
		r, err := Run(t.Context(), o)
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		again, failed := r.Cell("errors", "asked again after Retry-After", "responses"), r.Cell("errors", "429 queue_full", "responses")
		if retry != (again != nil) || retry == (failed != nil) {
			t.Errorf("retry %v: %+v", retry, r.Cells)
		}
		if f := figures(t, r, "responses"); retry && (f["turns"] != 10 || f["wait_max_ms"] < 900) {
			t.Errorf("what a refused user waited: %v", f)
		}
	}
}

func TestWrongOptionsAreAllNamed(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), Options{Target: "127.0.0.1", Wire: "mail", New: 2})
	if err == nil {
		t.Fatal("played")
	}
	for _, what := range []string{"127.0.0.1", "mail", "sessions", "share", "model", "duration"} {
		if !strings.Contains(err.Error(), what) {
			t.Errorf("%q does not name %s", err, what)
		}
	}
}

// The tool plays a real server on both wires; what it counts is what the server did.
func TestHostIsLoadedOnBothWires(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and starts a server")
	}
	bin, err := hostproc.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, wire := range []string{"responses", "agents"} {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			h := hostproc.Start(t, hostproc.Options{Bin: &bin, Adapters: map[string]any{"codex": map[string]any{"binary": standin(t, bin.Fake), "home": "private", "driver": "exec"}}})
			o := options(h.URL)
			o.Wire, o.Rate, o.Sessions, o.New, o.Poll, o.Cancel, o.Seed = wire, 15, 4, .3, .3, .1, 1
			var looks atomic.Int64
			o.Every, o.Show = 100*time.Millisecond, func(Progress) { looks.Add(1) }
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			f := figures(t, r, wire)
			if f["turns"] != 30 || f["failed"] != 0 || f["wait_p50_ms"] <= 0 || f["wait_max_ms"] < f["wait_p50_ms"] {
				t.Errorf("%v %+v", f, r.Cells)
			}
			ran := h.Metric(`agenthost_turns_total{outcome="completed"}`) + h.Metric(`agenthost_turns_total{outcome="cancelled"}`)
			if ran != 30 {
				t.Errorf("the server ran %v turns", ran)
			}
			if looks.Load() == 0 {
				t.Error("nothing was shown")
			}
			for _, kind := range []string{"streamed", "polled"} {
				found := false
				for _, c := range r.Cells {
					found = found || strings.HasSuffix(c.Case, kind)
				}
				if !found {
					t.Errorf("no turn was %s", kind)
				}
			}
			var page, table strings.Builder
			if err := Table(&table, r); err != nil || !strings.Contains(table.String(), "polled") || !strings.Contains(table.String(), "open: 15 turns/s") {
				t.Errorf("the table: %v\n%s", err, table.String())
			}
			if err := report.Page(&page, r, nil); err != nil || !strings.Contains(page.String(), "wait_p99_ms") {
				t.Errorf("the report: %v", err)
			}
		})
	}
}

// What ends the run early is counted and keeps nobody waiting.
func TestInterruptedRunReports(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	o := options(stalled(t, 0, time.Hour))
	o.Duration, o.Every = time.Hour, 10*time.Millisecond
	o.Show = func(p Progress) {
		if p.Busy > 0 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if err != nil || r.Cell("errors", "interrupted", "responses") == nil {
		t.Errorf("%v %+v", err, r)
	}
}

// standin is the stand-in CLI by the name that tells it its dialect.
func standin(t *testing.T, fake string) string {
	t.Helper()
	cli := filepath.Join(t.TempDir(), "codex")
	if err := os.Symlink(fake, cli); err != nil {
		t.Fatal(err)
	}
	return cli
}
