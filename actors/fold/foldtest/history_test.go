package foldtest_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold/foldtest"
	"pgregory.net/rapid"
)

// undrawn are kinds that no history has, and why. A new kind gets a move, or stands
// here.
var undrawn = map[event.Kind]string{
	event.SessionDeleted: "nothing follows it",
}

func TestHistoriesHaveEverything(t *testing.T) {
	t.Parallel()
	kinds, items, ends := map[event.Kind]int{}, map[event.ItemType]int{}, map[event.Outcome]int{}
	settled := map[bool]int{}
	draw := func(rt *rapid.T) {
		h := foldtest.Draw(rt)
		settled[h.Settled()]++
		for i := range h.Events {
			kinds[h.Events[i].Kind]++
			switch b := h.Events[i].Body.(type) {
			case *event.Item:
				items[b.Type]++
			case *event.End:
				ends[b.Outcome]++
			}
		}
	}
	for range 50 { // some of it is rare
		rapid.Check(t, draw)
	}
	for _, k := range event.Kinds() {
		if why := undrawn[k]; (kinds[k] == 0) != (why != "") {
			t.Errorf("%s was drawn %d times (%s)", k, kinds[k], why)
		}
	}
	for typ := event.Message; typ <= event.ApprovalAnswer; typ++ {
		if items[typ] == 0 {
			t.Errorf("no item of type %s", typ)
		}
	}
	for o := event.Completed; o <= event.Cancelled; o++ {
		if ends[o] == 0 {
			t.Errorf("no turn is %s", o)
		}
	}
	if settled[true] == 0 || settled[false] == 0 {
		t.Errorf("settled: %v", settled)
	}
}
