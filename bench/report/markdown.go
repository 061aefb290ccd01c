package report

import (
	"fmt"
	"io"
	"strings"
)

// about is one line on where and how a run was made.
func about(r *Result) string {
	return fmt.Sprintf("agenthost %s (%s), %s profile, %s; %d cores, %s, Linux %s, %s; load before %s, after %s",
		r.Version, r.Commit, r.Profile, r.Started.Format("2006-01-02 15:04 MST"), r.Machine.Cores, r.Machine.CPU, r.Machine.Kernel, r.Machine.Go, r.Machine.LoadBefore, r.Machine.LoadAfter)
}

// Markdown writes the goals with their verdicts, and what was not reached, for a page of
// documentation.
func Markdown(w io.Writer, r *Result, verdicts []Verdict) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# What `agenthost bench` found\n\n%s.\n\nWritten by `agenthost bench --out`; do not edit. A value is the median of the paired repetitions with the smallest and largest; [how to read it](../performance.md). *Reached* is the aim, *held* the bound; *inconclusive* is a bound that was missed while the plain host differed from itself by more than a tenth.\n\n", about(r))
	count := map[string]int{}
	for _, v := range verdicts {
		count[v.Judged]++
	}
	fmt.Fprintf(&b, "%d reached, %d held, %d missed, %d inconclusive.\n\n| goal | case | wire or subject | value | range | with the sync | at least | aim | verdict |\n|---|---|---|---|---|---|---|---|---|\n",
		count[Reached], count[Held], count[Missed], count[Inconclusive])
	for _, v := range verdicts {
		verdict := v.Judged
		if v.Why != "" {
			verdict += ": " + v.Why
		}
		if file := r.Flames[v.Scenario]; file != "" && (v.Judged == Missed || v.Judged == Inconclusive) {
			verdict += ", [profile](" + file + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s..%s | %s | %s | %s | %s |\n", v.Name, v.In, v.Subject, short(v.Value.Median), short(v.Value.Low), short(v.Value.High), synced(v), short(v.Hold), short(v.Aim), verdict)
	}
	if len(r.Notes) > 0 {
		b.WriteString("\nNotes:\n\n")
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(n, "\n", " "))
	}
	if list := Growths(r, "agents"); len(list) > 0 {
		b.WriteString("\nHow each grows: as the count to the power given, 1 in proportion, 0 not at all.\n\n| kind | figure | at each count | power |\n|---|---|---|---|\n")
		for _, g := range list {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", g.Kind, g.Figure, g.points(), g.power())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
