package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestManySessionsShareFewSlotsInOrder(t *testing.T) {
	t.Parallel()
	const inputs, sessions, slots, maxShift = 300, 60, 4, 12
	r := newRig(t, limit("max_concurrent_turns", slots))
	var ids []string
	for i := range sessions {
		ids = append(ids, r.http.session([]string{"codex", "claude-code"}[i%2]))
	}
	for i := range inputs {
		prompt := directives(fmt.Sprintf("%03d", i), "[[wait: 15]]", "[[say: done]]")
		if a := r.http.say(ids[i%sessions], prompt); a.status != 202 {
			t.Fatalf("input %d: %d %s", i, a.status, a.body)
		}
	}
	for _, id := range ids {
		r.http.idle(id, 90*time.Second)
	}
	runs := first(r.ran())
	if len(runs) != inputs {
		t.Errorf("%d CLIs ran for %d inputs", len(runs), inputs)
	}
	if n := atOnce(runs); n > slots {
		t.Errorf("%d turns ran at once in %d slots", n, slots)
	} else if n < slots {
		t.Errorf("never more than %d turns ran at once; there are %d slots", n, slots)
	}
	slices.SortFunc(runs, func(a, b run) int { return int(a.start - b.start) })
	seen := map[string]bool{}
	last := make([]string, sessions)
	worst := 0
	for place, one := range runs {
		if seen[one.tag] {
			t.Errorf("input %s ran twice", one.tag)
		}
		seen[one.tag] = true
		var n int
		_, _ = fmt.Sscanf(one.tag, "%d", &n)
		if s := n % sessions; last[s] > one.tag {
			t.Errorf("session %d ran %s before %s", s, last[s], one.tag)
		} else {
			last[s] = one.tag
		}
		worst = max(worst, place-n, n-place)
	}
	if worst > maxShift {
		t.Errorf("an input was shifted by %d places", worst)
	}
	t.Logf("worst shift %d places", worst)
	for _, id := range ids {
		turns := statuses(r.http.turns(id))
		if got := strings.Join(turns, " "); got != strings.TrimSpace(strings.Repeat("completed ", inputs/sessions)) {
			t.Errorf("session %s: %s", id, got)
		}
	}
	r.Clean(time.Minute)
	r.Stop()
}

// atOnce is the most runs that overlap. One without an end runs still.
func atOnce(runs []run) int {
	type edge struct {
		at int64
		by int
	}
	var edges []edge
	for _, one := range runs {
		edges = append(edges, edge{one.start, 1})
		if one.end != 0 {
			edges = append(edges, edge{one.end, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.by - b.by
	})
	most, now := 0, 0
	for _, e := range edges {
		now += e.by
		most = max(most, now)
	}
	return most
}
