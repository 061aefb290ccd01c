package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Capacity is the scenario whose cases are a kind and a count, such as "stored 1000".
const Capacity = "capacity"

// Growth is how a figure grows with a count: as its power Exponent. 1 is in proportion,
// 0 not at all.
type Growth struct {
	Kind, Figure string
	Counts       []float64
	Values       []float64
	Exponent     float64
}

// Growths fits the figures of the capacity scenario of a subject that were measured for
// two counts or more.
func Growths(r *Result, subject string) []Growth {
	var out []Growth
	at := map[string]int{}
	for i := range r.Cells {
		c := &r.Cells[i]
		kind, count, ok := strings.Cut(c.Case, " ")
		n, err := strconv.ParseFloat(count, 64)
		if c.Scenario != Capacity || c.Subject != subject || !ok || err != nil {
			continue
		}
		for _, figure := range figuresOf(c) {
			s, ok := c.Of(figure)
			if !ok {
				continue
			}
			key := kind + " " + figure
			if _, seen := at[key]; !seen {
				at[key] = len(out)
				out = append(out, Growth{Kind: kind, Figure: figure})
			}
			g := &out[at[key]]
			g.Counts, g.Values = append(g.Counts, n), append(g.Values, s.Median)
		}
	}
	kept := out[:0]
	for _, g := range out {
		if g.Exponent = slope(g.Counts, g.Values); len(g.Counts) > 1 {
			kept = append(kept, g)
		}
	}
	return kept
}

// slope is that of the line of least squares through the logarithms; values that have
// none are left out.
func slope(x, y []float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for i := range x {
		if x[i] <= 0 || y[i] <= 0 {
			continue
		}
		a, b := math.Log(x[i]), math.Log(y[i])
		n, sx, sy, sxx, sxy = n+1, sx+a, sy+b, sxx+a*a, sxy+a*b
	}
	if d := n*sxx - sx*sx; n > 1 && d > 0 {
		return (n*sxy - sx*sy) / d
	}
	return math.NaN()
}

// GrowthTable writes them; nothing when there are none.
func GrowthTable(w io.Writer, all []Growth) error {
	if len(all) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "\nkind\tfigure\tat each count\tgrows with the power") // t keeps its first error
	for _, g := range all {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", g.Kind, g.Figure, g.points(), g.power())
	}
	return t.Flush()
}

func (g *Growth) points() string {
	var points []string
	for i := range g.Counts {
		points = append(points, fmt.Sprintf("%.0f: %s", g.Counts[i], short(g.Values[i])))
	}
	return strings.Join(points, "  ")
}

func (g *Growth) power() string {
	if math.IsNaN(g.Exponent) {
		return "-"
	}
	return fmt.Sprintf("%.2f", g.Exponent)
}
