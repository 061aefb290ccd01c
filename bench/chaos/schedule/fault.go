package schedule

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Fault is one thing that is done to the server or its processes.
type Fault struct {
	Kind FaultKind
	At   time.Duration // since the cycle began
	For  time.Duration `json:",omitempty"`
	Pick int           // among several victims, modulo their number
}

// FaultKind names a fault.
type FaultKind string

// Faults.
const (
	KillServer   FaultKind = "kill -9 of the server"
	PowerCut     FaultKind = "power cut"
	Drain        FaultKind = "SIGTERM drain"
	KillCLI      FaultKind = "kill -9 of a CLI"
	KillRunner   FaultKind = "kill -9 of a runner"
	KillTool     FaultKind = "kill -9 of an MCP child"
	KillWarden   FaultKind = "kill -9 of the warden"
	StopServer   FaultKind = "SIGSTOP of the server"
	StopCLI      FaultKind = "SIGSTOP of a CLI"
	FullDisk     FaultKind = "full disk"
	WriteError   FaultKind = "EIO on writes, for good"
	WriteGlitch  FaultKind = "EIO on a write, once"
	TornWrite    FaultKind = "torn write"
	ReadError    FaultKind = "EIO on reads"
	SyncError    FaultKind = "EIO on a sync"
	SlowSync     FaultKind = "slow syncs"
	Descriptors  FaultKind = "EMFILE by rlimit"
	SpawnFailure FaultKind = "spawn failures"
	ClockJump    FaultKind = "clock jump"
)

// All lists the faults.
var All = []FaultKind{
	KillServer, KillCLI, PowerCut, KillRunner, FullDisk, StopServer, Drain, SlowSync, SyncError, KillTool,
	Descriptors, SpawnFailure, WriteError, StopCLI, ClockJump, TornWrite, WriteGlitch, ReadError, KillWarden,
}

// Skipped are faults that are not done, and why.
var Skipped = []string{
	"a file system that is really full or becomes read-only: needs a mount; the file seam says ENOSPC and EIO instead",
	"a disk that loses synced sectors or reorders them: needs a device of its own; a power cut loses all that was not synced",
	"a machine that loses its power: needs the machine; a power cut is a killed server whose files are set back to what was synced",
}

// EndsServer says that the server does not survive it.
func (k FaultKind) EndsServer() bool {
	switch k {
	case KillServer, PowerCut, Drain, WriteError, SyncError:
		return true
	}
	return false
}

// Kills says that it kills a process by SIGKILL.
func (k FaultKind) Kills() bool {
	switch k {
	case KillServer, PowerCut, KillCLI, KillRunner, KillTool, KillWarden:
		return true
	}
	return false
}

// perCycle is how many faults one cycle has.
const perCycle = 3

// window is when the faults of a cycle begin.
const window = 1800 * time.Millisecond

// faults deals the faults: every kind comes once before any comes again.
func (p Plan) faults(cycle int, r *rand.Rand) []Fault {
	var list []Fault
	for i := range perCycle {
		n := (cycle-1)*perCycle + i
		deck := slices.Clone(All)
		p.rng(2, n/len(deck)).Shuffle(len(deck), func(a, b int) { deck[a], deck[b] = deck[b], deck[a] })
		list = append(list, Fault{Kind: deck[n%len(deck)], At: time.Duration(150+r.IntN(int(window/time.Millisecond))) * time.Millisecond, For: span(deck[n%len(deck)], r), Pick: r.IntN(1 << 20)})
	}
	slices.SortStableFunc(list, func(a, b Fault) int { return int(a.At - b.At) })
	return list
}

// span is how long a fault lasts.
func span(k FaultKind, r *rand.Rand) time.Duration {
	ms := func(from, to int) time.Duration { return time.Duration(from+r.IntN(to-from)) * time.Millisecond }
	switch k {
	case KillServer: // until it is started again
		return []time.Duration{0, ms(10, 400), 3 * time.Second}[r.IntN(3)]
	case StopServer:
		return ms(300, 2500)
	case StopCLI, FullDisk, SlowSync, Descriptors, SpawnFailure, ClockJump:
		return ms(200, 1200)
	case ReadError:
		return ms(50, 300)
	}
	return 0
}
