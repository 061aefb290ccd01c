package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// Limits of what a server at rest may hold over what it held the first time.
const (
	restLimit = 30 * time.Second
	slowRest  = 5 * time.Second
	slack     = 10 // descriptors, goroutines, actors
	// An HTTP server keeps the goroutines of closed connections for 10 s: they are
	// waited for at the end only.
	idleWorkers  = 40
	workersEnd   = 12 * time.Second
	memoryFactor = 1.5
	memorySlack  = 32 << 20
)

// atRest judges the server when nothing is asked of it, and says what kept it long.
func (c *conductor) atRest(last bool) {
	began, why := time.Now(), ""
	defer func() {
		if took := time.Since(began); took > slowRest {
			_, _ = fmt.Fprintf(c.Progress, "at rest after %s; last was %s\n", took.Round(time.Millisecond), why)
		}
	}()
	var left []hostproc.Proc
	if !poll(restLimit, func() bool {
		left = append(append(c.host.Marked(), c.host.Descendants()...), c.napping()...)
		if len(left) > 0 {
			why = fmt.Sprint(left)
		}
		return len(left) == 0
	}) {
		c.broke(NoTrace, "processes", "alive %s after everything came to rest: %v", restLimit, left)
		return
	}
	busy := ""
	if !poll(restLimit, func() bool {
		busy = ""
		for _, name := range []string{"sessions_active", "turns_running", "turns_waiting", "process_trees", "runners", "streams_open"} {
			if n := c.host.Metric("agenthost_" + name); n != 0 {
				busy, why = name, name
			}
		}
		return busy == ""
	}) {
		c.broke(NoTrace, "server", "agenthost_%s is %v at rest", busy, c.host.Metric("agenthost_"+busy))
		return
	}
	if n := c.host.Metric("agenthost_actor_panics_total"); n != 0 {
		c.broke(Serves, "server", "%v actors panicked", n)
	}
	var now Held
	measure := func() bool {
		now = Held{Usage: c.host.Usage(), Actors: int(c.host.Metric("agenthost_actors")), RSS: c.host.RSS()}
		workers := idleWorkers
		if last {
			workers = 0
		}
		ok := !c.held || now.within(c.report.First, workers)
		if !ok {
			why = now.String()
		}
		return ok
	}
	if !poll(restLimit, measure) {
		c.broke(Flat, "server", "%s, and the first time %s", now, c.report.First)
	}
	if last { // what is said of the end is what stays, not what is on its way out
		poll(workersEnd, func() bool { return measure() && now.Goroutines <= c.report.First.Goroutines })
	}
	if !c.held {
		c.held, c.report.First = true, now
	}
	c.report.Last = now
}

func (h Held) within(first Held, workers int) bool {
	return h.Descriptors <= first.Descriptors+slack && h.Goroutines <= first.Goroutines+slack+workers && h.Actors <= first.Actors+slack &&
		float64(h.RSS) <= memoryFactor*float64(first.RSS)+memorySlack
}

// napping are the processes that were left without our marker.
func (c *conductor) napping() []hostproc.Proc {
	return slices.DeleteFunc(hostproc.Processes(), func(p hostproc.Proc) bool {
		return p.State == 'Z' || !strings.Contains(p.Command, "sleep "+c.nap)
	})
}

// poll asks for a condition until it holds or the time is over.
func poll(limit time.Duration, ok func() bool) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	over := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(over) {
			return false
		}
		<-tick.C
	}
	return true
}
