package fold_test

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

var a, b, c = turnID(1), turnID(2), turnID(3)

func TestPlainTurn(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	v := j.views[0]
	want(t, "turn of the creation", v.Turn == nil, true)
	want(t, "session", v.Session.ID, j.set.ID)
	want(t, "owner", v.Session.Owner, "alice")
	want(t, "created", v.Session.Created, int64(start))
	want(t, "model", j.state.Settings().Agent.Model, "gpt-5.5")
	want(t, "at rest", j.state.AtRest(), true)

	v = j.accept(a, event.Input{Number: 7, WasIdle: true})
	want(t, "status", v.Turn.Status, fold.Queued)
	want(t, "ended", v.Turn.Status.Ended(), false)
	want(t, "times", []int64{v.Turn.Created, v.Turn.Started, v.Turn.Ended}, []int64{start + 2000, 0, 0})
	want(t, "open turns", v.Session.Open, 1)
	want(t, "at rest", j.state.AtRest(), false)

	v = j.start(a)
	want(t, "status", v.Turn.Status, fold.Running)
	want(t, "started", v.Turn.Started, int64(start+3000))

	j.add(event.Event{Kind: event.NativeSession, Turn: a, Text: "native-1"})
	j.say(a, "hi")
	v = j.end(a, event.End{Outcome: event.Completed, Usage: &event.Usage{Input: 5, Output: 2}, Carry: []byte("c")})
	want(t, "status", v.Turn.Status, fold.Completed)
	want(t, "ended", v.Turn.Status.Ended(), true)
	want(t, "ended at", v.Turn.Ended, int64(start+8000))
	want(t, "end", v.Turn.End.Outcome, event.Completed)
	want(t, "idle", v.Turn.End.Idle, true)
	want(t, "items", len(v.Turn.Items), 1)
	want(t, "answer", v.Turn.Items[0].Text, "hi")
	want(t, "item status", v.Turn.Items[0].Status, event.Done)
	want(t, "span", []int64{v.Turn.First, v.Turn.Last}, []int64{2, 8})
	want(t, "steps", v.Turn.Steps, int32(1+1+2+1+3+1))
	want(t, "turn's session", v.Turn.Session, j.set.ID)

	s := v.Session
	want(t, "open turns", s.Open, 0)
	want(t, "turns", s.Turns, int64(1))
	want(t, "usage", *s.Usage, event.Usage{Input: 5, Output: 2})
	want(t, "native", s.Native, "native-1")
	want(t, "carry", string(s.Carry), "c")
	want(t, "latest and completed", []event.ID{s.Latest, s.Completed}, []event.ID{a, a})
	want(t, "failing", s.Failing, false)
	want(t, "head", s.Head, int64(8))
	want(t, "last active", s.LastActive, int64(start+8000))
	want(t, "at rest", j.state.AtRest(), true)
	if _, ok := j.state.Turn(a); ok {
		t.Error("an ended turn is still open")
	}
}

func TestQueuedTurnsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	v := j.accept(b, event.Input{Waiting: true})
	want(t, "previous", v.Turn.Previous, a)
	want(t, "ordinal", v.Turn.Ordinal, int64(2))
	want(t, "open turns", v.Session.Open, 2)
	j.start(a)
	var open []event.ID
	for _, o := range j.state.OpenTurns() {
		open = append(open, o.ID)
	}
	want(t, "open turns", open, []event.ID{a, b})
	v = j.end(a, event.End{Outcome: event.Completed})
	want(t, "open turns", v.Session.Open, 1)
	want(t, "idle", v.Turn.End.Idle, false)
	want(t, "latest", v.Session.Latest, b)
	j.start(b)
	v = j.end(b, event.End{Outcome: event.Completed})
	want(t, "completed", v.Session.Completed, b)
	want(t, "turns", v.Session.Turns, int64(2))
}

func TestCancelledQueuedTurnNeverStarts(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.accept(b, event.Input{Waiting: true})
	j.start(a)
	v := j.end(b, event.End{Outcome: event.Cancelled})
	want(t, "status", v.Turn.Status, fold.Cancelled)
	want(t, "started", v.Turn.Started, int64(0))
	want(t, "items", len(v.Turn.AllItems()), 1)
	want(t, "failing while one runs", v.Session.Failing, false)
	v = j.end(a, event.End{Outcome: event.Completed})
	want(t, "latest", v.Session.Latest, b)
	want(t, "completed", v.Session.Completed, a)
	want(t, "failing", v.Session.Failing, true) // so a, the newest completed, may be continued
}

// Failing says when the newest completed turn may be continued in place of the
// newest one.
func TestFailingUntilTheNextInput(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	s := j.end(a, event.End{Outcome: event.Failed, Failure: event.Fail(event.CLICrashed, "gone")}).Session
	want(t, "failing", s.Failing, true)
	want(t, "completed", s.Completed, event.ID{})

	s = j.accept(b, event.Input{}).Session
	want(t, "failing", s.Failing, false)
	j.start(b)
	s = j.end(b, event.End{Outcome: event.Completed}).Session
	want(t, "failing", s.Failing, false)
	want(t, "completed", s.Completed, b)

	j.accept(c, event.Input{})
	s = j.end(c, event.End{Outcome: event.Cancelled}).Session
	want(t, "failing", s.Failing, true)
	want(t, "latest and completed", []event.ID{s.Latest, s.Completed}, []event.ID{c, b})
}

func TestOpenItemsShowWhatTheyHave(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	thought, message := j.open(a, event.Reasoning), j.open(a, event.Message)
	command, tool := j.open(a, event.Command), j.open(a, event.ToolCall)
	j.piece(a, &thought, "hm")
	j.piece(a, &message, "he")
	j.piece(a, &message, "llo")
	j.piece(a, &command, "file\n")
	turn, ok := j.state.Turn(a)
	want(t, "found", ok, true)
	want(t, "items", len(turn.Items), 4)
	for i, w := range []event.Item{thought, message, command, tool} {
		want(t, "item", *turn.Items[i], w)
	}
	j.piece(a, &tool, "result") // of a tool call it is output too
	message.Text = "hello, whole"
	j.done(a, message)
	turn, _ = j.state.Turn(a)
	want(t, "tool", *turn.Items[3], tool)
	want(t, "message", turn.Items[1].Text, "hello, whole")
	want(t, "message status", turn.Items[1].Status, event.Done)

	v := j.end(a, event.End{Outcome: event.Cancelled}) // what is open stays as it is
	want(t, "thought status", v.Turn.Items[0].Status, event.InProgress)
	want(t, "thought", v.Turn.Items[0].Text, "hm")
}

func TestItemMayComeWhole(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	j.add(event.Event{Kind: event.TextDelta, Turn: a, Item: event.ItemID(a, 9), Text: "of no item"})
	j.done(a, event.Item{ID: j.next(a), Type: event.Message, Text: "whole"})
	j.add(event.Event{Kind: event.ItemDone, Turn: a, Item: event.ItemID(a, 8)}) // unreadable
	turn, _ := j.state.Turn(a)
	want(t, "items", len(turn.Items), 1)
	want(t, "text", turn.Items[0].Text, "whole")
}

func TestSettingsHoldFromTheNextTurn(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	j.accept(b, event.Input{})
	j.accept(c, event.Input{Overrides: []byte(`{"model":"own","instructions":"brief"}`)})
	j.set.Agent.Model = "newer"
	if v := j.settings(event.SessionUpdated); v != nil {
		t.Error("an update has a view")
	}
	want(t, "settings", j.state.Settings().Agent.Model, "newer")
	model := func(turn event.ID) string {
		o, _ := j.state.Turn(turn)
		return o.Model()
	}
	want(t, "running", model(a), "gpt-5.5")
	want(t, "queued", model(b), "gpt-5.5")
	want(t, "its own", model(c), "own")
	j.end(a, event.End{Outcome: event.Completed})
	v := j.start(b)
	want(t, "started later", v.Turn.Model(), "newer")
	v = j.start(c)
	want(t, "its own", v.Turn.Model(), "own")
	want(t, "instructions", *v.Turn.Overrides().Instructions, "brief")
	v.Turn.Input = &event.Input{Overrides: []byte(`{`)} // damage changes nothing
	want(t, "model", v.Turn.Model(), "newer")
	want(t, "overrides", v.Turn.Overrides().Model == nil, true)
	want(t, "model without settings", (&fold.Turn{Input: &event.Input{}}).Model(), "")
}

func TestUsageSumsWhatWasTold(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	var sums []*event.Usage
	for i, u := range []*event.Usage{nil, {Input: 10, Cached: 4, Output: 1, MicroUSD: 7}, nil, {Input: 5, CacheWrite: 2, Output: 2, Reasoning: 1}} {
		id := turnID(byte(i + 1))
		j.accept(id, event.Input{})
		sums = append(sums, j.end(id, event.End{Outcome: event.Failed, Usage: u}).Session.Usage)
	}
	want(t, "none told", sums[0] == nil, true)
	want(t, "one", *sums[1], event.Usage{Input: 10, Cached: 4, Output: 1, MicroUSD: 7})
	want(t, "the silent one", *sums[2], *sums[1])
	want(t, "both", *sums[3], event.Usage{Input: 15, Cached: 4, CacheWrite: 2, Output: 3, Reasoning: 1, MicroUSD: 7})
}

// An empty carry is stored as none, so it must be none when it is live as well.
func TestEmptyCarryKeepsTheOldOne(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	for i, carry := range [][]byte{[]byte("kept"), {}, nil} {
		id := turnID(byte(i + 1))
		j.accept(id, event.Input{})
		want(t, "carry", string(j.end(id, event.End{Outcome: event.Completed, Carry: carry}).Session.Carry), "kept")
	}
}

func TestForgottenAndDeleted(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{Forget: true})
	j.start(a)
	j.say(a, "secret")
	v := j.end(a, event.End{Outcome: event.Completed, Usage: &event.Usage{Input: 1}})
	want(t, "items before", len(v.Turn.AllItems()), 2)
	want(t, "places", []int32{v.Turn.AllItems()[0].Index, v.Turn.AllItems()[1].Index}, []int32{-1, 0})
	want(t, "turn of an item", v.Turn.AllItems()[1].Turn, a)
	if j.add(event.Event{Kind: event.TurnForgotten, Turn: a}) != nil {
		t.Error("forgetting has a view")
	}
	gone := *v.Turn
	gone.Forgotten = true
	want(t, "items after", len(gone.AllItems()), 0)
	s := j.state.Session()
	want(t, "completed", s.Completed, a)
	want(t, "usage", s.Usage.Input, int64(1))
	want(t, "deleted", s.Deleted, false)
	j.add(event.Event{Kind: event.SessionDeleted})
	want(t, "deleted", j.state.Session().Deleted, true)
}

// What a newer version wrote counts and does nothing else.
func TestUnknownKindOnlyCounts(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.add(event.Event{Kind: 77})
	j.accept(a, event.Input{})
	j.add(event.Event{Kind: 78, Turn: a, Text: "x"})
	j.end(a, event.End{Outcome: event.Completed})
	j.add(event.Event{Kind: 79, Turn: a}) // of a turn that has ended
	j.add(event.Event{Kind: 80, Turn: b}) // of one that never was
	want(t, "head", j.state.Session().Head, int64(7))
	want(t, "at rest", j.state.AtRest(), true)
}

// An end that cannot be read is a failure, not a turn that runs for ever.
func TestUnreadableEndFails(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	v := j.add(event.Event{Kind: event.TurnEnded, Turn: a})
	want(t, "status", v.Turn.Status, fold.Failed)
	want(t, "code", v.Turn.End.Failure.Code, event.StorageFailed)
	j.accept(b, event.Input{})
	v = j.end(b, event.End{Outcome: 9})
	want(t, "an outcome of a newer version", v.Turn.Status, fold.Failed)
}

func TestDisorderIsRefused(t *testing.T) {
	t.Parallel()
	good := &event.Settings{JSON: []byte(`{}`)}
	created := event.Event{Kind: event.SessionCreated, Body: good}
	input := event.Event{Kind: event.InputAccepted, Turn: a, Body: &event.Input{}}
	ended := event.Event{Kind: event.TurnEnded, Turn: a, Body: &event.End{Outcome: event.Completed}}
	for name, c := range map[string]struct {
		events []event.Event
		says   string
	}{
		"a gap":                      {[]event.Event{created, {Seq: 3, Kind: event.Notice}}, "event 3 after 1"},
		"a repeat":                   {[]event.Event{created, {Seq: 1, Kind: event.Notice}}, "event 1 after 1"},
		"no creation":                {[]event.Event{{Kind: event.Notice}}, "created once"},
		"an input first":             {[]event.Event{input}, "created once"},
		"a second creation":          {[]event.Event{created, created}, "created once"},
		"a creation of nothing":      {[]event.Event{{Kind: event.SessionCreated}}, "no settings"},
		"an update of nothing":       {[]event.Event{created, {Kind: event.SessionUpdated, Body: &event.End{}}}, "no settings"},
		"settings that are no JSON":  {[]event.Event{{Kind: event.SessionCreated, Body: &event.Settings{JSON: []byte(`{`)}}}, "settings of event 1"},
		"an input of nothing":        {[]event.Event{created, {Kind: event.InputAccepted, Turn: a}}, "no input"},
		"an input of no turn":        {[]event.Event{created, {Kind: event.InputAccepted, Body: &event.Input{}}}, "none or open already"},
		"an input twice":             {[]event.Event{created, input, input}, "none or open already"},
		"a start of no turn":         {[]event.Event{created, {Kind: event.TurnStarted, Turn: b}}, "not open"},
		"a second end":               {[]event.Event{created, input, ended, ended}, "not open"},
		"a delta after the end":      {[]event.Event{created, input, ended, {Kind: event.TextDelta, Turn: a}}, "not open"},
		"a session event is allowed": {[]event.Event{created, {Kind: event.Notice}}, ""},
	} {
		s := fold.New()
		var err error
		for i, ev := range c.events {
			if ev.Seq == 0 {
				ev.Seq = int64(i + 1)
			}
			if _, err = s.Apply(&ev); err != nil && i < len(c.events)-1 {
				t.Fatalf("%s: event %d: %v", name, i, err)
			}
		}
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStatusWords(t *testing.T) {
	t.Parallel()
	for s, w := range map[fold.TurnStatus]string{
		fold.Queued: "queued", fold.Running: "in_progress", fold.Completed: "completed", fold.Failed: "failed", fold.Cancelled: "cancelled", 0: "unknown",
	} {
		want(t, "word", s.String(), w)
	}
}

func TestLostSessionIsNotResumedAgain(t *testing.T) {
	t.Parallel()
	lost := event.End{Outcome: event.Failed, Failure: event.Fail(event.ResumeLost, "the CLI does not know its session")}
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	j.add(event.Event{Kind: event.NativeSession, Turn: a, Text: "native-1"})
	j.end(a, event.End{Outcome: event.Completed, Carry: []byte("c")})

	j.accept(b, event.Input{})
	j.start(b)
	v := j.end(b, lost)
	want(t, "native session", v.Session.Native, "")
	want(t, "carry", len(v.Session.Carry), 0)

	j.accept(c, event.Input{})
	j.start(c)
	j.add(event.Event{Kind: event.NativeSession, Turn: c, Text: "native-2"})
	v = j.end(c, lost)
	want(t, "native session the CLI told instead", v.Session.Native, "native-2")
}

// A budget that is used up holds the session from its event to the one that lifts it,
// over a checkpoint too.
func TestBudgetHoldsUntilItIsLifted(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	j.end(a, event.End{Outcome: event.Completed, Usage: &event.Usage{Input: 12}})
	v := j.budget(false)
	want(t, "turn of the view", v.Turn == nil, true)
	want(t, "held by", *v.Session.Held, event.Budget{Name: "limits.max_session_tokens", Scope: event.SessionScope, Limit: 10, Used: 12})
	cp, err := j.state.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	back, err := fold.Restore(cp)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "held after a restart", *back.Session().Held, *v.Session.Held)
	want(t, "held after the lift", j.budget(true).Session.Held == nil, true)
	if _, err := j.state.Apply(&event.Event{Seq: j.state.Session().Head + 1, Kind: event.BudgetHit}); err == nil {
		t.Error("a budget without its body is folded")
	}
}
