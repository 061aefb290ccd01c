package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// Sizes of the chart, in pixels.
const (
	chartWidth = 920
	nameWidth  = 300
	rowHeight  = 18
	headHeight = 26
)

var colors = map[string]string{
	"spawn": "#9aa5b1", "copy": "#b8c0c8", plain: "#e0a458", Control: "#edc999", "responses": "#2f6f9f", "agents": "#3c9d7a", Bare: "#9aa5b1",
}

// Chart writes one panel a scenario and case: a bar a subject with its range, on a
// logarithmic axis, for the scenario's first figure.
func Chart(w io.Writer, r *Result) error {
	var b bytes.Buffer
	y := 0
	done := map[string]bool{}
	for i := range r.Cells {
		c := &r.Cells[i]
		key := c.Scenario + "\x00" + c.Case
		if figures := figuresOf(c); !done[key] && len(figures) > 0 {
			done[key] = true
			y = panel(&b, r, c, figures[0], y)
		}
	}
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n%s</svg>\n", chartWidth, y+8, b.Bytes())
	return err
}

// bound is the line of the first goal that a panel's figure has.
func bound(r *Result, of *Cell, figure string) (at float64, name string) {
	for _, g := range Goals() {
		if g.Scenario == of.Scenario && g.Figure == figure {
			if at, ok := g.line(r, of.Case); ok {
				return at, g.Name
			}
		}
	}
	return 0, ""
}

func panel(b *bytes.Buffer, r *Result, of *Cell, figure string, y int) int {
	type bar struct {
		name string
		s    Spread
	}
	var bars []bar
	low, high := math.Inf(1), 0.0
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Scenario != of.Scenario || c.Case != of.Case {
			continue
		}
		if s, ok := c.Of(figure); ok && s.Median > 0 {
			bars = append(bars, bar{c.Subject, s})
			low, high = min(low, s.Median, positive(s.Low, s.Median)), max(high, s.High)
		}
	}
	if len(bars) == 0 {
		return y
	}
	goal, name := bound(r, of, figure)
	if goal > 0 {
		low, high = min(low, goal), max(high, goal)
	}
	low /= 2 // the smallest has a bar as well
	scale := func(v float64) int {
		if v <= low || high <= low {
			return 0
		}
		return int(float64(chartWidth-nameWidth-90) * math.Log(v/low) / math.Log(high/low))
	}
	fmt.Fprintf(b, "<text x=\"4\" y=\"%d\" font-weight=\"bold\">%s, %s: %s</text>\n", y+18, html.EscapeString(of.Scenario), html.EscapeString(of.Case), html.EscapeString(figure))
	y += headHeight
	for _, x := range bars {
		color := colors[x.name]
		if color == "" {
			color = "#777"
		}
		fmt.Fprintf(b, "<text x=\"16\" y=\"%d\">%s</text><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", y+13, html.EscapeString(x.name), nameWidth, y+2, max(scale(x.s.Median), 1), rowHeight-4, color)
		fmt.Fprintf(b, "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"#222\"/>", nameWidth+scale(positive(x.s.Low, x.s.Median)), nameWidth+scale(x.s.High), y+rowHeight/2, y+rowHeight/2)
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text>\n", nameWidth+scale(x.s.High)+6, y+13, short(x.s.Median))
		y += rowHeight
	}
	if goal > 0 {
		at := nameWidth + scale(goal)
		fmt.Fprintf(b, "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"#c0392b\" stroke-dasharray=\"4 2\"><title>bound of %s: %s</title></line>\n",
			at, at, y-rowHeight*len(bars), y, html.EscapeString(name), short(goal))
	}
	return y + 6
}

// positive is v, or what else when a logarithm has no place for it.
func positive(v, other float64) float64 {
	if v > 0 {
		return v
	}
	return other
}

// Picture is a graph in SVG with its name.
type Picture struct {
	Name string
	SVG  []byte
}

// Page writes the table, the chart and further pictures as one page that needs nothing
// else.
func Page(w io.Writer, r *Result, verdicts []Verdict, more ...Picture) error {
	var table, chart bytes.Buffer
	if err := Table(&table, r, verdicts); err != nil {
		return err
	}
	if err := Chart(&chart, r); err != nil {
		return err
	}
	var rows bytes.Buffer
	for _, v := range verdicts {
		fmt.Fprintf(&rows, "<tr class=%q><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s..%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", v.Judged,
			html.EscapeString(v.Name), html.EscapeString(v.In), html.EscapeString(v.Subject), short(v.Value.Median), short(v.Value.Low), short(v.Value.High), synced(v), short(v.Hold), short(v.Aim), html.EscapeString(v.Judged+because(r, v)))
	}
	if len(more) > 0 {
		chart.WriteString("<h2>Where the time goes</h2><p>Callers below, what they call above, as wide as the processor time it took; full names under the pointer.</p>\n")
	}
	for _, p := range more {
		fmt.Fprintf(&chart, "<h3>%s</h3>\n%s\n", html.EscapeString(p.Name), p.SVG)
	}
	_, err := fmt.Fprintf(w, page, html.EscapeString(about(r)), html.EscapeString(settings(r)), rows.Bytes(), chart.Bytes(), html.EscapeString(table.String()))
	return err
}

// settings are what differs from the defaults.
func settings(r *Result) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(r.Settings)) {
		list = append(list, k+" "+r.Settings[k])
	}
	return strings.Join(list, "; ")
}

const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>agenthost bench</title>
<style>body{font:14px sans-serif;margin:2em;max-width:1100px}table{border-collapse:collapse}td,th{padding:2px 10px;text-align:left}
.reached{background:#dff3e4}.held{background:#eef5d8}.missed{background:#f6d9d5}.inconclusive{background:#eee}pre{font-size:12px;overflow:auto}</style>
<h1>agenthost bench</h1><p>%s</p>
<p>%s</p>
<h2>Goals</h2><p>Ratios of two subjects in one repetition. Of turn p50 and first event one median write and sync is taken off, which others do not make; the column <i>with the sync</i> has the median as measured. A dashed line in a chart is the bound.</p><table><tr><th>goal<th>case<th>subject<th>median<th>range<th>with the sync<th>hold<th>aim<th>verdict</tr>
%s</table><h2>Figures</h2>
%s<h2>Table</h2><pre>%s</pre></html>
`
