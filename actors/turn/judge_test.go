package turn

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

// judge watches one turn's effects and says which promise was broken. It folds
// what is emitted, as a session would.
type judge struct {
	turn     event.ID
	state    *fold.State
	open     map[event.ID]event.ItemType
	calls    map[event.ID]bool // of subagents; true while they are open
	reports  map[event.ID]int  // final answers of subagents
	text     map[event.ID]*strings.Builder
	seen     map[event.ID]bool
	final    int
	newest   event.ID // the message started last
	answer   event.ID // the message that is the final answer
	ended    *event.End
	finished bool
	armed    map[Timer]bool
	asked    bool // for a process
	spawned  bool // a process is there
	wait     waitJudge
	steer    steerJudge
	resumed  bool // in this Step
}

func newJudge(turn event.ID) *judge {
	j := &judge{
		turn: turn, state: fold.New(), calls: map[event.ID]bool{}, reports: map[event.ID]int{}, open: map[event.ID]event.ItemType{},
		text: map[event.ID]*strings.Builder{}, seen: map[event.ID]bool{}, armed: map[Timer]bool{},
		wait: newWaitJudge(),
	}
	for _, ev := range []event.Event{
		{Kind: event.SessionCreated, Body: &event.Settings{JSON: []byte(`{"id":"` + event.ID{9}.Hex() + `"}`)}},
		{Kind: event.InputAccepted, Turn: turn, Body: &event.Input{Number: 1}},
	} {
		if err := j.fold(ev); err != nil {
			panic(err)
		}
	}
	return j
}

func (j *judge) fold(ev event.Event) error {
	j.state.Stamp(&ev)
	_, err := j.state.Apply(&ev)
	return err
}

// input notes what the owner promises about the process.
func (j *judge) input(in Input) {
	j.wait.input(in)
	j.steer.input(in)
	switch in := in.(type) {
	case Elapsed:
		delete(j.armed, in.Timer)
	case Spawned: // of nobody's asking: there is no process
		j.spawned = j.spawned || j.asked
		j.asked = false
	case SpawnFailed:
		j.asked = false
	case Gone:
		j.spawned = false
	}
}

func (j *judge) effects(effects []Effect) error {
	for i, e := range effects {
		if j.finished {
			if _, ok := e.(Refuse); !ok {
				return fmt.Errorf("%T after Finished", e)
			}
		}
		if err := j.wait.effect(e); err != nil {
			return err
		}
		if err := j.steer.effect(e, j.ended != nil); err != nil {
			return err
		}
		switch e := e.(type) {
		case Emit:
			if i > 0 || len(e.Events) == 0 {
				return fmt.Errorf("Emit of %d events at place %d", len(e.Events), i)
			}
			for _, ev := range e.Events {
				if err := j.event(ev); err != nil {
					return fmt.Errorf("%s: %w", ev.Kind, err)
				}
			}
		case Arm:
			if e.After <= 0 {
				return fmt.Errorf("arm %s after %s", e.Timer, e.After)
			}
			j.armed[e.Timer] = true
		case Disarm:
			if !j.armed[e.Timer] {
				return fmt.Errorf("disarm of %s, which is not armed", e.Timer)
			}
			delete(j.armed, e.Timer)
		case Spawn:
			if j.spawned || j.asked {
				return fmt.Errorf("a second process")
			}
			j.asked = true
		case Terminate, Kill:
			if !j.spawned {
				return fmt.Errorf("%T without a process", e)
			}
		case Finished:
			switch {
			case j.ended == nil:
				return fmt.Errorf("Finished before TurnEnded")
			case j.spawned:
				return fmt.Errorf("Finished before Gone")
			case len(j.armed) > 0:
				return fmt.Errorf("Finished with armed timers %v", j.armed)
			}
			j.finished = true
		}
	}
	if err := j.clocks(); err != nil {
		return err
	}
	if j.resumed {
		j.resumed = false
		return j.wait.allDelivered()
	}
	return nil
}

// clocks: while a turn waits, no limit of the CLI's runs, and the caller's only while
// something is asked.
func (j *judge) clocks() error {
	if !j.wait.parked && !j.wait.resuming {
		return nil
	}
	for timer := range j.armed {
		if timer != SettleTimer && (timer != WaitTimer || j.wait.resuming) {
			return fmt.Errorf("the timer %s runs while the turn waits", timer)
		}
	}
	return nil
}

func (j *judge) event(ev event.Event) error {
	if j.ended != nil {
		return fmt.Errorf("after TurnEnded")
	}
	if ev.Turn != j.turn {
		return fmt.Errorf("of turn %s", ev.Turn)
	}
	if err := j.fold(ev); err != nil {
		return err
	}
	if err := j.wait.event(ev); err != nil {
		return err
	}
	if err := j.steer.event(ev, j.seen); err != nil {
		return err
	}
	switch ev.Kind {
	case event.TurnWaiting:
		for id, typ := range j.open {
			if !typ.Asks() {
				return fmt.Errorf("item %s of type %s is open", id, typ)
			}
		}
	case event.TurnResumed:
		j.resumed = true
	case event.ItemStarted:
		return j.started(ev)
	case event.TextDelta, event.ReasoningDelta, event.OutputDelta:
		return j.delta(ev)
	case event.ItemDone:
		return j.done(ev)
	case event.SubagentStarted, event.SubagentItem:
		return j.theirs(ev)
	case event.TurnEnded:
		return j.end(ev.Body.(*event.End))
	}
	return nil
}

func (j *judge) started(ev event.Event) error {
	it := ev.Body.(*event.Item)
	switch {
	case j.seen[ev.Item]:
		return fmt.Errorf("item %s twice", ev.Item)
	case it.ID != ev.Item || it.Status != event.InProgress || it.Text != "" && !it.Type.Asks() || it.Phase != event.NoPhase || it.Output != "":
		return fmt.Errorf("odd start %+v", it)
	}
	j.seen[ev.Item], j.open[ev.Item], j.text[ev.Item] = true, it.Type, &strings.Builder{}
	switch it.Type {
	case event.Message:
		j.newest = ev.Item
	case event.Subagent:
		j.calls[ev.Item] = true
	}
	return nil
}

// theirs is an event of a subagent: of a call that was made, told once, closed.
func (j *judge) theirs(ev event.Event) error {
	it := ev.Body.(*event.Item)
	if _, ok := j.calls[it.Parent]; !ok || it.ID != ev.Item {
		return fmt.Errorf("of no call: %+v", it)
	}
	if it.Text != valid(it.Text) || it.Output != valid(it.Output) || it.Prompt != valid(it.Prompt) {
		return fmt.Errorf("invalid text in %+v", it)
	}
	open, called := j.calls[ev.Item]
	switch {
	case ev.Kind == event.SubagentStarted && (it.Type != event.Subagent || it.Status != event.InProgress || j.seen[ev.Item]):
		return fmt.Errorf("odd start %+v", it)
	case ev.Kind == event.SubagentStarted:
		j.seen[ev.Item], j.calls[ev.Item] = true, true
		return nil
	case it.Status == event.InProgress || it.Status == 0:
		return fmt.Errorf("not done: %+v", it)
	case it.Type == event.Subagent && (!called || !open):
		return fmt.Errorf("the end of a call that is not open: %+v", it)
	case it.Type == event.Subagent:
		j.calls[ev.Item] = false
		return nil
	case j.seen[ev.Item]:
		return fmt.Errorf("item %s twice", ev.Item)
	}
	j.seen[ev.Item] = true
	if it.Phase == event.FinalAnswer {
		if j.reports[it.Parent]++; j.reports[it.Parent] > 1 || !j.calls[it.Parent] {
			return fmt.Errorf("a second report, or a late one: %+v", it)
		}
	}
	return nil
}

func (j *judge) delta(ev event.Event) error {
	want := map[event.Kind]event.ItemType{
		event.TextDelta: event.Message, event.ReasoningDelta: event.Reasoning, event.OutputDelta: event.Command,
	}[ev.Kind]
	if got, ok := j.open[ev.Item]; !ok || got != want {
		return fmt.Errorf("piece of an item of type %d, open %v", got, ok)
	}
	if ev.Text == "" || ev.Text != valid(ev.Text) {
		return fmt.Errorf("piece %q", ev.Text)
	}
	j.text[ev.Item].WriteString(ev.Text)
	return nil
}

func (j *judge) done(ev event.Event) error {
	it := ev.Body.(*event.Item)
	typ, ok := j.open[ev.Item]
	if !ok || typ != it.Type || it.Status == event.InProgress || it.Status == 0 {
		return fmt.Errorf("done of type %d, open %v: %+v", typ, ok, it)
	}
	delete(j.open, ev.Item)
	if it.Type == event.Subagent {
		j.calls[ev.Item] = false
	}
	switch {
	case it.Type == event.Message || it.Type == event.Reasoning:
		if got := j.text[ev.Item].String(); got != it.Text {
			return fmt.Errorf("pieces %q joined are not %q", got, it.Text)
		}
	case it.Type == event.Command && it.Output == "" && j.text[ev.Item].Len() > 0:
		return fmt.Errorf("output lost")
	}
	if (it.Type == event.Message) != (it.Phase != event.NoPhase) {
		return fmt.Errorf("phase %d of type %d", it.Phase, it.Type)
	}
	if it.Phase == event.FinalAnswer {
		j.final++
		j.answer = ev.Item
	}
	return nil
}

func (j *judge) end(e *event.End) error {
	j.ended = e
	if len(j.open) > 0 {
		return fmt.Errorf("with %d open items", len(j.open))
	}
	for call, open := range j.calls {
		if open {
			return fmt.Errorf("with the open call %s", call)
		}
	}
	completed := e.Outcome == event.Completed
	switch {
	case e.Outcome == 0 || (e.Outcome == event.Failed) != (e.Failure != nil):
		return fmt.Errorf("outcome %s with failure %q", e.Outcome, fmt.Sprint(e.Failure))
	case completed && (j.final != 1 || j.answer != j.newest):
		return fmt.Errorf("%d final answers, the newest message is one: %v", j.final, j.answer == j.newest)
	case !completed && j.final != 0:
		return fmt.Errorf("a final answer of a turn that is %s", e.Outcome)
	case e.Failure != nil && (e.Failure.Code == "" || e.Failure.Message == ""):
		return fmt.Errorf("failure %q", fmt.Sprint(e.Failure))
	}
	return nil
}
