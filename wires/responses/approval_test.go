package responses

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
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
