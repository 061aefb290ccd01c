package acceptance

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

const turnsASession = 25

// A third of the turns is cancelled, a tenth leaves a process in a session of its own
// behind. Nothing of them stays: goroutines, descriptors, actors and processes are back
// to where they were, and memory does not grow with the turns. (It grows with sessions
// until the store's caches of their records are full, so there are few of those here: a
// new one for each turnsASession.)
func TestTurnsLeaveNothing(t *testing.T) {
	t.Parallel()
	turns, warm, factor := 400, 100, 1.5 // Go's heap finds its size in the first hundreds
	if os.Getenv("AGENTHOST_CERTIFY") == "1" {
		turns, warm, factor = 10_000, 1_000, 1.2
	}
	const callers = 8
	r := newRig(t, limit("max_concurrent_turns", callers), limit("passivate_after", "2s"), limit("linger", "300ms"), limit("max_waiting_turns", 100),
		limit("interrupt_grace", "300ms"), limit("terminate_grace", "100ms"))
	r.normalTurn()
	r.until(20*time.Second, "the session leaves memory", func() bool { return r.Metric("agenthost_sessions_active") == 0 })
	base, actors := r.Usage(), r.Metric("agenthost_actors")

	run := func(from, to int) {
		var all sync.WaitGroup
		for c := range callers {
			all.Go(func() {
				going := ""
				for i := from + c; i < to; i += callers {
					if i/callers%turnsASession == 0 {
						going = ""
					}
					going = r.leavingTurn(i, going)
				}
			})
		}
		all.Wait()
	}
	run(0, warm)
	r.Clean(time.Minute)
	rss := r.RSS()
	for from := warm; from < turns; from += warm {
		run(from, min(from+warm, turns))
		t.Logf("%d turns: %d MiB resident, %d MiB of heap in use", min(from+warm, turns), r.RSS()>>20, int64(r.Metric("go_memstats_heap_inuse_bytes"))>>20)
	}
	r.Clean(time.Minute)
	now := r.RSS()
	t.Logf("%d MiB after %d turns, %d MiB after %d; %v processes that were left are ended", rss>>20, warm, now>>20, turns, r.Metric("agenthost_orphans_reaped_total"))
	if float64(now) > factor*float64(rss) {
		t.Errorf("%d MiB after %d turns, %d MiB after %d", rss>>20, warm, now>>20, turns)
	}
	r.until(30*time.Second, "all sessions leave memory", func() bool { return r.Metric("agenthost_sessions_active") == 0 })
	r.Back(base, 5, 30*time.Second)
	if n := r.Metric("agenthost_actors"); n != actors {
		t.Errorf("%v actors, before there were %v", n, actors)
	}
	if n := r.Metric("agenthost_process_trees"); n != 0 {
		t.Errorf("%v process trees", n)
	}
	ended := 1 // the turn before the base
	for _, outcome := range []string{"completed", "failed", "cancelled"} {
		ended += int(r.Metric(fmt.Sprintf("agenthost_turns_total{outcome=%q}", outcome)))
	}
	if cancelled := int(r.Metric(`agenthost_turns_total{outcome="cancelled"}`)); ended != turns+2 || cancelled < turns/3 {
		t.Errorf("%d turns ended and %d of them cancelled, of %d", ended, cancelled, turns)
	}
	r.normalTurn()
	r.Stop()
}

// leavingTurn plays the i-th turn, after the response going if it is to go on with it,
// and gives the response to go on with.
func (r *rig) leavingTurn(i int, going string) string {
	body := map[string]any{"model": "codex", "input": "[[say: done]]"}
	if going != "" {
		body["previous_response_id"] = going
	}
	if i%3 == 0 {
		body["input"], body["background"] = "[[say: on]] [[shell: sleep 600]]", true
	}
	if i%10 == 1 {
		body["input"] = "[[mode: escape]] " + body["input"].(string)
	}
	a := r.http.do("POST", "/v1/responses", body)
	id := a.str("id")
	if a.status == 200 && i%3 == 0 {
		if i%2 == 0 { // the others are cancelled while their CLI is being started
			r.until(20*time.Second, "the turn says something", func() bool {
				return len(r.http.do("GET", "/v1/responses/"+id, nil).list("output")) > 0
			})
		}
		a = r.http.do("POST", "/v1/responses/"+id+"/cancel", nil)
	}
	want := map[bool]string{true: "cancelled", false: "completed"}[i%3 == 0]
	if a.status != 200 || a.str("status") != want {
		r.t.Errorf("turn %d: %d %s", i, a.status, clip(a.body))
		return ""
	}
	if i%3 == 0 {
		return going
	}
	return id
}
