package turn

import (
	"fmt"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// Limits bound what the process of a turn and everything below it may take. Zero
// is no bound.
type Limits struct {
	CPU       time.Duration
	Memory    int64 // bytes
	Processes int   // processes and their threads
	FileSize  int64 // bytes of one file
	OpenFiles int   // of one process
}

// Hits are the limits that the kernel itself held a process to.
type Hits struct {
	CPU time.Duration // that the process used until its end
	// Memory says that the kernel killed because of the memory limit, Processes that
	// it refused a further process.
	Memory, Processes bool
	// OpenFiles says that shortly before the end a process was seen with all the open
	// files in use that it may have.
	OpenFiles bool
}

// weigh compares what the tree takes. What is out of hand gets no time to go on.
func (t *Turn) weigh(in Used) {
	l, f := &t.cfg.Limits, (*event.Failure)(nil)
	now := true
	switch {
	case l.Memory > 0 && in.Memory > l.Memory:
		f = memoryLimit(t.name(), l.Memory)
	case l.Processes > 0 && in.Processes > l.Processes:
		f = event.Fail(event.ProcessLimit, fmt.Sprintf(
			"%s and what it started were more than %d processes and threads at once and were ended; raise max_processes if it needs more", t.name(), l.Processes))
	case l.CPU > 0 && in.CPU > l.CPU:
		f, now = cpuLimit(t.name(), l.CPU), false
	default:
		return
	}
	switch {
	case t.state == draining:
		t.disarm(LingerTimer)
		t.terminate()
	case t.state != stopping:
		t.disarm(WaitTimer, CallTimer)
		t.strike(f)
	}
	if now && !t.exited && !t.killed {
		t.killed = true
		t.do(Kill{})
	}
}

func memoryLimit(name string, limit int64) *event.Failure {
	return event.Fail(event.MemoryLimit, fmt.Sprintf(
		"%s and what it started used more than %d bytes of memory and were ended; raise max_memory_bytes if it needs more", name, limit))
}

func cpuLimit(name string, limit time.Duration) *event.Failure {
	return event.Fail(event.CPULimit, fmt.Sprintf(
		"%s and what it started used more than %s of CPU time and were ended; raise max_cpu_seconds if it needs more", name, limit))
}

// Exit codes in which a shell repeats the signal that ended its child.
const (
	cpuSignalCode  = 128 + 24
	fileSignalCode = 128 + 25
)

// hit names the limit that an exit without a verdict was about, nil for none.
func (t *Turn) hit(e agent.Exit, h Hits) *event.Failure {
	l := &t.cfg.Limits
	switch {
	case l.Memory > 0 && h.Memory:
		return memoryLimit(t.name(), l.Memory)
	case l.CPU > 0 && (e.Signal == "SIGXCPU" || e.Code == cpuSignalCode || e.Signal == "SIGKILL" && h.CPU >= l.CPU):
		return cpuLimit(t.name(), l.CPU)
	case l.FileSize > 0 && (e.Signal == "SIGXFSZ" || e.Code == fileSignalCode || said(e, "file too large", "efbig")):
		return event.Fail(event.FileLimit, fmt.Sprintf(
			"%s wanted to write a file of more than %d bytes and ended (%s); raise max_written_file_bytes if it needs more", t.name(), l.FileSize, exitText(e)))
	case l.Processes > 0 && h.Processes:
		return event.Fail(event.ProcessLimit, fmt.Sprintf(
			"%s was refused a process or thread beyond its limit of %d and ended (%s); raise max_processes if it needs more", t.name(), l.Processes, exitText(e)))
	case l.OpenFiles > 0 && h.OpenFiles:
		return event.Fail(event.OpenFilesLimit, fmt.Sprintf(
			"%s ended (%s) when it, or what it started, had its limit of %d open files in use; raise max_open_files if it needs more", t.name(), exitText(e), l.OpenFiles))
	case l.OpenFiles > 0 && said(e, "too many open files", "emfile"):
		// The kernel tells nobody else that it refused a descriptor, and nobody saw it at
		// its limit: all there is to go by is what the program prints, which says the same
		// of other limits, so the code stays that of a crash.
		return event.Fail(event.CLICrashed, fmt.Sprintf(
			"%s ended (%s), and by what it printed it had its limit of %d open files in use; raise max_open_files if it needs more", t.name(), exitText(e), l.OpenFiles))
	}
	return nil
}

// said looks for what programs print of a refused call.
func said(e agent.Exit, words ...string) bool {
	text := strings.ToLower(e.Stderr)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
