package measure

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ran is what the stand-ins noted: what really ran, whatever the host says.
type ran struct {
	// Order are the numbers of the turns in the order they started.
	order  []int
	atOnce int
	twice  int
}

// runs reads the log of turns with tags "t0", "t1", ...
func runs(file string) (*ran, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	type note struct {
		at    int64
		turn  int
		start bool
	}
	var notes []note
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 4 || !strings.HasPrefix(f[0], "t") || f[1] != "start" && f[1] != "end" {
			continue
		}
		turn, err1 := strconv.Atoi(f[0][1:])
		at, err2 := strconv.ParseInt(f[2], 10, 64)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%s: %q", file, line)
		}
		notes = append(notes, note{at, turn, f[1] == "start"})
	}
	slices.SortStableFunc(notes, func(a, b note) int { return int(a.at - b.at) })
	r := &ran{}
	seen, now := map[int]bool{}, 0
	for _, n := range notes {
		if !n.start {
			now--
			continue
		}
		if seen[n.turn] {
			r.twice++
		}
		seen[n.turn] = true
		r.order = append(r.order, n.turn)
		now++
		r.atOnce = max(r.atOnce, now)
	}
	return r, nil
}

// shift is how far a turn started from its place in the order of acceptance, at most.
func (r *ran) shift() int {
	most := 0
	for place, turn := range r.order {
		most = max(most, place-turn, turn-place)
	}
	return most
}
