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
	"fsync": {"p50_ms", "p99_ms"}, "turn": {"p50_ms", "p99_ms", "first_ms", "post_ms", "turns_per_s", "server_cpu_s", "cli_cpu_s", "client_cpu_s", "allocs_per_turn", "waits_per_turn", "lost"},
	"rate": {"events_per_s", "frames_per_s", "mb_per_s", "server_us_per_event", "allocs_per_event", "waits_per_event", "lost"}, "fan": {"deliveries_per_s", "server_us_per_delivery", "bytes_per_delivery", "rss_growth_mib", "lost"},
	"latency": {"p50_us", "p99_us", "max_us", "lost"}, "slow": {"p99_us", "p99_with_us", "p99_ratio", "slow_events", "rss_growth_mib", "lost"}, "persistent": {"p50_ms", "p95_ms"},
	"create": {"create_per_s", "create_cpu_us"}, "finished": {"turn_kib", "rss_deleted_mib"}, "passivated": {"session_kib", "rss_mib"}, "sessions": {"create_per_s", "create_cpu_us", "session_kib", "rss_mib"},
	"streams": {"stream_kib", "idle_cpu_percent"}, "overload": {"drain_s", "at_once", "shift", "refused", "lost", "rss_mib"}, "cancel": {"ended_ms", "gone_ms", "left", "descriptors_more"},
	"opening": {"last_ms", "p50_ms"}, "light": {"wait_share", "drain_s", "lost"}, "history": {"cpu_growth", "p50_growth"},
	Capacity: {"rss_mib", "grown_mib", "each_kib", "idle_cpu_percent", "goroutines", "answer_ms", "answer_empty_ms", "disk_mib", "seeded_per_s", "made_mib", "made_each_kib", "create_per_s", "start_per_s", "gone_ms", "left"},
	"load":   {"turns", "failed", "turns_per_s", "wait_p50_ms", "wait_p90_ms", "wait_p99_ms", "wait_p999_ms", "wait_max_ms", "first_p50_ms", "first_p99_ms", "work_p50_ms", "work_p99_ms"}, "errors": {"count"},
	"churn": {"rss_growth", "descriptors_more", "goroutines_more"},
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
	say("goal", "case", "subject", "verdict", "median", "smallest..largest", "with the sync", "hold", "aim")
	for _, v := range verdicts {
		say(v.Name, v.In, v.Subject, v.Judged+because(r, v), short(v.Value.Median), short(v.Value.Low)+".."+short(v.Value.High), synced(v), short(v.Hold), short(v.Aim))
	}
	for _, note := range r.Notes {
		say("note: " + note)
	}
	return t.Flush()
}

// synced is the median with what durability costs; "" where nothing was taken off.
func synced(v Verdict) string {
	if v.Less == "" {
		return ""
	}
	return short(v.Raw.Median)
}

// because says why a verdict is what it is: what kept it from being judged, or the
// profile of what takes too long.
func because(r *Result, v Verdict) string {
	why := ""
	if v.Why != "" {
		why = ": " + v.Why
	}
	if file := r.Flames[v.Scenario]; file != "" && (v.Judged == Missed || v.Judged == Inconclusive) {
		why += ", see " + file
	}
	return why
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

// floorNames are subjects that are no hosts.
var floorNames = []string{"spawn", "copy", Bare}

// floorOf is the subject that no host can beat in a case.
func floorOf(r *Result, c *Cell) string {
	for _, name := range floorNames {
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
	case math.IsInf(v, 0):
		return "-"
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

func coloured(text string, ratio float64, bigger bool) string {
	if bigger && ratio > 0 {
		ratio = 1 / ratio
	}
	switch {
	case ratio < 0.9:
		return "\x1b[32m" + text + "\x1b[0m"
	case ratio > 1.1:
		return "\x1b[31m" + text + "\x1b[0m"
	}
	return text
}

// Compare writes the medians of two results side by side. Absolute figures of two runs
// differ by what else the machines did; only the ratios to the plain host of the same
// run, or to the floor where there is none, can be compared, and they are what it shows.
//
// With colour set, what changed by more than a tenth is coloured: green where the second
// is better, red where it is worse; ratios only.
func Compare(w io.Writer, a, b *Result, colour bool) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "scenario\tcase\tsubject\tfigure\tother\tover it, first\tover it, second\tsecond over first")
	for i := range a.Cells {
		ca := &a.Cells[i]
		cb := b.Cell(ca.Scenario, ca.Case, ca.Subject)
		if cb == nil || ca.Subject == plain || ca.Subject == Control || slices.Contains(floorNames, ca.Subject) {
			continue
		}
		other := plain
		if a.Cell(ca.Scenario, ca.Case, plain) == nil {
			other = floorOf(a, ca)
		}
		for _, figure := range figuresOf(ca) {
			g := Goal{Figure: figure, Over: other}
			va, vb := paired(a, ca, g), paired(b, cb, g)
			if len(va) == 0 || len(vb) == 0 {
				continue
			}
			ma, mb := spread(va).Median, spread(vb).Median
			ratio := ""
			if ma != 0 {
				ratio = short(mb/ma) + "x"
				if colour { // the last column: its bytes move no other
					ratio = coloured(ratio, mb/ma, strings.HasSuffix(figure, "per_s"))
				}
			}
			_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%sx\t%sx\t%s\n", ca.Scenario, ca.Case, ca.Subject, figure, other, short(ma), short(mb), ratio)
		}
	}
	return t.Flush()
}
