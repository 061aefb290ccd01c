package event

import (
	"encoding/json"
	"strconv"
)

var kindNames = [...]string{
	SessionCreated: "session.created", SessionUpdated: "session.updated", SessionDeleted: "session.deleted",
	InputAccepted: "input.accepted", TurnStarted: "turn.started", NativeSession: "native_session",
	ItemStarted: "item.started", TextDelta: "text.delta", ReasoningDelta: "reasoning.delta",
	OutputDelta: "output.delta", ItemDone: "item.done", Notice: "notice", Unknown: "unknown",
	TurnEnded: "turn.ended", TurnForgotten: "turn.forgotten", Skipped: "skipped",
	TurnWaiting: "turn.waiting", CallAnswered: "call.answered", LegStarted: "leg.started", TurnResumed: "turn.resumed",
	SubagentItem: "subagent.item", SubagentStarted: "subagent.started",
	ItemsPosted: "items.posted", ItemRemoved: "item.removed",
	BudgetHit: "budget.hit", InputSteered: "input.steered", EnvironmentChanged: "environment.changed",
}

// Kinds lists the closed set in the order of the numbers, for tests that need one
// sample of each.
func Kinds() []Kind {
	ks := make([]Kind, 0, len(kindNames))
	for k, name := range kindNames {
		if name != "" {
			ks = append(ks, Kind(k))
		}
	}
	return ks
}

// String is the kind's name in dumps; "kind_" and its number for one that this
// version does not know.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "kind_" + strconv.Itoa(int(k))
}

// MarshalJSON writes an event as one flat object, the form of `store dump` and
// `run --json`. A Settings body that is no JSON is an error.
func (e Event) MarshalJSON() ([]byte, error) {
	out := struct {
		Seq   int64           `json:"seq"`
		At    int64           `json:"at"`
		Kind  string          `json:"kind"`
		Turn  string          `json:"turn,omitempty"`
		Item  string          `json:"item,omitempty"`
		Index *int32          `json:"index,omitempty"`
		Step  int32           `json:"step,omitempty"`
		Text  string          `json:"text,omitempty"`
		Body  json.RawMessage `json:"body,omitempty"`
	}{Seq: e.Seq, At: e.At, Kind: e.Kind.String(), Step: e.Step, Text: e.Text}
	if !e.Turn.IsZero() {
		out.Turn = e.Turn.With(PrefixTurn)
	}
	if !e.Item.IsZero() {
		out.Item, out.Index = e.Item.With(PrefixItem), &e.Index
	}
	switch b := e.Body.(type) {
	case nil:
	case *Settings:
		out.Body = b.JSON
	default:
		raw, err := json.Marshal(shown(b))
		if err != nil {
			return nil, err
		}
		out.Body = raw
	}
	return json.Marshal(out)
}
