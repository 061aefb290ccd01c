package load

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/agenthost/agenthost/bench/report"
)

// longest is what a histogram tells apart from longer; times are in microseconds.
const longest = int64(time.Hour / time.Microsecond)

func times() *hdrhistogram.Histogram { return hdrhistogram.New(1, longest, 3) }

// kind is one sort of turn: its times are kept apart.
type kind struct {
	// wait is from when the turn was due to its end, work from when it was begun, first
	// to the first event of its stream.
	wait, work, first *hdrhistogram.Histogram
	failed            int
}

// tally is what happened so far. Its methods may be called from any goroutine.
type tally struct {
	mu      sync.Mutex
	began   time.Time
	kinds   map[string]*kind
	errors  map[string]int
	retried int
	done    int
	failed  int
	recent  *hdrhistogram.Histogram // of waits since the last look
}

func newTally() *tally {
	return &tally{began: time.Now(), kinds: map[string]*kind{}, errors: map[string]int{}, recent: times()}
}

func note(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d/time.Microsecond), 1), longest)) // within its bounds
}

// ended notes a turn; code is "" for one that went as asked.
func (t *tally) ended(name string, due, begun, first time.Time, code string) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.kinds[name]
	if k == nil {
		k = &kind{wait: times(), work: times(), first: times()}
		t.kinds[name] = k
	}
	if code != "" {
		k.failed++
		t.failed++
		t.errors[code]++
		return
	}
	t.done++
	note(k.wait, now.Sub(due))
	note(k.work, now.Sub(begun))
	note(t.recent, now.Sub(due))
	if !first.IsZero() {
		note(k.first, first.Sub(due))
	}
}

func (t *tally) again() {
	t.mu.Lock()
	t.retried++
	t.mu.Unlock()
}

// Progress is how a run goes.
type Progress struct {
	Elapsed                     time.Duration
	Done, Failed, Retried, Busy int
	// Late are turns that are due and have not begun.
	Late int
	// P50 and P99 are of the waits since the last one.
	P50, P99 time.Duration
}

func (t *tally) progress() Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Progress{Elapsed: time.Since(t.began), Done: t.done, Failed: t.failed, Retried: t.retried, P50: at(t.recent, 50), P99: at(t.recent, 99)}
	t.recent.Reset()
	return p
}

func at(h *hdrhistogram.Histogram, percent float64) time.Duration {
	return time.Duration(h.ValueAtPercentile(percent)) * time.Microsecond
}

// into writes everything into a result.
func (t *tally) into(r *report.Result, subject string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	took := time.Since(t.began).Seconds()
	all := &kind{wait: times(), work: times(), first: times()}
	add := func(name string, k *kind) {
		f := report.Figures{"turns": float64(k.wait.TotalCount()), "failed": float64(k.failed), "turns_per_s": float64(k.wait.TotalCount()) / took}
		for what, h := range map[string]*hdrhistogram.Histogram{"wait": k.wait, "work": k.work, "first": k.first} {
			if h.TotalCount() == 0 {
				continue
			}
			for q, percent := range map[string]float64{"p50": 50, "p90": 90, "p99": 99, "p999": 99.9, "max": 100} {
				f[what+"_"+q+"_ms"] = float64(at(h, percent)) / float64(time.Millisecond)
			}
		}
		r.Add("load", name, subject, f)
	}
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		k := t.kinds[name]
		add(name, k)
		all.wait.Merge(k.wait)
		all.work.Merge(k.work)
		all.first.Merge(k.first)
		all.failed += k.failed
	}
	if len(t.kinds) != 1 {
		add("all", all)
	}
	for _, code := range slices.Sorted(maps.Keys(t.errors)) {
		r.Add("errors", code, subject, report.Figures{"count": float64(t.errors[code])})
	}
	if t.retried > 0 {
		r.Add("errors", "asked again after Retry-After", subject, report.Figures{"count": float64(t.retried)})
	}
}
