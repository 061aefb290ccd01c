package schedule

import (
	"reflect"
	"strings"
	"testing"
)

func TestSameSeedSameSchedule(t *testing.T) {
	t.Parallel()
	for n := range 30 {
		a, b, c := Plan{7}.Cycle(n), Plan{7}.Cycle(n), Plan{8}.Cycle(n)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("cycle %d differs:\n%+v\n%+v", n, a, b)
		}
		if reflect.DeepEqual(a.Sessions, c.Sessions) {
			t.Errorf("cycle %d is the same for another seed", n)
		}
	}
	if text := (Plan{7}).Text(5); text == (Plan{8}).Text(5) || strings.Count(text, "\n") != 5 {
		t.Errorf("the text is %q", text)
	}
}

// A run has everything in it: each fault before any comes twice, both wires and both
// drivers in each cycle, and a cancel for what would never end.
func TestScheduleHasEverything(t *testing.T) {
	t.Parallel()
	p := Plan{3}
	if len(p.Cycle(0).Faults) != 0 {
		t.Error("the first cycle is disturbed")
	}
	faults, kindsSeen := map[FaultKind]int{}, map[Kind]bool{}
	var readers, deletes, cancels int
	cycles := (len(All) + perCycle - 1) / perCycle
	for n := range cycles + 1 {
		c := p.Cycle(n)
		ways := map[string]bool{}
		for _, f := range c.Faults {
			faults[f.Kind]++
		}
		for _, s := range c.Sessions {
			ways[s.Wire+s.Adapter] = true
			readers += len(s.Readers)
			if s.Delete > 0 {
				deletes++
			}
			for _, in := range s.Inputs {
				kindsSeen[in.Kind] = true
				if in.Cancel > 0 {
					cancels++
				}
				if in.Kind.Unending() && in.Cancel == 0 {
					t.Errorf("%s never ends", in.Tag)
				}
				if !strings.HasPrefix(in.Prompt("7"), "tag:"+in.Tag+" ") || strings.Contains(in.Prompt("7"), Nap) {
					t.Errorf("prompt %q", in.Prompt("7"))
				}
			}
		}
		if len(ways) != 6 {
			t.Errorf("cycle %d has %v", n, ways)
		}
	}
	for _, k := range All {
		if faults[k] == 0 {
			t.Errorf("no %s in %d cycles", k, cycles)
		}
	}
	if len(kindsSeen) < 12 || readers == 0 || deletes == 0 || cancels == 0 {
		t.Errorf("%d kinds, %d readers, %d deletes, %d cancels", len(kindsSeen), readers, deletes, cancels)
	}
}
