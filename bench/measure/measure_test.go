package measure

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/bench/report"
)

func TestRunsAreJudgedByWhatRan(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs")
	text := "t0 start 10 1\nt2 start 11 2\nt0 end 20 1\nt1 start 21 3\n- start 22 9\nt1 end 30 3\nt2 end 31 2\nt1 start 40 4\nt1 end 41 4\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := runs(file)
	if err != nil || r.atOnce != 2 || r.twice != 1 || len(r.order) != 4 || r.shift() != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A CLI that lives on is measured beside its own protocol.
func TestLongLivedCLIIsBesideItsProtocol(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and starts servers")
	}
	bin, err := hostproc.Build()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Options{Self: bin.Server, Fake: bin.Fake, Run: []string{"persistent"}, Cases: []string{standinCodex}, Reps: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{report.Bare, responsesName, agentsName} {
		if s, ok := r.Cell("persistent", standinCodex, name).Of("p50_ms"); !ok || s.Median <= 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Every subject answers a turn with everything that the CLI said, so that what is
// compared does the same work.
func TestSubjectsDoTheSameWork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts servers")
	}
	bin, err := hostproc.Build()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Options{Self: bin.Server, Fake: bin.Fake, Run: []string{"fsync", "smoke"}, Reps: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		for _, kase := range []string{"codex", "claude"} {
			c := r.Cell("smoke", kase, name)
			if c == nil || c.Reps[0]["events"] != 100 || c.Reps[0]["lost"] != 0 {
				t.Errorf("%s, %s: %+v", kase, name, c)
			}
		}
	}
	if r.Cell("fsync", "append", "fsync") == nil {
		t.Error("no sync was measured")
	}
}
