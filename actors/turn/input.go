package turn

import (
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// Input is something that happened to a turn. The set is closed; inputs are
// passed as values.
//
//sumtype:decl
type Input interface{ isInput() }

type (
	// Start says that the turn has its slot.
	Start struct{}
	// Environment says how it stands with what is being prepared: the turn waits for
	// it.
	Environment struct {
		Status  event.EnvironmentStatus
		Failure *event.Failure
	}
	// Prepared says that workspace, files and binary are there. ExitIsVerdict is
	// what Config.ExitIsVerdict is, told by who knows the invocation; the idle clock
	// is then off unless Config.IdleAsked. Veil, nil for none, redacts what the CLI
	// says. Isolation becomes the end's.
	Prepared struct {
		ExitIsVerdict bool
		Veil          Veil
		Isolation     string
	}
	// PrepareFailed says that they are not. Nothing was spawned.
	PrepareFailed struct{ Failure *event.Failure }
	// Spawned says that the process runs.
	Spawned struct{ Pid int }
	// SpawnFailed says that there is none.
	SpawnFailed struct{ Failure *event.Failure }
	// Output is what one read of the process's stdout says. Facts may be reused
	// by the caller after Step; their texts may not. First marks the process's
	// first output, which may come before a whole line of it.
	Output struct {
		Facts []agent.Fact
		First bool
	}
	// LineDropped says that a line longer than the cap was not parsed.
	LineDropped struct{ Bytes int64 }
	// OutputLimit says that stdout exceeded its limit and is not read on.
	OutputLimit struct{ Limit int64 }
	// Exited says that the process is gone and its stdout ended or was given up.
	// Facts are the parser's last ones.
	Exited struct {
		Exit  agent.Exit
		Facts []agent.Fact
		Hits  Hits
	}
	// Gone says that the process's whole tree is swept.
	Gone struct{}
	// Cancel asks for the turn's end, by its caller.
	Cancel struct{}
	// Stop asks for the turn's end, by the host: it ends failed with Failure. A
	// second one kills at once.
	Stop struct{ Failure *event.Failure }
	// Hurry says that the session has more work: a settled turn's process is not
	// given its whole linger.
	Hurry struct{}
	// Called says that the CLI calls a function of the caller's or asks for
	// permission: Item has a type that asks, and what is asked. Call is the owner's
	// number of it.
	Called struct {
		Call int64
		Item *event.Item
	}
	// CallLeft says that the CLI no longer waits for a call.
	CallLeft struct{ Call int64 }
	// Answered is what the caller says to open calls: items of the types
	// FunctionOutput and ApprovalAnswer with Call set, Status ItemFailed for a function
	// that failed. It is taken whole or answered with Refuse.
	Answered struct {
		Answers []*event.Item
		// Leg, of a Responses request, must answer all that is open.
		Leg *event.Leg
		// Conclude ends the turn as completed, Cancel as cancelled.
		Conclude, Cancel bool
	}
	// Resumed says that the turn has a slot again.
	Resumed struct{}
	// Steer says that a message of the caller's is to become part of the turn. Input
	// names it, Items are what is said.
	Steer struct {
		Input event.ID
		Items []*event.Item
	}
	// Steered says what the CLI made of a message that it was handed.
	Steered struct {
		Input event.ID
		Taken bool
	}
	// Elapsed says that a timer fired.
	Elapsed struct{ Timer Timer }
	// Used says what the process and everything below it take now, as far as the
	// kernel does not bound it by itself.
	Used struct {
		CPU       time.Duration
		Memory    int64
		Processes int
	}
)

// Metered says what an answer of the provider used, told by who passed it on. What the
// CLI tells itself is of all answers together, and counts once it is more.
type Metered struct{ Usage event.Usage }

func (Metered) isInput()       {}
func (Start) isInput()         {}
func (Environment) isInput()   {}
func (Prepared) isInput()      {}
func (PrepareFailed) isInput() {}
func (Spawned) isInput()       {}
func (SpawnFailed) isInput()   {}
func (Output) isInput()        {}
func (LineDropped) isInput()   {}
func (OutputLimit) isInput()   {}
func (Exited) isInput()        {}
func (Gone) isInput()          {}
func (Cancel) isInput()        {}
func (Stop) isInput()          {}
func (Hurry) isInput()         {}
func (Called) isInput()        {}
func (CallLeft) isInput()      {}
func (Answered) isInput()      {}
func (Resumed) isInput()       {}
func (Steer) isInput()         {}
func (Steered) isInput()       {}
func (Elapsed) isInput()       {}
func (Used) isInput()          {}
