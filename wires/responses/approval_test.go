package responses

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

// An approval's answer says that it is one; a function's output says that it is not.
func TestAnswersSayWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	item, yes := event.ItemID(event.NewTurnID(), 1), true
	a, err := readApproval("input[0]", &itemBody{ApprovalID: item.With(event.PrefixItem), Approve: &yes})
	if err != nil || !a.Permission || !a.Approve || a.Item != item {
		t.Errorf("%+v, %v", a, err)
	}
	var in itemBody
	in.CallID, in.Output = item.With(event.PrefixCall), []byte(`"rain"`)
	a, err = readOutput("input[0]", &in)
	if err != nil || a.Permission || a.Output != "rain" || a.Item != item {
		t.Errorf("%+v, %v", a, err)
	}
}

// A message to a turn that waits is refused, in words that tell an answer in the wrong
// place from none.
func TestMessageToAWaitingTurnIsRefused(t *testing.T) {
	t.Parallel()
	call := &event.Item{ID: event.ItemID(event.NewTurnID(), 1), Type: event.FunctionCall}
	waiting := &fold.Session{Required: []*event.Item{call}}
	message := &saidItem{role: "user"}
	answer := &saidItem{answer: &saidAnswer{Answer: spec.Answer{Item: call.ID}}}
	for want, said := range map[string][]*saidItem{
		"no tool output found for function call " + call.ID.With(event.PrefixCall): {message},
		"is followed by other items": {answer, message},
	} {
		if err := unanswered(waiting, &input{said: said}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v instead of %q", err, want)
		}
	}
	if err := unanswered(&fold.Session{}, &input{said: []*saidItem{message}}); err != nil {
		t.Error(err)
	}
}

// An id that cannot be shown is not shown as one.
func TestAMissingItemIsToldInWords(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"": "there is no item with this id", "\n": "there is no item with this id", "item_1": "there is no item with the id item_1"} {
		if err := noItem("item_id", id); !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
