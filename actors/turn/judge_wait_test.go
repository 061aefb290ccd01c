package turn

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
)

// waitJudge holds what a turn promises about waiting for its caller.
type waitJudge struct {
	waiting  bool // TurnWaiting is out, its LegStarted is not
	parked   bool // Wait was given, Continue was not
	resuming bool // Continue was given, Resumed did not come
	legs     int32
	// open is what is asked, done has its ItemDone, answers what was said to it in
	// this wait, by asking item.
	open, done, answers map[event.ID]bool
	calls               map[int64]bool // not yet shown, by the owner's number
	delivered           map[event.ID]bool
	fed                 bool // output came while waiting
	mayResume           bool // this Step's input is Resumed
}

func newWaitJudge() waitJudge {
	return waitJudge{
		open: map[event.ID]bool{}, done: map[event.ID]bool{}, answers: map[event.ID]bool{},
		calls: map[int64]bool{}, delivered: map[event.ID]bool{},
	}
}

func (w *waitJudge) input(in Input) {
	w.mayResume = false
	switch in := in.(type) {
	case Resumed:
		w.mayResume = true
	case Called:
		w.calls[in.Call] = true
	case Output, OutputLimit, Used, Exited, Gone: // these may say something at a wait's end: a limit what a verdict before it held
		w.fed = true
	}
}

func (w *waitJudge) event(ev event.Event) error {
	it, _ := ev.Body.(*event.Item)
	switch ev.Kind {
	case event.ItemStarted:
		switch {
		case it.Type.Asks() && w.waiting:
			return fmt.Errorf("something is asked in the middle of a wait")
		case it.Type.Asks():
			w.open[ev.Item] = true
		case w.waiting && !w.fed:
			return fmt.Errorf("an item begins in the middle of a wait")
		}
	case event.ItemDone:
		if it.Type.Asks() {
			if !w.open[ev.Item] {
				return fmt.Errorf("what was asked is done twice")
			}
			delete(w.open, ev.Item)
			w.done[ev.Item] = true
		}
	case event.TurnWaiting:
		if w.waiting || w.parked || w.resuming || len(w.open) == 0 {
			return fmt.Errorf("waiting %v, %d are open", w.waiting, len(w.open))
		}
		w.waiting, w.fed = true, false
		clear(w.answers)
	case event.CallAnswered:
		switch {
		case !w.waiting || it.ID != ev.Item || it.ID != event.AnswerID(ev.Turn, it.Call):
			return fmt.Errorf("an odd answer %+v", it)
		case !w.done[it.Call] || w.answers[it.Call]:
			return fmt.Errorf("answered before its ItemDone, or twice")
		}
		w.answers[it.Call] = true
	case event.LegStarted:
		w.legs++
		switch leg := ev.Body.(*event.Leg); {
		case !w.waiting || len(w.open) > 0:
			return fmt.Errorf("a leg while %d are open", len(w.open))
		case leg.Number != w.legs || len(leg.Answers) != len(w.answers):
			return fmt.Errorf("leg %d of %d answers, want %d and %d", leg.Number, len(leg.Answers), w.legs, len(w.answers))
		}
		w.waiting = false
	case event.TurnResumed:
		if !w.resuming || !w.mayResume {
			return fmt.Errorf("without a slot")
		}
		w.resuming = false
	case event.TurnEnded:
		w.waiting, w.parked, w.resuming = false, false, false
	}
	return nil
}

func (w *waitJudge) effect(e Effect) error {
	switch e := e.(type) {
	case Wait:
		if !w.waiting || w.parked || w.resuming {
			return fmt.Errorf("Wait while waiting %v, parked %v, resuming %v", w.waiting, w.parked, w.resuming)
		}
		w.parked = true
	case Continue:
		if w.waiting || !w.parked {
			return fmt.Errorf("Continue while waiting %v, parked %v", w.waiting, w.parked)
		}
		w.parked, w.resuming = false, true
	case Deliver:
		switch a := e.Answer; {
		case !w.mayResume || a == nil || !w.answers[a.Call]:
			return fmt.Errorf("Deliver of %+v", a)
		case w.delivered[a.Call]:
			return fmt.Errorf("Deliver twice")
		case a.Type != event.FunctionOutput && a.Type != event.ApprovalAnswer:
			return fmt.Errorf("Deliver of type %s", a.Type)
		default:
			w.delivered[a.Call] = true
		}
	case Refuse:
		if e.Failure == nil || e.Failure.Code == "" || e.Failure.Message == "" {
			return fmt.Errorf("Refuse without a reason")
		}
	}
	return nil
}

// allDelivered: a turn that went on has told its CLI everything.
func (w *waitJudge) allDelivered() error {
	for id := range w.answers {
		if !w.delivered[id] {
			return fmt.Errorf("the answer to %s was not delivered", id)
		}
	}
	return nil
}
