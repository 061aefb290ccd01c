package fold_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"pgregory.net/rapid"
)

// tester is what a test and a property test share.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// journal writes a session's events as its actor does: stamped, then folded.
type journal struct {
	t      tester
	state  *fold.State
	clock  int64
	events []event.Event
	views  []*fold.View
	texts  []string            // of the views, when they were new
	items  map[event.ID]uint32 // items of a turn so far
	set    spec.Session
}

const start = 1_796_000_000_000

func turnID(n byte) event.ID { return event.ID{0: 0x70, 11: n} }

// newJournal has a session that was created a second ago.
func newJournal(t tester) *journal {
	j := &journal{t: t, state: fold.New(), clock: start, items: map[event.ID]uint32{}, set: spec.Session{
		ID: event.ID{0x5e}, Owner: "alice", Created: start,
		Agent:    spec.Agent{Adapter: "codex", Model: "gpt-5.5", Tools: json.RawMessage(`[{"type":"web_search"}]`)},
		Metadata: map[string]string{"team": "a<b"},
	}}
	j.settings(event.SessionCreated)
	return j
}

func (j *journal) add(ev event.Event) *fold.View {
	j.t.Helper()
	j.clock += 1000
	ev.At = j.clock
	j.state.Stamp(&ev)
	v, err := j.state.Apply(&ev)
	if err != nil {
		j.t.Fatal(err)
	}
	j.events, j.views, j.texts = append(j.events, ev), append(j.views, v), append(j.texts, frozenView(v))
	return v
}

func (j *journal) settings(k event.Kind) *fold.View {
	raw, err := json.Marshal(&j.set)
	if err != nil {
		j.t.Fatal(err)
	}
	return j.add(event.Event{Kind: k, Body: &event.Settings{JSON: raw}})
}

func (j *journal) accept(turn event.ID, in event.Input) *fold.View {
	in.Items = []*event.Item{{ID: j.next(turn), Type: event.Message, Status: event.Done, User: true, Text: "hello"}}
	return j.add(event.Event{Kind: event.InputAccepted, Turn: turn, Body: &in})
}

func (j *journal) budget(lifted bool) *fold.View {
	return j.add(event.Event{Kind: event.BudgetHit, Body: &event.Budget{
		Name: "limits.max_session_tokens", Scope: event.SessionScope, Limit: 10, Used: 12, Lifted: lifted,
	}})
}

func (j *journal) start(turn event.ID) *fold.View {
	return j.add(event.Event{Kind: event.TurnStarted, Turn: turn})
}

func (j *journal) next(turn event.ID) event.ID {
	n := j.items[turn]
	j.items[turn]++
	return event.ItemID(turn, n)
}

func (j *journal) open(turn event.ID, typ event.ItemType) event.Item {
	it := event.Item{ID: j.next(turn), Type: typ, Status: event.InProgress}
	if typ == event.Command {
		it.Command = "ls"
	}
	body := it
	j.add(event.Event{Kind: event.ItemStarted, Turn: turn, Item: it.ID, Body: &body})
	return it
}

// answer closes what was asked with status and tells the answer.
func (j *journal) answer(turn event.ID, it event.Item, status event.Status) event.ID {
	if it.Status = status; status == event.ItemFailed {
		it.Error = "no such city"
	}
	j.done(turn, it)
	a := &event.Item{ID: event.AnswerID(turn, it.ID), Type: event.FunctionOutput, Status: status, Call: it.ID, Output: "rain", Error: it.Error}
	if it.Type == event.Approval {
		a = &event.Item{ID: a.ID, Type: event.ApprovalAnswer, Status: status, Call: it.ID, Approved: true}
	}
	j.add(event.Event{Kind: event.CallAnswered, Turn: turn, Item: a.ID, Body: a})
	return a.ID
}

func (j *journal) wait(turn event.ID) *fold.View {
	return j.add(event.Event{Kind: event.TurnWaiting, Turn: turn})
}

func (j *journal) leg(turn event.ID, leg event.Leg) *fold.View {
	return j.add(event.Event{Kind: event.LegStarted, Turn: turn, Body: &leg})
}

func (j *journal) resume(turn event.ID) *fold.View {
	return j.add(event.Event{Kind: event.TurnResumed, Turn: turn})
}

// piece is a delta of it, which is kept up to date.
func (j *journal) piece(turn event.ID, it *event.Item, text string) {
	kind, whole := event.TextDelta, &it.Text
	switch it.Type {
	case event.Message:
	case event.Reasoning:
		kind = event.ReasoningDelta
	default:
		kind, whole = event.OutputDelta, &it.Output
	}
	*whole += text
	j.add(event.Event{Kind: kind, Turn: turn, Item: it.ID, Text: text})
}

func (j *journal) done(turn event.ID, it event.Item) {
	if it.Status == event.InProgress {
		it.Status = event.Done
	}
	j.add(event.Event{Kind: event.ItemDone, Turn: turn, Item: it.ID, Body: &it})
}

func (j *journal) end(turn event.ID, end event.End) *fold.View {
	end.Idle = j.state.Session().Open == 1
	return j.add(event.Event{Kind: event.TurnEnded, Turn: turn, Body: &end})
}

// say is a whole message.
func (j *journal) say(turn event.ID, text string) {
	it := j.open(turn, event.Message)
	j.piece(turn, &it, text)
	it.Phase = event.FinalAnswer
	j.done(turn, it)
}

// replay folds stored events on s and gives each one's view.
func replay(t tester, s *fold.State, events []event.Event) []*fold.View {
	t.Helper()
	views := make([]*fold.View, len(events))
	for i := range events {
		var err error
		if views[i], err = s.Apply(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	return views
}

// stored is events as they come back from a journal.
func stored(t tester, events []event.Event) []event.Event {
	t.Helper()
	var e event.Encoder
	for i := range events {
		if err := e.Append(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	out, err := event.Decode(nil, e.Buf)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameState compares all that a state shows.
func sameState(t tester, what string, got, want *fold.State) {
	t.Helper()
	g, w := frozen(got.Session(), got.OpenTurns()), frozen(want.Session(), want.OpenTurns())
	if g != w || got.AtRest() != want.AtRest() {
		t.Fatalf("%s: the state is\n%s\nwant\n%s", what, g, w)
	}
}

func sameViews(t tester, what string, got, want []*fold.View) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d views, want %d", what, len(got), len(want))
	}
	for i := range got {
		if g, w := frozenView(got[i]), frozenView(want[i]); g != w {
			t.Fatalf("%s: view %d is\n%s\nwant\n%s", what, i, g, w)
		}
	}
}

// frozen is everything the objects lead to, as text: empty and nil are one in it,
// as they are in what is stored.
func frozen(s fold.Session, turns []*fold.Turn) string {
	type whole struct {
		*fold.Turn
		Items     []*event.Item
		Subagents []*fold.Subagent
		Answers   []fold.Answer
		Settings  *spec.Session
	}
	out := struct {
		Session  fold.Session
		Settings *spec.Session
		Turns    []whole
	}{Session: s, Settings: s.Settings}
	for _, t := range turns {
		out.Turns = append(out.Turns, whole{t, t.Items, t.Subagents, t.Answers, t.Settings})
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func frozenView(v *fold.View) string {
	switch {
	case v == nil:
		return "none"
	case v.Subagent != nil:
		b, err := json.Marshal(v.Subagent)
		return frozen(v.Session, nil) + string(b) + fmt.Sprint(err)
	case v.Turn == nil:
		return frozen(v.Session, nil)
	}
	return frozen(v.Session, []*fold.Turn{v.Turn})
}

// known is the fate of the turns of a drawn history, kept apart from the fold.
type known struct {
	accepted []event.ID
	status   map[event.ID]fold.TurnStatus
}

// drawJournal writes any history that the engine could; after sees it behind each
// event.
func drawJournal(t *rapid.T, after func(j *journal, k *known)) *journal {
	j := newJournal(t)
	k := &known{status: map[event.ID]fold.TurnStatus{}}
	var queued []event.ID
	var running event.ID
	var open []event.Item
	var calls []event.ID // of subagents
	// asked is open, answers was said to what is not any more; a turn that waits has
	// asked something or is about to go on.
	var asked []event.Item
	var answers []event.ID
	legs := map[event.ID]int32{}
	text := rapid.StringN(1, 6, -1)
	end := func(turn event.ID, o event.Outcome) {
		e := event.End{Outcome: o}
		if rapid.Bool().Draw(t, "usage told") {
			e.Usage = &event.Usage{Input: rapid.Int64Range(0, 99).Draw(t, "in"), Output: 1}
		}
		switch rapid.IntRange(0, 3).Draw(t, "carry") {
		case 0:
			e.Carry = []byte{}
		case 1:
			e.Carry = []byte(text.Draw(t, "carried"))
		}
		if o == event.Failed {
			e.Failure = event.Fail(event.CLICrashed, "it crashed")
		}
		j.end(turn, e)
		k.status[turn] = map[event.Outcome]fold.TurnStatus{
			event.Completed: fold.Completed, event.Failed: fold.Failed, event.Cancelled: fold.Cancelled,
		}[o]
	}
	length := 5 * rapid.IntRange(0, 20).Draw(t, "length")
	for range length {
		switch move := rapid.IntRange(0, 18).Draw(t, "move"); {
		case move == 18:
			j.budget(rapid.Bool().Draw(t, "lifted"))
		case move == 0 && len(queued) < 3 && len(k.accepted) < 200:
			id := turnID(byte(len(k.accepted) + 1))
			in := event.Input{Number: int64(len(k.accepted)), WasIdle: j.state.AtRest(), Waiting: rapid.Bool().Draw(t, "waiting")}
			if rapid.Bool().Draw(t, "overrides") {
				in.Overrides = []byte(`{"model":"m"}`)
			}
			j.accept(id, in)
			queued, k.accepted = append(queued, id), append(k.accepted, id)
			k.status[id] = fold.Queued
		case move == 1:
			j.set.Agent.Model = text.Draw(t, "model")
			j.settings(event.SessionUpdated)
		case move == 2 && len(queued) > 0:
			i := rapid.IntRange(0, len(queued)-1).Draw(t, "cancelled")
			end(queued[i], event.Cancelled)
			queued = slices.Delete(queued, i, i+1)
		case move == 3 && len(k.accepted) > 0:
			if id := rapid.SampledFrom(k.accepted).Draw(t, "forgotten"); k.status[id].Ended() {
				j.add(event.Event{Kind: event.TurnForgotten, Turn: id})
			}
		case running.IsZero() && len(queued) > 0:
			running, queued = queued[0], queued[1:]
			j.start(running)
			k.status[running] = fold.Running
		case running.IsZero():
			continue
		case k.status[running] == fold.Waiting && len(asked) > 0 && move < 11:
			status := rapid.SampledFrom([]event.Status{event.Done, event.ItemFailed, event.Incomplete}).Draw(t, "answer")
			if it := asked[0]; status == event.Incomplete {
				it.Status = status
				j.done(running, it) // the CLI gave it up
			} else {
				answers = append(answers, j.answer(running, it, status))
			}
			asked = asked[1:]
		case k.status[running] == fold.Waiting && len(asked) == 0 && move < 14:
			legs[running]++
			j.leg(running, event.Leg{
				Number: legs[running], Answers: answers, Background: rapid.Bool().Draw(t, "background"),
				Wire: rapid.SampledFrom([]string{"", "responses"}).Draw(t, "wire"), Echo: []byte(`{}`),
			})
			answers = nil
			k.status[running] = fold.Running
			if move < 10 {
				j.resume(running)
			}
		case k.status[running] == fold.Waiting && move != 14:
			continue
		case move == 15 && len(asked) == 0:
			for _, it := range open {
				it.Status = event.Incomplete
				j.done(running, it)
			}
			open = nil
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				asked = append(asked, j.open(running, rapid.SampledFrom([]event.ItemType{event.FunctionCall, event.Approval}).Draw(t, "ask")))
			}
			j.wait(running)
			k.status[running] = fold.Waiting
		case move <= 6:
			it := j.open(running, event.ItemType(rapid.IntRange(int(event.Message), int(event.Subagent)).Draw(t, "type")))
			if open = append(open, it); it.Type == event.Subagent {
				calls = append(calls, it.ID)
			}
		case move <= 10 && len(open) > 0:
			j.piece(running, &open[rapid.IntRange(0, len(open)-1).Draw(t, "of")], text.Draw(t, "piece"))
		case move == 11:
			kind := rapid.SampledFrom([]event.Kind{event.NativeSession, event.Notice, event.Unknown, 77}).Draw(t, "aside")
			j.add(event.Event{Kind: kind, Turn: running, Text: text.Draw(t, "text")})
		case move <= 13 && len(open) > 0:
			i := rapid.IntRange(0, len(open)-1).Draw(t, "closed")
			j.done(running, open[i])
			open = slices.Delete(open, i, i+1)
		case move == 14:
			for _, it := range append(open, asked...) {
				it.Status = event.Incomplete
				j.done(running, it)
			}
			asked, answers = nil, nil
			end(running, rapid.SampledFrom([]event.Outcome{event.Completed, event.Failed, event.Cancelled}).Draw(t, "outcome"))
			open, calls, running = nil, nil, event.ID{}
		case move >= 15 && len(calls) > 0:
			it := event.Item{
				ID: j.next(running), Type: event.Message, Status: event.Done, Text: text.Draw(t, "said"),
				Parent: rapid.SampledFrom(calls).Draw(t, "of a call"),
			}
			kind := event.SubagentItem
			switch rapid.IntRange(0, 3).Draw(t, "their move") {
			case 0:
				kind, it.Type, it.Status = event.SubagentStarted, event.Subagent, event.InProgress
				calls = append(calls, it.ID)
			case 1: // a call of theirs that is over, or was never told
				it.ID, it.Type = rapid.SampledFrom(append(calls, it.ID)).Draw(t, "which"), event.Subagent
			}
			j.add(event.Event{Kind: kind, Turn: running, Item: it.ID, Body: &it})
		default:
			continue
		}
		if after != nil {
			after(j, k)
		}
	}
	return j
}

var _ tester = (*testing.T)(nil)

// want fails unless got and want print the same.
func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s is %s, want %s", what, g, w)
	}
}
