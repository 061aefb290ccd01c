package responses_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/fold/foldtest"
	"github.com/agenthost/agenthost/wires/responses"
	"github.com/agenthost/agenthost/wires/responses/responsestest"
)

// framesOf joins the frames of a turn's leg.
func framesOf(list []*fold.Batch, turn event.ID, leg int32) []byte {
	var out []byte
	for _, b := range list {
		f := b.Rendered(fold.ResponsesWire, responses.Render)
		for i := range b.Events {
			if b.Events[i].Turn == turn && b.Events[i].Leg == leg {
				out = append(out, f.Of(i)...)
			}
		}
	}
	return out
}

// readAll reads a stream to its end, or to where it would wait.
func readAll(rt *rapid.T, next func() ([]byte, <-chan struct{}, bool, error)) []byte {
	var out []byte
	for {
		frames, wake, done, err := next()
		if err != nil {
			rt.Fatal(err)
		}
		if out = append(out, frames...); done || wake != nil {
			return out
		}
	}
}

// One fold: whatever happens in a session, the stream of a response is the same
// bytes live and from the store, at any borders of batches, and from behind each of
// its frames; its last object is what an unstreamed request answers and a retrieve
// shows; and the items it told are the output.
func TestOneFold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := foldtest.Draw(rt)
		live, stored := h.Batches(h.Events), h.Batches(h.Stored())
		for _, turn := range h.Turns {
			_, whole := foldtest.Seen(stored, turn)
			for leg := range int32(max(1, len(whole.Legs))) {
				part, ok := whole.Part(leg)
				if !ok {
					rt.Fatalf("no leg %d of %d", leg, len(whole.Legs))
				}
				oneLeg(rt, live, stored, turn, leg, part)
			}
		}
	})
}

// oneLeg reads a response in every way; part is it as the store gives it.
func oneLeg(rt *rapid.T, live, stored []*fold.Batch, turn event.ID, leg int32, part *fold.Turn) {
	whole := framesOf(live, turn, leg)
	if again := framesOf(stored, turn, leg); !bytes.Equal(again, whole) {
		rt.Fatalf("live\n%s\nfrom the store\n%s", whole, again)
	}
	frames, err := responsestest.Parse(whole)
	if err != nil {
		rt.Fatal(err)
	}
	rest, skip := whole, int64(-1)
	for i := range len(frames) + 1 {
		got := readAll(rt, responses.Reading(foldtest.Read(stored), turn, leg, part.First-1, skip))
		if !bytes.Equal(got, rest) {
			rt.Fatalf("behind %d:\n%s\nnot\n%s", skip, got, rest)
		}
		if i < len(frames) {
			skip = frames[i].Seq
			_, rest, _ = bytes.Cut(rest, []byte("\n\n"))
		}
	}
	if part.Status.Ended() {
		oneObject(rt, whole, live, turn, leg, part)
	}
}

// closed numbers frames without the gaps that a crash of the machine leaves.
func closed(rt *rapid.T, frames []responsestest.Frame) []responsestest.Frame {
	out := slices.Clone(frames)
	for i := range out {
		if i > 0 && frames[i].Seq <= frames[i-1].Seq {
			rt.Fatalf("frame %d has number %d", i, frames[i].Seq)
		}
		out[i].Seq = int64(i)
	}
	return out
}

// oneObject compares all that is told of a response that has ended; stored is it as
// the store gives it.
func oneObject(rt *rapid.T, whole []byte, live []*fold.Batch, turn event.ID, leg int32, stored *fold.Turn) {
	frames, err := responsestest.Parse(whole)
	if err != nil {
		rt.Fatal(err)
	}
	if err := responsestest.Check(closed(rt, frames)); err != nil {
		rt.Fatalf("%v in\n%s", err, whole)
	}
	retrieved := responses.Encode(responses.Of(stored))
	last := frames[len(frames)-1].Raw
	if !bytes.Contains(last, append([]byte(`"response":`), retrieved...)) {
		rt.Fatalf("the stream ends with\n%s\na retrieve shows\n%s", last, retrieved)
	}
	at := slices.IndexFunc(live, func(b *fold.Batch) bool { _, ok := responses.Ended(b, turn, leg); return ok })
	if at < 0 {
		rt.Fatal("who waits for the end never finds it")
	}
	ended, _ := responses.Ended(live[at], turn, leg)
	if answered := responses.Encode(responses.Of(ended)); !bytes.Equal(answered, retrieved) {
		rt.Fatalf("answered\n%s\na retrieve shows\n%s", answered, retrieved)
	}
	told := map[int]json.RawMessage{}
	for _, f := range frames {
		if f.Type != "response.output_item.done" {
			continue
		}
		var d struct {
			Index int             `json:"output_index"`
			Item  json.RawMessage `json:"item"`
		}
		if err := json.Unmarshal(f.Raw, &d); err != nil {
			rt.Fatal(err)
		}
		told[d.Index] = d.Item
	}
	output := responses.Of(stored).Output
	if len(told) != len(output) {
		rt.Fatalf("%d items were told, the output has %d", len(told), len(output))
	}
	for i, item := range output {
		if !bytes.Equal(told[i], item) {
			rt.Fatalf("item %d was told as\n%s\nthe output has\n%s", i, told[i], item)
		}
	}
}
