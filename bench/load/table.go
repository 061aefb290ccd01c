package load

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/agenthost/agenthost/bench/report"
)

// Table writes what users met: a line a kind of turn, and a line an error.
func Table(w io.Writer, r *report.Result) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "turns\tdone\tfailed\tper s\twait p50\tp90\tp99\tp99.9\tmax\tfirst p50\tp99\t ms") // t keeps its first error
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Scenario != "load" || len(c.Reps) == 0 {
			continue
		}
		f := c.Reps[0]
		_, _ = fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%.1f", c.Case, f["turns"], f["failed"], f["turns_per_s"])
		for _, figure := range []string{"wait_p50_ms", "wait_p90_ms", "wait_p99_ms", "wait_p999_ms", "wait_max_ms", "first_p50_ms", "first_p99_ms"} {
			if v, ok := f[figure]; ok {
				_, _ = fmt.Fprintf(t, "\t%.0f", v)
			} else {
				_, _ = fmt.Fprint(t, "\t-")
			}
		}
		_, _ = fmt.Fprintln(t, "\t")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Scenario == "errors" {
			if _, err := fmt.Fprintf(w, "%s: %.0f\n", c.Case, c.Reps[0]["count"]); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(w, r.Settings["loop"])
	return err
}
