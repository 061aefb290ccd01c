package measure

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/bench/report"
)

// work is what the product's server has done so far, in counts: they do not depend on
// how busy the machine is, as times do.
type work struct {
	known         bool
	allocs, bytes float64 // of the heap
	waits         float64 // how often a thread gave the processor up to wait
}

// work of a subject; unknown for one that does not tell.
func (l *lab) work(s *subject) work {
	if s.host == nil {
		return work{}
	}
	return work{true, s.host.Metric("go_memstats_mallocs_total"), s.host.Metric("go_memstats_alloc_bytes_total"), waits(s.pid)}
}

func (w work) since(before work) work {
	return work{w.known, w.allocs - before.allocs, w.bytes - before.bytes, w.waits - before.waits}
}

// per adds the work that each of n things took to the figures.
func (w work) per(n float64, thing string, f report.Figures) {
	if w.known {
		f["allocs_per_"+thing], f["bytes_per_"+thing], f["waits_per_"+thing] = w.allocs/n, w.bytes/n, w.waits/n
	}
}

// waits counts how often the threads of a process waited.
func waits(pid int) float64 {
	list, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/status")
	sum := 0.0
	for _, file := range list {
		for line := range strings.Lines(word(file)) {
			if v, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
				if err == nil {
					sum += n
				}
			}
		}
	}
	return sum
}
