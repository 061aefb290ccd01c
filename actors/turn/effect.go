package turn

import (
	"time"

	"github.com/agenthost/agenthost/actors/event"
)

// Effect is something the turn's owner must do, in the order given. The set is
// closed.
//
//sumtype:decl
type Effect interface{ isEffect() }

type (
	// Emit hands events on: Kind, Turn, Item, Text and Body are set, the rest is
	// the session's business. The slice is reused by the next Step, so it must be
	// copied by an owner that keeps it; the bodies are never changed. At most one
	// Emit is in a Step's effects, and it is the first.
	Emit struct{ Events []event.Event }
	// Prepare makes the workspace, files and binary ready; it is answered with
	// Prepared or PrepareFailed.
	Prepare struct{}
	// Spawn starts the process; it is answered with Spawned or SpawnFailed.
	Spawn struct{}
	// Terminate starts the kill ladder.
	Terminate struct{}
	// Kill ends the process and its tree at once.
	Kill struct{}
	// Arm starts a timer, replacing an armed one of that name; when it fires,
	// Elapsed comes in.
	Arm struct {
		Timer Timer
		After time.Duration
	}
	// Disarm stops a timer.
	Disarm struct{ Timer Timer }
	// Wait gives the turn's slot back: it waits for its caller.
	Wait struct{}
	// Continue asks for a slot; it is answered with Resumed.
	Continue struct{}
	// Deliver hands an answer to the CLI.
	Deliver struct {
		Call   int64
		Answer *event.Item
	}
	// Hand gives a message for the running turn to the CLI; it is answered with
	// Steered, or by the turn's end.
	Hand struct{ Input event.ID }
	// Unsteered says that a message does not become part of the turn.
	Unsteered struct{ Input event.ID }
	// Refuse says that the Answered of this Step was not taken.
	Refuse struct{ Failure *event.Failure }
	// Finished says that nothing more will come.
	Finished struct{}
)

func (Emit) isEffect()      {}
func (Prepare) isEffect()   {}
func (Spawn) isEffect()     {}
func (Terminate) isEffect() {}
func (Kill) isEffect()      {}
func (Arm) isEffect()       {}
func (Disarm) isEffect()    {}
func (Wait) isEffect()      {}
func (Continue) isEffect()  {}
func (Deliver) isEffect()   {}
func (Hand) isEffect()      {}
func (Unsteered) isEffect() {}
func (Refuse) isEffect()    {}
func (Finished) isEffect()  {}
