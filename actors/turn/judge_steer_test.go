package turn

import (
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// steerJudge watches the messages for a running turn: each is handed in its order, one
// at a time; it becomes part of the turn, or is given back, or neither when the turn
// ends before; never two of these.
type steerJudge struct {
	waiting []event.ID // in order
	handed  event.ID
	taken   bool // what Steered said of it
	told    bool
	back    bool // one was given back: none is handed any more
}

func (j *steerJudge) input(in Input) {
	switch in := in.(type) {
	case Steer:
		if !in.Input.IsZero() {
			j.waiting = append(j.waiting, in.Input)
		}
	case Steered:
		if in.Input == j.handed && !j.handed.IsZero() {
			j.told, j.taken = true, in.Taken
		}
	}
}

func (j *steerJudge) effect(e Effect, ended bool) error {
	switch e := e.(type) {
	case Hand:
		switch {
		case ended || j.back:
			return fmt.Errorf("a message is handed to a CLI that takes none")
		case !j.handed.IsZero() || len(j.waiting) == 0 || j.waiting[0] != e.Input:
			return fmt.Errorf("message %s is handed; %s is, and wait do %v", e.Input, j.handed, j.waiting)
		}
		j.handed, j.told = e.Input, false
	case Unsteered:
		if e.Input == j.handed && (!j.told || j.taken) {
			return fmt.Errorf("message %s is given back before the CLI refused it", e.Input)
		}
		if len(j.waiting) == 0 || j.waiting[0] != e.Input {
			return fmt.Errorf("message %s is given back; wait do %v", e.Input, j.waiting)
		}
		j.waiting, j.handed, j.back = j.waiting[1:], event.ID{}, true
	}
	return nil
}

func (j *steerJudge) event(ev event.Event, seen map[event.ID]bool) error {
	if ev.Kind != event.InputSteered {
		return nil
	}
	in := ev.Body.(*event.Input)
	if !in.Taken || in.ID != j.handed || !j.told || !j.taken || j.waiting[0] != in.ID {
		return fmt.Errorf("message %+v, handed is %s, told %v", in, j.handed, j.told)
	}
	for _, it := range in.Items {
		if seen[it.ID] || slices.Contains([]event.Status{0, event.InProgress}, it.Status) {
			return fmt.Errorf("odd item %+v", it)
		}
		seen[it.ID] = true
	}
	j.waiting, j.handed = j.waiting[1:], event.ID{}
	return nil
}
