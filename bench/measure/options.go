package measure

import (
	"io"

	"github.com/agenthost/agenthost/bench/report"
)

// Options say what is run.
type Options struct {
	// Self is this program, which is also the product's server, the plain host and
	// the copying floor; Fake is the stand-in CLI.
	Self, Fake string
	// Full measures everything; otherwise it is what fits a minute.
	Full bool
	// Before is another build of the product's server, which is measured beside this one
	// as subjects of its own; "" is none.
	Before string
	// Run names scenarios, Cases cases and Subjects subjects; none is all.
	Run, Cases, Subjects []string
	// Reps is the count of repetitions; 0 is the profile's.
	Reps int
	// Out is told what is being done.
	Out io.Writer
	// Peers are other hosts, measured beside this one.
	Peers []Peer
	// Version and Commit go into the result.
	Version, Commit string
	// ServerEnv is added to the environment of the product's server.
	ServerEnv []string
}

// scenario is one kind of work.
type scenario struct {
	name string
	// cases in the two profiles; a scenario without quick ones is skipped there.
	quick, full []string
	subjects    []string
	// config is laid over the product's configuration.
	config map[string]any
	// env is added to the environments of all subjects.
	env []string
	// dialect is which CLI the subjects run; codex.
	dialect string
	// reps bounds the repetitions, quickReps those of the quick profile; 0 does not.
	reps, quickReps int
	// hidden scenarios run only when they are named; fullOnly ones also in a full run.
	hidden, fullOnly bool
	// fresh starts the subjects anew for each repetition and case.
	fresh bool
	// peers says that other hosts that are given take part.
	peers bool
	// begin starts a subject of a case instead of the usual way; with fresh.
	begin func(l *lab, name, kase string) (*subject, error)
	run   func(*lab, *subject, string) (report.Figures, error)
}

func scenarios() []scenario {
	return []scenario{syncs(), turns(), rates(), messages(), fans(), latencies(), sessions(), creations(), passivations(), finishes(), streams(), slows(), overloads(), refusals(), cancels(), openings(), lights(), persistents(), histories(), churns(), capacities(), smoke("codex"), smoke("claude")}
}
