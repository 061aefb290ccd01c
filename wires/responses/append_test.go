package responses

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

func TestAppendedItemsLookAsEncodedOnes(t *testing.T) {
	t.Parallel()
	texts := []string{"", "plain", "a \"word\"\n<&>\u2028\x00 é 漢字 😀", "bad \xff\xc3", strings.Repeat("long <text> ", 1000)}
	for kind := event.Message; kind <= event.Approval; kind++ {
		for status := event.InProgress; status <= event.Incomplete; status++ {
			for ph := event.NoPhase; ph <= event.FinalAnswer; ph++ {
				for _, text := range texts {
					it := &event.Item{ID: event.NewTurnID(), Type: kind, Status: status, Phase: ph, Text: text, Output: text}
					want := string(encode(outputItem(it)))
					if got := string(appendItem(nil, it, nil)); got != want {
						t.Fatalf("%s\nwant %s", got, want)
					}
					if it.Type == event.Message || it.Type == event.Reasoning {
						if got := string(appendItem([]byte("x"), it, appendString(nil, text))); got != "x"+want {
							t.Fatalf("%s\nwant x%s", got, want)
						}
					}
					quoted := appendString(nil, text)
					if got, want := string(appendText(nil, quoted)), string(encode(textOf(text))); got != want {
						t.Fatalf("%s\nwant %s", got, want)
					}
					if got, want := string(appendSummary(nil, quoted)), string(encode(summaryText{"summary_text", text})); got != want {
						t.Fatalf("%s\nwant %s", got, want)
					}
				}
			}
		}
	}
}

func TestAppendedResponsesLookAsEncodedOnes(t *testing.T) {
	t.Parallel()
	text := `,"output":[] and \"output\":[]`
	for n := range 4 {
		turn := &fold.Turn{
			ID: event.NewTurnID(), Session: event.NewID(), Status: fold.Completed, End: &event.End{Outcome: event.Completed},
			Input: &event.Input{Echo: []byte(`{"metadata":{",\"output\":[]":",\"output\":[]","output":"[]"},"instructions":",\"output\":[]","tools":[{"output":[]}]}`)},
		}
		for range n {
			turn.Items = append(turn.Items, &event.Item{ID: event.NewID(), Type: event.Message, Status: event.Done, Text: text})
		}
		r := Of(turn)
		if got, want := string(appendResponse([]byte("x"), r)), "x"+string(encode(r)); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
