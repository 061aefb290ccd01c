package queue

import "math"

// maxRates is how many names a Rates remembers that have not used their allowance up.
const maxRates = 4096

// Rates bounds how often something happens a minute, by name. A name that was silent
// for a minute may use its minute's allowance at once. It is not safe for concurrent
// use; the zero value is ready.
type Rates struct{ of map[string]*bucket }

type bucket struct {
	left float64
	at   int64
}

// Take takes n of a name's perMinute and reports how many milliseconds to wait when
// there are fewer; nothing is taken then. perMinute 0 is no bound. More than a whole
// allowance at once counts as one.
func (r *Rates) Take(name string, perMinute, n int, now int64) (wait int64, ok bool) {
	if perMinute <= 0 || n <= 0 {
		return 0, true
	}
	b := r.of[name]
	if b == nil {
		if len(r.of) >= maxRates {
			r.forget(now)
		}
		if r.of == nil {
			r.of = map[string]*bucket{}
		}
		b = &bucket{left: float64(perMinute), at: now}
		r.of[name] = b
	}
	each := float64(perMinute) / 60_000 // a millisecond
	b.left = min(b.left+float64(max(now-b.at, 0))*each, float64(perMinute))
	b.at = max(now, b.at)
	want := float64(min(n, perMinute))
	if b.left+1e-9 < want {
		return max(int64(math.Ceil((want-b.left)/each-1e-6)), 1), false
	}
	b.left -= want
	return 0, true
}

// forget drops the names that were silent for a minute, and if that is none, all: to
// let some go on early is better than to grow without end.
func (r *Rates) forget(now int64) {
	for name, b := range r.of {
		if now-b.at >= 60_000 {
			delete(r.of, name)
		}
	}
	if len(r.of) >= maxRates {
		clear(r.of)
	}
}
