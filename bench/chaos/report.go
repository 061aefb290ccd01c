package chaos

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/judge"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
	"github.com/agenthost/agenthost/bench/hostproc"
)

// Report is what a run found.
type Report struct {
	Seed     uint64        `json:"seed"`
	Profile  string        `json:"profile"`
	Version  string        `json:"version"`
	Machine  string        `json:"machine"`
	Took     time.Duration `json:"took_ns"`
	Cycles   int           `json:"cycles"`
	Schedule string        `json:"schedule"`

	Turns     int `json:"turns"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Refused   int `json:"refused"`
	Streams   int `json:"streams"`
	Frames    int `json:"frames"`

	Kills    int                        `json:"kills"`
	Injected int                        `json:"faults_injected"`
	Faults   map[schedule.FaultKind]int `json:"faults"`
	// Missed are faults that found no victim.
	Missed  int      `json:"faults_missed"`
	Starts  int      `json:"server_starts"`
	Skipped []string `json:"skipped"`

	First Held `json:"held_first"`
	Last  Held `json:"held_last"`

	Broken   []judge.Broken `json:"broken"`
	Evidence string         `json:"evidence,omitempty"`
}

// Held is what a server at rest holds.
type Held struct {
	hostproc.Usage
	Actors int
	RSS    int64
}

func (h Held) String() string {
	return fmt.Sprintf("%s, %d actors, %d MiB resident", h.Usage, h.Actors, h.RSS>>20)
}

func (r *Report) count(f judge.Figures) {
	r.Turns += f.Turns
	r.Completed += f.Completed
	r.Failed += f.Failed
	r.Cancelled += f.Cancelled
	r.Refused += f.Refused
	r.Streams += f.Streams
	r.Frames += f.Frames
}

// Write tells the report to a person.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("chaos: seed %d, profile %s, %d cycles in %s", r.Seed, r.Profile, r.Cycles, r.Took.Round(time.Second))
	line("%s, %s", r.Version, r.Machine)
	line("")
	line("turns run        %d: %d completed, %d failed, %d cancelled; %d inputs refused", r.Turns, r.Completed, r.Failed, r.Cancelled, r.Refused)
	line("streams read     %d, %d events", r.Streams, r.Frames)
	line("kills            %d by SIGKILL; the server was started %d times", r.Kills, r.Starts)
	line("faults injected  %d (%d found nothing to hit)", r.Injected, r.Missed)
	for _, k := range slices.Sorted(maps.Keys(r.Faults)) {
		line("  %-28s %d", k, r.Faults[k])
	}
	line("at rest, first   %s", r.First)
	line("at rest, last    %s", r.Last)
	line("not done:")
	for _, s := range r.Skipped {
		line("  %s", s)
	}
	line("")
	line("broken promises  %d", len(r.Broken))
	for i, broken := range r.Broken {
		if i == maxTold {
			line("  and %d more", len(r.Broken)-i)
			break
		}
		line("  %s", clip(broken.String()))
	}
	if r.Evidence != "" {
		line("evidence         %s", r.Evidence)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxTold is how many broken promises a person is told of one by one.
const maxTold = 20

func clip(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "..."
	}
	return s
}
