package process

import (
	"syscall"
	"time"
)

// Act is one rung of the kill ladder.
type Act uint8

// The rungs, in the order they come.
const (
	// Interrupt is SIGINT to the group.
	Interrupt Act = iota + 1
	// Terminate is SIGTERM to the group.
	Terminate
	// Kill is SIGKILL to the group and the tree; nothing comes after it.
	Kill
)

func (a Act) String() string {
	switch a {
	case Interrupt:
		return "interrupt"
	case Terminate:
		return "terminate"
	case Kill:
		return "kill"
	}
	return "none"
}

// Signaller is the part of a Process that a kill ladder needs.
type Signaller interface {
	Signal(syscall.Signal)
	SignalTree(syscall.Signal)
}

// Do carries the act out.
func (a Act) Do(p Signaller) {
	switch a {
	case Interrupt:
		p.Signal(syscall.SIGINT)
	case Terminate:
		p.Signal(syscall.SIGTERM)
	case Kill:
		p.SignalTree(syscall.SIGKILL)
	}
}

// Default graces of a Ladder.
const (
	DefaultInterruptGrace = 5 * time.Second
	DefaultTerminateGrace = 3 * time.Second
)

// SIGINT is repeated because one that comes before the CLI has its handlers is
// lost on some and deadly on others.
const (
	firstRepeat = 500 * time.Millisecond
	nextRepeat  = time.Second
)

// Ladder says what to do next to end a process and how long to wait before asking
// again. It has no clock: its owner holds the timer.
type Ladder struct {
	interrupt time.Duration // left for interrupts
	terminate time.Duration // grace behind SIGTERM
	sent      int           // interrupts sent
	stage     Act           // the last rung reached
}

// NewLadder makes a ladder. A grace of zero or less leaves its rung out, so two
// zeros kill at once.
func NewLadder(interruptGrace, terminateGrace time.Duration) *Ladder {
	return &Ladder{interrupt: interruptGrace, terminate: terminateGrace}
}

// Next gives the act to do now and the time to wait behind it before Next is
// called again. After Kill, and once again after that, it gives Kill with no time:
// there is nothing further.
func (l *Ladder) Next() (act Act, after time.Duration) {
	if l.stage <= Interrupt && l.interrupt > 0 {
		l.stage = Interrupt
		after = nextRepeat
		if l.sent == 0 {
			after = firstRepeat
		}
		after = min(after, l.interrupt)
		l.interrupt -= after
		l.sent++
		return Interrupt, after
	}
	if l.stage < Terminate && l.terminate > 0 {
		l.stage = Terminate
		return Terminate, l.terminate
	}
	l.stage = Kill
	return Kill, 0
}

// Skip leaves out what is left before act: the next act is act or a later one.
func (l *Ladder) Skip(act Act) {
	if act > Interrupt {
		l.interrupt = 0
	}
	if act > Terminate {
		l.terminate = 0
	}
}

// Done says that Kill was given.
func (l *Ladder) Done() bool { return l.stage == Kill }
