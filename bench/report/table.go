package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// main figures of a scenario, in the order of the table.
var mainFigures = map[string][]string{
	"fsync": {"p50_ms", "p99_ms"}, "turn": {"p50_ms", "p99_ms", "first_ms", "turns_per_s", "server_cpu_s", "allocs_per_turn", "waits_per_turn", "lost"},
	"rate": {"events_per_s", "frames_per_s", "mb_per_s", "server_us_per_event", "allocs_per_event", "waits_per_event", "lost"}, "fan": {"deliveries_per_s", "server_us_per_delivery", "bytes_per_delivery", "rss_growth_mib", "lost"},
	"latency": {"p50_us", "p99_us", "lost"}, "sessions": {"create_per_s", "create_cpu_us", "session_kib", "rss_mib"},
	"streams": {"stream_kib", "idle_cpu_percent"}, "overload": {"drain_s", "at_once", "shift", "lost", "rss_mib"}, "cancel": {"gone_ms", "left"},
	"opening": {"last_ms", "p50_ms"}, "light": {"wait_share", "drain_s", "lost"}, "history": {"cpu_growth", "p50_growth"},
	Capacity: {"rss_mib", "grown_mib", "each_kib", "idle_cpu_percent", "goroutines", "answer_ms", "answer_empty_ms", "disk_mib", "seeded_per_s", "made_mib", "made_each_kib", "create_per_s", "start_per_s", "gone_ms", "left"},
	"load":   {"turns", "failed", "turns_per_s", "wait_p50_ms", "wait_p90_ms", "wait_p99_ms", "wait_p999_ms", "wait_max_ms", "first_p50_ms", "first_p99_ms", "work_p50_ms", "work_p99_ms"}, "errors": {"count"},
	"restart": {"answer_s", "rss_mib"}, "churn": {"rss_growth", "descriptors_more", "goroutines_more"},
}

// Table writes every figure, with its smallest and largest, and its ratio to the plain
// host's and the floor's; then the goals.
func Table(w io.Writer, r *Result, verdicts []Verdict) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	say := func(cells ...string) { _, _ = fmt.Fprintln(t, strings.Join(cells, "\t")) } // t keeps its first error
	title := []string{"scenario", "case", "subject", "figure", "median", "smallest..largest", "over floor", "over plain"}
	beside := slices.ContainsFunc(r.Cells, func(c Cell) bool { return strings.HasSuffix(c.Subject, Before) })
	if beside {
		title = append(title, "over before")
	}
	say(title...)
	for i := range r.Cells {
		c := &r.Cells[i]
		for _, figure := range figuresOf(c) {
			s, ok := c.Of(figure)
			if !ok {
				continue
			}
			row := []string{c.Scenario, c.Case, c.Subject, figure, short(s.Median), short(s.Low) + ".." + short(s.High), over(r, c, figure, floorOf(r, c)), over(r, c, figure, plain)}
			if beside {
				row = append(row, over(r, c, figure, c.Subject+Before))
			}
			say(row...)
		}
	}
	say("")
	say("goal", "case", "subject", "verdict", "median", "smallest..largest", "hold", "aim")
	for _, v := range verdicts {
		say(v.Name, v.In, v.Subject, v.Judged+because(v), short(v.Value.Median), short(v.Value.Low)+".."+short(v.Value.High), short(v.Hold), short(v.Aim))
	}
	return t.Flush()
}

func because(v Verdict) string {
	if v.Why == "" {
		return ""
	}
	return ": " + v.Why
}

func figuresOf(c *Cell) []string {
	if list := mainFigures[c.Scenario]; list != nil {
		return list
	}
	if len(c.Reps) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(c.Reps[0]))
}

// floorOf is the subject that no host can beat in a case.
func floorOf(r *Result, c *Cell) string {
	for _, name := range []string{"spawn", "copy"} {
		if r.Cell(c.Scenario, c.Case, name) != nil {
			return name
		}
	}
	return ""
}

func over(r *Result, c *Cell, figure, other string) string {
	if other == "" || other == c.Subject {
		return ""
	}
	v := paired(r, c, Goal{Figure: figure, Over: other})
	if len(v) == 0 {
		return ""
	}
	return short(spread(v).Median) + "x"
}

// short is a number with three digits that matter.
func short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return fmt.Sprintf("%.0f", v)
	case a >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

// JSON writes the raw figures, from which every ratio can be computed anew.
func JSON(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Read is the inverse of JSON.
func Read(in io.Reader) (*Result, error) {
	var r Result
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return nil, fmt.Errorf("not a result of the bench: %w", err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("a result of schema %d; this program reads %d", r.Schema, Schema)
	}
	return &r, nil
}

// Compare writes the medians of two results side by side. Absolute figures of two runs
// differ by what else the machines did; only the ratios to the plain host of the same
// run can be compared, and they are what it shows.
func Compare(w io.Writer, a, b *Result) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "scenario\tcase\tsubject\tfigure\tover plain, first\tover plain, second\tsecond over first")
	for i := range a.Cells {
		ca := &a.Cells[i]
		cb := b.Cell(ca.Scenario, ca.Case, ca.Subject)
		if cb == nil || ca.Subject == plain || ca.Subject == Control {
			continue
		}
		for _, figure := range figuresOf(ca) {
			g := Goal{Figure: figure, Over: plain}
			va, vb := paired(a, ca, g), paired(b, cb, g)
			if len(va) == 0 || len(vb) == 0 {
				continue
			}
			ma, mb := spread(va).Median, spread(vb).Median
			ratio := ""
			if ma != 0 {
				ratio = short(mb/ma) + "x"
			}
			_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%sx\t%sx\t%s\n", ca.Scenario, ca.Case, ca.Subject, figure, short(ma), short(mb), ratio)
		}
	}
	return t.Flush()
}
