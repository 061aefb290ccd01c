package report

import (
	"fmt"
	"math"
	"path"
)

// Goal is a bound on a figure: of a subject alone, or as a ratio to another subject of
// the same case.
type Goal struct {
	Name           string
	Scenario, Case string // Case is a pattern of path.Match
	Subject        string // product wires: "responses", "agents"
	Figure         string
	Over           string // subject; "" judges the figure itself
	// Minus takes the difference instead of the ratio.
	Minus bool
	// Less names a figure of scenario fsync, case append, subject fsync that is taken
	// off the subject's own first: what durability costs here, which others do not have.
	Less string
	// Hold is the gate and Aim the wish; Bigger says that more is better. A goal with
	// Hold at Unbound is a wish only.
	Hold, Aim float64
	Bigger    bool
	// Gate makes the exit status depend on it, in the profiles that measure it.
	Gate bool
}

// Verdict is a goal as it was found.
type Verdict struct {
	Goal
	In    string // the case
	Value Spread
	// Raw is the value before Less was taken off; Value without Less.
	Raw    Spread
	Judged string // reached, held, missed, inconclusive
	Why    string
}

// Words of a verdict.
const (
	Reached      = "reached"
	Held         = "held"
	Missed       = "missed"
	Inconclusive = "inconclusive"
)

// Control is the second name of the plain host.
const Control = "plain-again"

// Bare is a CLI's own protocol, spoken without a host.
const Bare = "bare"

// Before ends the names of the product's subjects of another build.
const Before = "-before"

const plain = "plain"

// Unbound is a Hold that everything holds, of a goal where less is better.
var Unbound = math.Inf(1)

// Judge finds a verdict for each goal and case that was measured.
func Judge(r *Result, goals []Goal) []Verdict {
	var out []Verdict
	for _, g := range goals {
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.Scenario != g.Scenario || c.Subject != g.Subject {
				continue
			}
			if ok, err := path.Match(g.Case, c.Case); err != nil || !ok {
				continue
			}
			if v, ok := judge(r, c, g); ok {
				out = append(out, v)
			}
		}
	}
	return out
}

func judge(r *Result, c *Cell, g Goal) (Verdict, bool) {
	v := Verdict{Goal: g, In: c.Case}
	values := paired(r, c, g)
	if len(values) == 0 {
		return v, false
	}
	v.Value = spread(values)
	raw := g
	raw.Less = ""
	v.Raw = spread(paired(r, c, raw))
	within := func(bound float64) bool {
		if g.Bigger {
			return v.Value.Median >= bound
		}
		return v.Value.Median <= bound
	}
	switch {
	case within(g.Aim):
		v.Judged = Reached
	case within(g.Hold):
		v.Judged = Held
	default:
		v.Judged = Missed
	}
	if g.Over == plain && v.Judged == Missed {
		if again := r.Cell(c.Scenario, c.Case, Control); again != nil {
			noise := spread(paired(r, again, Goal{Over: plain, Figure: g.Figure}))
			if noise.Median < 0.9 || noise.Median > 1.1 {
				v.Judged, v.Why = Inconclusive, fmt.Sprintf("the plain host is at %.2f of itself", noise.Median)
			}
		}
	}
	return v, true
}

// paired is the figure of each repetition, over the other subject's in the same one.
func paired(r *Result, c *Cell, g Goal) []float64 {
	var other *Cell
	if g.Over != "" {
		if other = r.Cell(c.Scenario, c.Case, g.Over); other == nil {
			return nil
		}
	}
	less := 0.0
	if g.Less != "" {
		if s, ok := r.Cell("fsync", "append", "fsync").Of(g.Less); ok {
			less = s.Median
		}
	}
	var out []float64
	for i, f := range c.Reps {
		x, ok := f[g.Figure]
		if !ok {
			continue
		}
		x -= less
		if other != nil {
			if i >= len(other.Reps) {
				continue
			}
			y, ok := other.Reps[i][g.Figure]
			switch {
			case !ok, y == 0 && !g.Minus:
				continue
			case g.Minus:
				x -= y
			default:
				x /= y
			}
		}
		out = append(out, x)
	}
	return out
}

// line is where a goal's bound is on the axis of its figure in a case: what the subject
// may show at most, or at least; false when it has none there.
func (g *Goal) line(r *Result, kase string) (at float64, ok bool) {
	if hit, err := path.Match(g.Case, kase); err != nil || !hit || math.IsInf(g.Hold, 0) {
		return 0, false
	}
	at = g.Hold
	if g.Over != "" {
		s, ok := r.Cell(g.Scenario, kase, g.Over).Of(g.Figure)
		switch {
		case !ok:
			return 0, false
		case g.Minus:
			at += s.Median
		default:
			at *= s.Median
		}
	}
	if g.Less != "" {
		if s, ok := r.Cell("fsync", "append", "fsync").Of(g.Less); ok {
			at += s.Median
		}
	}
	return at, at > 0
}

// Fails lists the gates that were missed.
func Fails(all []Verdict) []Verdict {
	var out []Verdict
	for _, v := range all {
		if v.Gate && v.Judged == Missed {
			out = append(out, v)
		}
	}
	return out
}
