package measure

import (
	"testing"

	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/bench/report"
)

// An engine that is slowed on purpose misses a guard, and the same build without the
// mistakes misses none. A quick run has the same guards.
func TestGuardsNoticeASlowedEngine(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and starts servers")
	}
	bin, err := hostproc.BuildTagged("slowed")
	if err != nil {
		t.Fatal(err)
	}
	for mistake, notices := range map[string]string{"": "", "sleep": "rate", "copy": "fan"} {
		t.Run("mistake "+mistake, func(t *testing.T) {
			t.Parallel()
			o := Options{Self: bin.Server, Fake: bin.Fake, Run: []string{"rate", "fan"}, Subjects: []string{agentsName}, Reps: 1, ServerEnv: []string{"AGENTHOST_SLOWED=" + mistake}}
			if notices != "" {
				o.Run = []string{notices}
			}
			o.Cases = []string{"deltas 200", pacedFan}
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			verdicts := report.Judge(r, report.Guards())
			if len(verdicts) == 0 {
				t.Fatal("no guard was judged")
			}
			for _, c := range r.Cells {
				t.Logf("%s, %s: %v", c.Scenario, c.Case, c.Reps)
			}
			switch fails := report.Fails(verdicts); {
			case notices == "" && len(fails) > 0:
				t.Errorf("missed without a mistake: %+v", fails)
			case notices != "" && len(fails) == 0:
				t.Errorf("not noticed: %+v", verdicts)
			}
		})
	}
}
