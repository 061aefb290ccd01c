package queue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestRateTellsWhenItHelps(t *testing.T) {
	t.Parallel()
	var r Rates
	for n := range 30 {
		if _, ok := r.Take("a", 30, 1, 1000); !ok {
			t.Fatalf("number %d is refused", n+1)
		}
	}
	wait, ok := r.Take("a", 30, 1, 1000)
	if ok || wait < 1990 || wait > 2010 {
		t.Fatalf("number 31: %v, wait %d", ok, wait)
	}
	if _, ok := r.Take("b", 30, 1, 1000); !ok {
		t.Error("another name is refused too")
	}
	if _, ok := r.Take("a", 30, 1, 1000+wait); !ok {
		t.Error("after the wait it is refused again")
	}
	if _, ok := r.Take("a", 0, 9, 1000); !ok {
		t.Error("no bound refuses")
	}
}

// In any minute at most twice the allowance passes, and the wait that is told is
// enough.
func TestRateHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var r Rates
		per := rapid.IntRange(1, 40).Draw(rt, "per minute")
		now, last, first := int64(0), 0, []int64{}
		for range rapid.IntRange(1, 200).Draw(rt, "steps") {
			now += rapid.Int64Range(0, 5000).Draw(rt, "pause")
			n := rapid.IntRange(1, 3).Draw(rt, "n")
			wait, ok := r.Take("x", per, n, now)
			if !ok {
				now += wait
				if _, ok := r.Take("x", per, n, now); !ok {
					rt.Fatal("refused after the wait")
				}
			}
			for range min(n, per) {
				first = append(first, now)
			}
			for first[last] <= now-60_000 {
				last++
			}
			if in := len(first) - last; in > 2*per {
				rt.Fatalf("%d in a minute of %d", in, per)
			}
		}
	})
}

func TestRatesAreForgotten(t *testing.T) {
	t.Parallel()
	var r Rates
	for n := range 3 * maxRates {
		r.Take(fmt.Sprint(n), 10, 1, int64(n))
	}
	if len(r.of) > maxRates {
		t.Errorf("%d are remembered", len(r.of))
	}
}
