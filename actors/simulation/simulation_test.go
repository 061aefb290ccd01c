package simulation

import (
	"flag"
	"testing"
)

var (
	seedFlag = flag.Uint64("seed", 0, "run this seed only")
	steps    = flag.Int("steps", 50_000, "steps of one run")
	runs     = flag.Int("runs", 20, "runs, each with a seed of its own")
)

// play is one run; every so often clients are silent until all is done.
func play(seed uint64, steps int, f faults) (*world, error) {
	w := newWorld(seed, f)
	for n := 0; n < steps && w.judge.verdict == nil; n++ {
		w.step()
		if n%5000 == 4999 {
			w.settle()
		}
	}
	w.settle()
	return w, w.judge.verdict
}

func TestEngineKeepsItsPromises(t *testing.T) {
	t.Parallel()
	if *seedFlag != 0 {
		w, err := play(*seedFlag, *steps, faults{})
		t.Log(w)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for n := range *runs {
		seed := uint64(n + 1)
		w, err := play(seed, *steps, faults{})
		if err != nil {
			t.Fatalf("seed %d (go test ./actors/simulation -seed %d): %v", seed, seed, err)
		}
		if n == 0 {
			t.Log(w)
		}
	}
}

func TestSeedDecidesEverything(t *testing.T) {
	t.Parallel()
	a, err := play(7, 20_000, faults{})
	b, again := play(7, 20_000, faults{})
	if err != nil || again != nil {
		t.Fatal(err, again)
	}
	if a.judge.trace != b.judge.trace || a.String() != b.String() || a.judge.trace == 0 {
		t.Errorf("two runs of one seed differ: %s and %s", a, b)
	}
}

// TestJudgeNoticesBrokenRules breaks one rule at a time.
func TestJudgeNoticesBrokenRules(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]faults{
		"a slot is not returned":                 {skipReturn: true},
		"one slot too many":                      {extraSlot: true},
		"acknowledged before the commit":         {ackEarly: true},
		"spawned before the start is stored":     {spawnEarly: true},
		"started turns run again":                {rerunStarted: true},
		"queued turns run newest first":          {reorder: true},
		"the next turn starts before the sweep":  {doneEarly: true},
		"events of a turn that ended are stored": {lateEvents: true},
		"held turns are started":                 {heldStarts: true},
		"a waiting turn goes on without a slot":  {goOnSlotless: true},
		"too many wait without a slot":           {parkAll: true},
		"answers acknowledged before the commit": {answerEarly: true},
		"an answer is delivered twice":           {deliverTwice: true},
		"nobody is held to a bound":              {unbounded: true},
		"the newest of a principal is first":     {newestFirst: true},
		"an asking turn is not heard":            {loseAsk: true},
		"a principal starves":                    {starve: true},
		"a message for a turn is lost":           {loseSteers: true},
		"a message for a turn is doubled":        {steerAlways: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 40; seed++ {
				if _, err := play(seed, 20_000, f); err != nil {
					t.Logf("seed %d: %.200v", seed, err)
					return
				}
			}
			t.Error("nobody noticed")
		})
	}
}
