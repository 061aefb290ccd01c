package hostproc

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Metric reads one sample of /metrics by its full name, labels included:
// go_goroutines, agenthost_turns_total{outcome="failed"}.
func (h *Host) Metric(name string) float64 {
	h.tb.Helper()
	status, body, err := get(h.URL + "/metrics")
	if err != nil || status != 200 {
		h.tb.Fatalf("/metrics: %d %v", status, err)
	}
	for line := range strings.SplitSeq(body, "\n") {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				h.tb.Fatalf("/metrics: %s: %v", name, err)
			}
			return f
		}
	}
	h.tb.Fatalf("/metrics has no %s", name)
	return 0
}

// Goroutines of the server.
func (h *Host) Goroutines() int { return int(h.Metric("go_goroutines")) }

// Usage is what a server holds that it must give back.
type Usage struct{ Descriptors, Goroutines int }

// Usage reads what the server holds now.
func (h *Host) Usage() Usage {
	h.tb.Helper()
	return Usage{Descriptors: h.Descriptors(), Goroutines: h.Goroutines()}
}

// Back waits until the server holds no more than base with slack on each count.
func (h *Host) Back(base Usage, slack int, timeout time.Duration) {
	h.tb.Helper()
	var now Usage
	if !until(timeout, func() bool {
		now = h.Usage()
		return now.Descriptors <= base.Descriptors+slack && now.Goroutines <= base.Goroutines+slack
	}) {
		h.tb.Errorf("not back to base after %s: %s, it was %s", timeout, now, base)
	}
}

func (u Usage) String() string {
	return fmt.Sprintf("%d descriptors and %d goroutines", u.Descriptors, u.Goroutines)
}
