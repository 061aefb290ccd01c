package responses_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	jsoniter "github.com/json-iterator/go"
	"pgregory.net/rapid"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/responses"
)

// drawTurn writes a random turn that keeps the engine's promises.
func drawTurn(rt *rapid.T, h *history, turn event.ID) {
	text := func(label string) string { return strings.ToValidUTF8(rapid.String().Draw(rt, label), "\uFFFD") }
	pieces := func() []string {
		return rapid.SliceOfN(rapid.StringN(1, 20, -1), 1, 5).Draw(rt, "pieces")
	}
	h.input(turn, event.Input{
		Waiting: rapid.Bool().Draw(rt, "waiting"), Forget: rapid.Bool().Draw(rt, "forget"),
		Background: rapid.Bool().Draw(rt, "background"),
	})
	if rapid.IntRange(0, 9).Draw(rt, "cancelled early") == 0 {
		h.end(event.End{Outcome: event.Cancelled})
		return
	}
	h.start()
	status := rapid.SampledFrom([]event.Status{event.Done, event.Done, event.ItemFailed, event.Incomplete})
	for range rapid.IntRange(0, 6).Draw(rt, "items") {
		switch kind := event.ItemType(rapid.IntRange(1, 7).Draw(rt, "type")); kind {
		case event.Message:
			h.message(event.Commentary, pieces()...)
		case event.Reasoning:
			h.reasoning(pieces()...)
		default:
			it := event.Item{
				Type: kind, Server: text("server"), Tool: text("tool"), Command: text("command"), Cwd: text("cwd"), Query: text("query"), URL: text("url"),
				Changes: []event.Change{{Path: text("path"), Kind: "add"}},
			}
			if kind == event.ToolCall {
				raw, err := json.Marshal(text("arguments"))
				if err != nil {
					rt.Fatal(err)
				}
				it.Arguments = string(raw)
			}
			h.tool(it, func(it *event.Item) {
				it.Status, it.Output, it.Error = status.Draw(rt, "status"), text("output"), text("error")
				if rapid.Bool().Draw(rt, "exited") {
					it.ExitCode = ptr(rapid.IntRange(0, 3).Draw(rt, "exit"))
				}
			})
		}
		if rapid.Bool().Draw(rt, "notice") {
			h.add(event.Event{Kind: event.Notice, Turn: turn, Text: "n"})
		}
	}
	switch rapid.IntRange(0, 2).Draw(rt, "outcome") {
	case 0:
		h.message(event.FinalAnswer, pieces()...).completed()
	case 1:
		code := rapid.SampledFrom([]event.Code{event.CLICrashed, event.MaxOutputTokens, event.TurnLimit, event.RateLimited}).Draw(rt, "code")
		h.end(event.End{Outcome: event.Failed, Failure: event.Fail(code, text("message"))})
	default:
		h.end(event.End{Outcome: event.Cancelled})
	}
}

func TestStreamsDoNotDependOnBatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t)
		turns := []event.ID{turnOne, turnTwo}
		for _, turn := range turns {
			drawTurn(rt, h, turn)
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 7), 0, 40).Draw(rt, "sizes")
		for _, turn := range turns {
			whole := h.stream(turn)
			if split := h.stream(turn, sizes...); !bytes.Equal(whole, split) {
				rt.Fatalf("batches of %v change the stream", sizes)
			}
			judge(t, whole, h.view(turn))
		}
	})
}

func TestStringsAreEscapedLikeObjects(t *testing.T) {
	t.Parallel()
	check := func(s string) {
		want, err := jsoniter.ConfigCompatibleWithStandardLibrary.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := responses.AppendString(nil, s); !bytes.Equal(got, want) {
			t.Fatalf("%q: got %s, want %s", s, got, want)
		}
		var back string
		plain := responses.AppendPlain(nil, s)
		if err := json.Unmarshal(plain, &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
			t.Fatalf("%q: plain form %s reads as %q, %v", s, plain, back, err)
		}
		if n := responses.EncodedLen(s); utf8.ValidString(s) && n < len(want) {
			t.Fatalf("%q: takes %d bytes, foretold %d", s, len(want), n)
		}
	}
	for _, s := range []string{"", "a", "\x00\x01\x1f\x7f", "<>&'\"\\/\b\f\n\r\t", "\u2028\u2029", "ä€🙂", "\xff", "a\xc3", "\xed\xa0\x80", "\uFFFD"} {
		check(s)
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rapid.String().Draw(rt, "s"))
		check(string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")))
	})
}
