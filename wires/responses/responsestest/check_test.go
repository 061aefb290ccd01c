package responsestest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/responses/responsestest"
)

// story reads the frames of a golden file of the wire.
func story(t *testing.T, name string) []responsestest.Frame {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + name + ".golden")
	if err != nil {
		t.Fatal(err)
	}
	var stream []byte
	for _, block := range bytes.SplitAfter(b, []byte("\n\n")) {
		if bytes.HasPrefix(block, []byte("event: ")) {
			stream = append(stream, block...)
		}
	}
	frames, err := responsestest.Parse(stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := responsestest.Check(frames); err != nil {
		t.Fatal(err)
	}
	return frames
}

// renumbered is frames with the numbers of a whole stream.
func renumbered(frames []responsestest.Frame) []responsestest.Frame {
	out := append([]responsestest.Frame(nil), frames...)
	for i := range out {
		out[i].Seq = int64(i)
	}
	return out
}

func TestEveryMissingOrDoubledFrameIsFound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"all_items", "failed_tools", "cancelled_running", "plain_turn", "failed_turn"} {
		frames := story(t, name)
		for i, f := range frames {
			without := append(append([]responsestest.Frame(nil), frames[:i]...), frames[i+1:]...)
			if responsestest.Check(renumbered(without)) == nil {
				t.Errorf("%s: without frame %d (%s) it passes", name, i, f.Type)
			}
			if responsestest.Check(without) == nil {
				t.Errorf("%s: a gap at %d passes", name, i)
			}
			twice := append(append([]responsestest.Frame(nil), frames[:i+1]...), frames[i:]...)
			if responsestest.Check(renumbered(twice)) == nil {
				t.Errorf("%s: with frame %d (%s) twice it passes", name, i, f.Type)
			}
			if i == 0 || f.Data["output_index"] != frames[i-1].Data["output_index"] {
				continue
			}
			swapped := append([]responsestest.Frame(nil), frames...)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			if responsestest.Check(renumbered(swapped)) == nil {
				t.Errorf("%s: with frames %d and %d swapped it passes", name, i-1, i)
			}
		}
	}
}

// change gives a copy of frame n with its data changed.
func change(t *testing.T, frames []responsestest.Frame, n int, edit func(map[string]any)) []responsestest.Frame {
	t.Helper()
	out := append([]responsestest.Frame(nil), frames...)
	d := json.NewDecoder(bytes.NewReader(out[n].Raw))
	d.UseNumber()
	var data map[string]any
	if err := d.Decode(&data); err != nil {
		t.Fatal(err)
	}
	edit(data)
	out[n].Data = data
	return out
}

func TestEveryMissingFieldIsFound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"all_items", "failed_turn"} {
		frames := story(t, name)
		for i, f := range frames {
			for field := range f.Data {
				switch field {
				case "type", "sequence_number", "logprobs": // judged by Parse, or optional
					continue
				}
				if responsestest.Check(change(t, frames, i, func(d map[string]any) { delete(d, field) })) == nil {
					t.Errorf("%s: frame %d (%s) passes without %s", name, i, f.Type, field)
				}
			}
			r, ok := f.Data["response"].(map[string]any)
			if !ok {
				continue
			}
			for field := range r {
				switch field {
				case "max_output_tokens", "max_tool_calls": // optional
					continue
				}
				if responsestest.Check(change(t, frames, i, func(d map[string]any) { delete(d["response"].(map[string]any), field) })) == nil {
					t.Errorf("%s: frame %d (%s) passes without response.%s", name, i, f.Type, field)
				}
			}
		}
	}
}

func TestWrongValuesAreFound(t *testing.T) {
	t.Parallel()
	frames := story(t, "plain_turn") // created, in_progress, added, part, 2 deltas, done, part, item, completed
	response := func(f func(r map[string]any)) func(map[string]any) {
		return func(d map[string]any) { f(d["response"].(map[string]any)) }
	}
	for _, x := range []struct {
		what string
		n    int
		edit func(map[string]any)
	}{
		{"output null", 9, response(func(r map[string]any) { r["output"] = nil })},
		{"output empty", 9, response(func(r map[string]any) { r["output"] = []any{} })},
		{"usage null", 9, response(func(r map[string]any) { r["usage"] = nil })},
		{"usage without details", 9, response(func(r map[string]any) { r["usage"] = map[string]any{"input_tokens": 1.0} })},
		{"usage too early", 1, response(func(r map[string]any) { r["usage"] = frames[9].Data["response"].(map[string]any)["usage"] })},
		{"another id", 9, response(func(r map[string]any) { r["id"] = "resp_2" })},
		{"an error on completed", 9, response(func(r map[string]any) { r["error"] = map[string]any{} })},
		{"no model", 0, response(func(r map[string]any) { r["model"] = "" })},
		{"another object", 0, response(func(r map[string]any) { r["object"] = "reply" })},
		{"tools null", 0, response(func(r map[string]any) { r["tools"] = nil })},
		{"metadata null", 0, response(func(r map[string]any) { r["metadata"] = nil })},
		{"status of the end at the start", 0, response(func(r map[string]any) { r["status"] = "completed" })},
		{"item id empty", 2, func(d map[string]any) { d["item"].(map[string]any)["id"] = "" }},
		{"item done at once", 2, func(d map[string]any) { d["item"].(map[string]any)["status"] = "completed" }},
		{"another item", 4, func(d map[string]any) { d["item_id"] = "item_2" }},
		{"another index", 4, func(d map[string]any) { d["output_index"] = json.Number("1") }},
		{"another part", 4, func(d map[string]any) { d["content_index"] = json.Number("1") }},
		{"no index", 4, func(d map[string]any) { d["output_index"] = "0" }},
		{"empty delta", 4, func(d map[string]any) { d["delta"] = "" }},
		{"another text", 6, func(d map[string]any) { d["text"] = "Hullo." }},
		{"part of another text", 7, func(d map[string]any) { d["part"].(map[string]any)["text"] = "x" }},
		{"item still open", 8, func(d map[string]any) { d["item"].(map[string]any)["status"] = "in_progress" }},
		{"item of another type", 8, func(d map[string]any) { d["item"].(map[string]any)["type"] = "reasoning" }},
		{"item without content", 8, func(d map[string]any) { d["item"].(map[string]any)["content"] = []any{} }},
	} {
		if responsestest.Check(change(t, frames, x.n, x.edit)) == nil {
			t.Errorf("%s passes", x.what)
		}
	}
	for typ, n := range map[string]int{"response.reasoning_summary_text.delta": 4, "response.invented": 4, "response.queued": 1, "response.failed": 9} {
		wrong := append([]responsestest.Frame(nil), frames...)
		wrong[n].Type = typ
		if responsestest.Check(wrong) == nil {
			t.Errorf("%s at %d passes", typ, n)
		}
	}
	if responsestest.Check(nil) == nil {
		t.Error("an empty stream passes")
	}
}

func TestOnlyWellFormedStreamsParse(t *testing.T) {
	t.Parallel()
	const good = "event: a\ndata: {\"type\":\"a\",\"sequence_number\":7}\n\n"
	frames, err := responsestest.Parse([]byte(": ok\n" + good + ": ping\n: ping\n" + good + ": ping\n"))
	if err != nil || len(frames) != 2 || frames[1].Seq != 7 || frames[1].Type != "a" {
		t.Errorf("%v, %v", frames, err)
	}
	for _, bad := range []string{
		": ping\n\n" + good,
		": ping",
		"id: 1\n" + good,
		"retry: 5\n\n",
		"event: a\n\n",
		"data: {}\n\n",
		"event: a\ndata: {\"type\":\"b\",\"sequence_number\":1}\n\n",
		"event: a\ndata: {\"type\":\"a\"}\n\n",
		"event: a\ndata: {\"type\":\"a\",\"sequence_number\":1.5}\n\n",
		"event: a\ndata: {\"type\":\"a\",\ndata: \"sequence_number\":1}\n\n",
		"event: a\ndata: {oops}\n\n",
		strings.TrimSuffix(good, "\n"),
		"event: a\ndata: {\"type\":\"a\",\"sequence_number\":1,\"x\":\"" + strings.Repeat("x", 8<<20) + "\"}\n\n",
	} {
		if _, err := responsestest.Parse([]byte(bad)); err == nil {
			t.Errorf("%.80q parses", bad)
		}
	}
}
