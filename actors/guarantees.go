package actors

import (
	"runtime"

	"github.com/agenthost/agenthost/actors/process"
)

// Warden is a program that outlives this one if it is killed, and then ends its
// process trees. Its methods are called by an actor, so they may not wait for
// anything.
type Warden interface {
	// Watch says how the markers of everything a Host starts begin, and which control
	// group it is in, "" for none.
	Watch(prefix, group string)
	// Planted tells of a tree that was started, Gone that nothing is left of it.
	Planted(process.Tree)
	Gone(marker string)
}

// markers is how those of this Host's processes begin.
func (h *Host) markers() string { return h.stateID + "/" + h.id.Hex() + "/" }

// group makes the control group of this Host, and ends what earlier ones left in
// theirs. Without it the Host has what it has without cgroups.
func (h *Host) group() {
	if h.cfg.cgroups == nil {
		return
	}
	killed, err := h.cfg.cgroups.Begin(h.stateID, h.id.Hex())
	if killed > 0 {
		h.stats.orphans.Add(int64(killed))
		h.log.Warn("ended what an earlier run left in its control group", "processes", killed)
	}
	if err != nil {
		h.log.Warn("weaker guarantee: no control group for each turn", "error", err)
		h.cfg.cgroups = nil
	}
}

// Guarantees says what this Host can promise on this machine, a line each.
func (h *Host) Guarantees() []string {
	out := []string{
		"input that was accepted is durable, runs in order, and is never run twice",
		"every event reaches every reader in the same order, live and replayed",
	}
	if runtime.GOOS != "linux" {
		return append(out, "processes are found by their group only: a tool shell that left it can outlive its turn")
	}
	found := "group, recorded tree, marker"
	if process.IsSubreaper() {
		found += ", subreaper"
	}
	grouped := h.cfg.cgroups != nil
	if grouped {
		found = "control group of the kernel's, " + found
	}
	if grouped || process.IsSubreaper() {
		out = append(out, "no process that a CLI starts outlives its turn while this program runs ("+found+")")
	} else {
		out = append(out, "processes are found by "+found+"; one that leaves all three can outlive its turn, because this program is no subreaper")
	}
	if h.cfg.warden != nil {
		out = append(out, "no process that a CLI starts outlives this program for more than two seconds, however it ends (warden)")
	} else {
		out = append(out, "what a killed program left is ended by the next start: there is no warden")
	}
	memory, processes := h.cfg.cgroups.Limited()
	by := func(kernel bool) string {
		if grouped && kernel {
			return "by the kernel"
		}
		return "by looking four times a second"
	}
	return append(out, "a turn's limits, where set, are held: memory "+by(memory)+", processes "+by(processes)+
		", CPU time both ways, size of a file and open files by the kernel for each process")
}
