package responses

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
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
