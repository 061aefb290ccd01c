package agents

import (
	"bytes"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/fold/foldtest"
	"github.com/agenthost/agenthost/wires/call"
)

func rendered(list []*fold.Batch) []byte {
	var out []byte
	for _, b := range list {
		out = append(out, b.Rendered(fold.AgentsWire, Render).Buf...)
	}
	return out
}

// generic is v as it stands in a parsed frame.
func generic(rt *rapid.T, v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		rt.Fatal(err)
	}
	var out any
	if err := stdjson.Unmarshal(raw, &out); err != nil {
		rt.Fatal(err)
	}
	return out
}

// One fold: whatever happens in a session, its stream is the same bytes live and from
// the store, at any borders of batches, and from behind each of its cursors; the turn
// that a stream ends with is the one that a look-up shows; and the items it told are
// those of the list.
func TestOneFold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := foldtest.Draw(rt)
		live, stored := h.Batches(h.Events), h.Batches(h.Stored())
		whole := rendered(live)
		if again := rendered(stored); !bytes.Equal(again, whole) {
			rt.Fatalf("live\n%s\nfrom the store\n%s", whole, again)
		}
		frames := parseStream(t, whole)
		if h.Settled() {
			checkOrder(t, frames)
		}
		if t.Failed() {
			rt.FailNow()
		}
		readsOn(rt, stored, whole, frames)

		ends, items := map[string]any{}, map[string][]any{}
		for _, f := range frames {
			switch f.Kind {
			case "agent.session.turn.completed", "agent.session.turn.failed", "agent.session.turn.cancelled":
				ends[f.str("turn_id")] = f.Data["turn"]
				if !reflect.DeepEqual(f.Data["usage"], f.object("turn")["usage"]) {
					rt.Fatalf("two usages in %s", f.Raw)
				}
			case "agent.session.turn.item.added": // a caller's message has no end
				if f.Data["output_index"] == nil {
					items[f.str("turn_id")] = append(items[f.str("turn_id")], f.Data["item"])
				}
			case "agent.session.turn.item.done":
				items[f.str("turn_id")] = append(items[f.str("turn_id")], f.Data["item"])
			}
		}
		for _, id := range h.Turns {
			session, turn := foldtest.Seen(stored, id)
			if !turn.Status.Ended() {
				continue
			}
			name := turnObject(session, turn).ID
			if want := generic(rt, turnObject(session, turn)); !reflect.DeepEqual(ends[name], want) {
				rt.Fatalf("the stream ends with %v, a look-up shows %v", ends[name], want)
			}
			told := map[string]any{}
			for _, it := range items[name] {
				id, _ := it.(map[string]any)["id"].(string)
				told[id] = it
			}
			list := slices.DeleteFunc(turn.AllItems(), func(i fold.ItemOf) bool { return !shows(i.Item) })
			if len(list) != len(told) || len(list) != len(items[name]) {
				rt.Fatalf("%d items were told, %d are listed", len(items[name]), len(list))
			}
			for _, it := range list {
				id, object := listedItem(it)
				if want := generic(rt, object); !reflect.DeepEqual(told[id], want) {
					rt.Fatalf("item %s was told as %v and is listed as %v", id, told[id], want)
				}
			}
		}
	})
}

// readsOn reads from behind each cursor of a stream.
func readsOn(rt *rapid.T, list []*fold.Batch, whole []byte, frames []frame) {
	rest := whole
	for i := range len(frames) + 1 {
		c := Cursor{K: WholeEvent}
		if i > 0 {
			rest = rest[len(frames[i-1].Raw):]
			var err error
			if c, err = ParseCursor(frames[i-1].str("event_id")); err != nil {
				rt.Fatal(err)
			}
		}
		src := &source{}
		if err := src.seek(c, func(int64) (call.Stream, error) { return foldtest.Read(list), nil }); err != nil {
			rt.Fatalf("behind %+v: %v", c, err)
		}
		var got []byte
		for {
			more, wake, _, err := src.Next()
			if err != nil {
				rt.Fatal(err)
			}
			if got = append(got, more...); wake != nil {
				break
			}
		}
		if !bytes.Equal(got, rest) {
			rt.Fatalf("behind %+v:\n%s\nnot\n%s", c, got, rest)
		}
	}
}
