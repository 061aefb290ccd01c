package fold

import (
	"encoding/json"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Session is a session as of one event. It is a value: what its pointers lead to
// is never changed afterwards.
type Session struct {
	ID      event.ID `json:"id"`
	Owner   string   `json:"owner"`
	Created int64    `json:"created"` // Unix milliseconds, like all times here
	// LastActive is the time of the last event that changed it.
	LastActive int64         `json:"last_active"`
	Settings   *spec.Session `json:"-"`
	// Open counts queued and running turns, and messages on their way into a running
	// one; the session is idle at 0.
	Open int `json:"open,omitempty"`
	// Turns counts all turns ever accepted, and notes: it numbers both.
	Turns int64 `json:"turns,omitempty"`
	// Usage sums the ended turns that told theirs; nil when none did.
	Usage *event.Usage `json:"usage,omitempty"`
	// Native is the CLI's own session id, Carry what its adapter keeps.
	Native string `json:"native,omitempty"`
	Carry  []byte `json:"carry,omitempty"`
	// Latest is the newest turn, Completed the newest completed one, and Failing
	// says that every turn after Completed ended failed or cancelled.
	Latest    event.ID `json:"latest,omitzero"`
	Completed event.ID `json:"completed,omitzero"`
	Failing   bool     `json:"failing,omitempty"`
	// Required are the items that a waiting turn asks of the caller.
	Required []*event.Item `json:"required,omitempty"`
	Deleted  bool          `json:"deleted,omitempty"`
	// Held is the budget that keeps queued turns from starting; nil when none does.
	Held *event.Budget `json:"held,omitempty"`
	// Head is the last event's number.
	Head int64 `json:"head"`
	// Isolation is that of the newest turn that told it.
	Isolation string `json:"isolation,omitempty"`
}

// TurnStatus is where a turn stands.
type TurnStatus uint8

// Statuses of a turn.
const (
	Queued TurnStatus = iota + 1
	Running
	Completed
	Failed
	Cancelled
	// Waiting is a turn that asked something of its caller. (The numbers are stored.)
	Waiting
)

// String is the word of the Agents wire.
func (s TurnStatus) String() string {
	switch s {
	case Queued:
		return "queued"
	case Running:
		return "in_progress"
	case Completed:
		return "completed"
	case Failed:
		return "failed"
	case Cancelled:
		return "cancelled"
	case Waiting:
		return "waiting"
	default:
		return "unknown"
	}
}

// Ended reports whether nothing more happens to the turn.
func (s TurnStatus) Ended() bool { return s >= Completed && s <= Cancelled }

// Turn is a turn as of one event, immutable like Session.
type Turn struct {
	ID      event.ID   `json:"id"`
	Session event.ID   `json:"session"`
	Ordinal int64      `json:"ordinal"`
	Status  TurnStatus `json:"status"`
	// Created, Started and Ended are Unix milliseconds; 0 when not yet.
	Created int64        `json:"created"`
	Started int64        `json:"started,omitempty"`
	Ended   int64        `json:"ended,omitempty"`
	Input   *event.Input `json:"input"`
	// End is set once Status.Ended.
	End *event.End `json:"end,omitempty"`
	// Settings are the session's when the turn was accepted (replaced at start,
	// when an update came in between).
	Settings *spec.Session `json:"-"`
	// Items are the output items in index order. An item that is still open
	// appears with what it has so far, in progress.
	Items []*event.Item `json:"-"`
	// Answers are what callers said while it ran, in order.
	Answers []Answer `json:"-"`
	// Legs are the requests that the turn answers, once it has waited for its caller;
	// nil before that.
	Legs []*Leg `json:"legs,omitempty"`
	// Subagents are those that worked for it, in the order they began.
	// SubagentCount is how many, known where they are not read.
	Subagents     []*Subagent `json:"-"`
	SubagentCount int         `json:"subagents,omitempty"`
	// Steps counts the steps of the turn's newest leg so far.
	Steps int32 `json:"steps"`
	// First and Last are the numbers of its first and newest event.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	// Previous is the turn before it in its session.
	Previous event.ID `json:"previous,omitzero"`
	// Forgotten says that its items were removed.
	Forgotten bool `json:"forgotten,omitempty"`
	// Note says that it is no turn but what was posted at once without asking for one:
	// completed from the start, its items in Input.
	Note bool `json:"note,omitempty"`
	// Removed are items that were taken out one by one, and legs with all of theirs. The
	// turn's own objects still tell them, lists do not.
	Removed []event.ID `json:"removed,omitempty"`
}

// Record is the body of the turn's stored record: without what was said in it, which
// is in the journal.
func (t *Turn) Record() []byte {
	slim := *t
	slim.Input = &event.Input{
		Number: t.Input.Number, Wire: t.Input.Wire, Background: t.Input.Background, Forget: t.Input.Forget,
	}
	slim.Legs = make([]*Leg, len(t.Legs))
	for i, l := range t.Legs {
		own := *l
		if l.Input != nil {
			own.Input = &event.Input{Wire: l.Input.Wire, Background: l.Input.Background, Forget: l.Input.Forget}
		}
		slim.Legs[i] = &own
	}
	body, _ := json.Marshal(&slim) // of plain values: it cannot fail
	return body
}

// Model is the model the caller named for this turn: its own, else the settings'.
func (t *Turn) Model() string {
	if o := t.overrides(); o != nil && o.Model != nil {
		return *o.Model
	}
	if t.Settings == nil {
		return ""
	}
	return t.Settings.Agent.Model
}

// ItemOf is an item with the turn it belongs to.
type ItemOf struct {
	Turn event.ID
	// Index is the item's place among the turn's output items; -1 for the
	// caller's messages.
	Index int32
	Item  *event.Item
}

// AllItems lists a turn's items, the caller's messages first and its answers where
// they came; none of a forgotten turn, and none that was removed.
func (t *Turn) AllItems() []ItemOf {
	if t.Forgotten {
		return nil
	}
	out := make([]ItemOf, 0, len(t.Input.Items)+len(t.Items)+len(t.Answers))
	for _, it := range t.Input.Items {
		out = append(out, ItemOf{Turn: t.ID, Index: -1, Item: it})
	}
	answers := t.Answers
	answered := func(before int32) {
		for len(answers) > 0 && answers[0].At <= before {
			out = append(out, ItemOf{Turn: t.ID, Index: -1, Item: answers[0].Item})
			answers = answers[1:]
		}
	}
	for i, it := range t.Items {
		answered(int32(i))
		out = append(out, ItemOf{Turn: t.ID, Index: int32(i), Item: it})
	}
	answered(int32(len(t.Items)))
	gone := t.Hidden()
	if len(gone) == 0 {
		return out
	}
	return slices.DeleteFunc(out, func(i ItemOf) bool { return gone[i.Item.ID] })
}

// Hidden are the items that no list shows: those of Removed, and those of its legs.
func (t *Turn) Hidden() map[event.ID]bool {
	if len(t.Removed) == 0 {
		return nil
	}
	gone := make(map[event.ID]bool, len(t.Removed))
	add := func(items []*event.Item) {
		for _, it := range items {
			gone[it.ID] = true
		}
	}
	for _, id := range t.Removed {
		gone[id] = true
		_, number, ok := event.LegOf(id)
		if !ok {
			continue
		}
		if part, ok := t.Part(number); ok {
			add(part.Items)
			add(part.Input.Items)
		}
	}
	return gone
}
