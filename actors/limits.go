package actors

import (
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/turn"
)

// machineLimits are what the processes of an agent's turn may take: the agent's
// own limits, else the host's.
func (h *Host) machineLimits(a *spec.Agent) process.Limits {
	l := process.Limits{
		CPU: a.Limits.CPU, Memory: a.Limits.MemoryBytes, Processes: a.Limits.Processes,
		FileSize: a.Limits.FileBytes, OpenFiles: a.Limits.OpenFiles,
	}
	host := &h.cfg.limits
	def(&l.CPU, host.MaxCPU)
	def(&l.Memory, host.MaxMemoryBytes)
	def(&l.Processes, host.MaxProcesses)
	def(&l.FileSize, host.MaxWritten)
	def(&l.OpenFiles, host.MaxOpenFiles)
	return l
}

// hitsOf is what is known of the limits that a process ended at.
func hitsOf(st *process.Status) turn.Hits {
	return turn.Hits{CPU: st.CPU, Memory: st.MemoryLimit, Processes: st.ProcessLimit, OpenFiles: st.FilesLimit}
}
