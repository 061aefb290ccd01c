package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// sample is a run in which the product takes twice what plain does in the first
// repetition and as much in the others.
func sample(noise float64) *Result {
	r := &Result{Schema: Schema, Profile: "quick"}
	for _, ms := range []float64{10, 20, 30} {
		r.Add("turn", "c=16", "plain", Figures{"p50_ms": ms, "server_cpu_s": 1})
		r.Add("turn", "c=16", Control, Figures{"p50_ms": ms * noise, "server_cpu_s": 1 * noise})
		factor := 1.0
		if ms == 10 {
			factor = 2
		}
		r.Add("turn", "c=16", "agents", Figures{"p50_ms": ms * factor, "server_cpu_s": 2, "lost": 0})
	}
	return r
}

func TestRatiosArePairedWithinARepetition(t *testing.T) {
	t.Parallel()
	g := Goal{Scenario: "turn", Case: "c=*", Subject: "agents", Figure: "p50_ms", Over: "plain", Hold: 1.15, Aim: 1}
	v := Judge(sample(1), []Goal{g})
	if len(v) != 1 || v[0].Value != (Spread{1, 1, 2}) || v[0].Judged != Reached {
		t.Errorf("%+v", v)
	}
}

func TestMissedGateFailsUnlessTheMachineIsNoisy(t *testing.T) {
	t.Parallel()
	g := Goal{Name: "cpu", Scenario: "turn", Case: "*", Subject: "agents", Figure: "server_cpu_s", Over: "plain", Hold: 1.2, Aim: 0.9, Gate: true}
	if v := Judge(sample(1.05), []Goal{g}); len(Fails(v)) != 1 || v[0].Judged != Missed {
		t.Errorf("a missed gate: %+v", v)
	}
	if v := Judge(sample(1.3), []Goal{g}); len(Fails(v)) != 0 || v[0].Judged != Inconclusive || v[0].Why == "" {
		t.Errorf("on a noisy machine: %+v", v)
	}
}

func TestDurabilityIsTakenOff(t *testing.T) {
	t.Parallel()
	r := sample(1)
	r.Add("fsync", "append", "fsync", Figures{"p50_ms": 5})
	g := Goal{Scenario: "turn", Case: "*", Subject: "agents", Figure: "p50_ms", Over: "plain", Less: "p50_ms", Hold: 1, Aim: 0}
	if v := Judge(r, []Goal{g}); v[0].Value.Low != 0.75 {
		t.Errorf("%+v", v[0].Value)
	}
}

// Both figures are shown: with and without what durability costs; the chart has the bound.
func TestSyncAndBoundAreShown(t *testing.T) {
	t.Parallel()
	r := sample(1)
	r.Add("fsync", "append", "fsync", Figures{"p50_ms": 5})
	r.Flames = map[string]string{"turn": "turn.svg"}
	v := Judge(r, Goals())
	if v[0].Raw.Median != 1 || v[0].Value.Median >= 1 {
		t.Errorf("%+v", v[0])
	}
	var table, chart, page, text bytes.Buffer
	if err := errors.Join(Markdown(&text, r, v), Table(&table, r, v), Chart(&chart, r), Page(&page, r, v, Picture{"turns", []byte("<svg id='x'/>")})); err != nil {
		t.Fatal(err)
	}
	for want, in := range map[string]string{"with the sync": table.String(), "missed, see turn.svg": table.String(), "bound of turn p50 over plain: 28": chart.String(), "<svg id='x'/>": page.String(), "missed, [profile](turn.svg) |": text.String()} {
		if !strings.Contains(in, want) {
			t.Errorf("no %q in\n%s", want, in)
		}
	}
}

// Only ratios are coloured, and by what is better.
func TestCompareColoursRatios(t *testing.T) {
	t.Parallel()
	one, two := sample(1), sample(1)
	for i := range two.Cells {
		if c := &two.Cells[i]; c.Subject == "agents" {
			for _, f := range c.Reps {
				f["server_cpu_s"] *= 2
			}
		}
	}
	var b bytes.Buffer
	if err := Compare(&b, one, two, true); err != nil || !strings.Contains(b.String(), "\x1b[31m2x\x1b[0m") || strings.Count(b.String(), "\x1b[") != 2 {
		t.Errorf("%v %q", err, b.String())
	}
}

func TestEveryGoalNamesWhatIsMeasured(t *testing.T) {
	t.Parallel()
	for _, g := range append(Goals(), Guards()...) {
		found := false
		for _, f := range mainFigures[g.Scenario] {
			found = found || f == g.Figure
		}
		if !found {
			t.Errorf("%s: scenario %s has no figure %s in the table", g.Name, g.Scenario, g.Figure)
		}
		if g.Bigger && g.Aim < g.Hold || !g.Bigger && g.Aim > g.Hold {
			t.Errorf("%s: the aim is weaker than the gate", g.Name)
		}
	}
}

func TestFormsHoldTheSameFigures(t *testing.T) {
	t.Parallel()
	r := sample(1)
	var j, table, chart, page bytes.Buffer
	v := Judge(r, Goals())
	if err := errors.Join(JSON(&j, r), Table(&table, r, v), Chart(&chart, r), Page(&page, r, v)); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&j)
	if err != nil || len(again.Cells) != len(r.Cells) {
		t.Fatalf("%v, %+v", err, again)
	}
	for name, out := range map[string]string{"table": table.String(), "page": page.String()} {
		if !strings.Contains(out, "plain-again") || !strings.Contains(out, "missed") {
			t.Errorf("%s: %s", name, out)
		}
	}
	d := xml.NewDecoder(&chart)
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the chart is no XML: %v", err)
		}
	}
	var cmp bytes.Buffer
	if err := Compare(&cmp, r, sample(1), false); err != nil || !strings.Contains(cmp.String(), "1x") {
		t.Errorf("%v %s", err, cmp.String())
	}
	if _, err := Read(strings.NewReader(`{"schema":99}`)); err == nil {
		t.Error("another schema is read")
	}
}

func TestAnotherBuildIsAColumn(t *testing.T) {
	t.Parallel()
	r := sample(1)
	var without, with bytes.Buffer
	if err := Table(&without, r, nil); err != nil || strings.Contains(without.String(), "over before") {
		t.Errorf("%v\n%s", err, without.String())
	}
	for range 3 {
		r.Add("turn", "c=16", "agents"+Before, Figures{"server_cpu_s": 4})
	}
	if err := Table(&with, r, nil); err != nil || !strings.Contains(with.String(), "over before") || !strings.Contains(with.String(), "0.50x") {
		t.Errorf("%v\n%s", err, with.String())
	}
}

func TestGrowthIsAPower(t *testing.T) {
	t.Parallel()
	r := &Result{}
	for n, kase := range map[float64]string{1000: "stored 1000", 10_000: "stored 10000", 100_000: "stored 100000"} {
		r.Add(Capacity, kase, "agents", Figures{"rss_mib": 70, "grown_mib": n * n, "left": 0})
	}
	r.Add(Capacity, "known 10", "agents", Figures{"rss_mib": 1})
	want := map[string]string{"rss_mib": "0.00", "grown_mib": "2.00", "left": "NaN"}
	all := Growths(r, "agents")
	for _, g := range all {
		if got := strings.TrimPrefix(fmt.Sprintf("%.2f", g.Exponent), "-"); g.Kind != "stored" || got != want[g.Figure] {
			t.Errorf("%s %s grows with %s", g.Kind, g.Figure, got)
		}
	}
	var b bytes.Buffer
	if err := GrowthTable(&b, all); err != nil || len(all) != 3 || !strings.Contains(b.String(), "2.00") {
		t.Errorf("%v %s", err, b.String())
	}
}
