package process

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
)

// SweepPart ends those of the tree, the leader apart, that have mark ("NAME=value")
// in their environment, and what descends from them; it waits until they are gone or
// ctx ends. known says that nothing of the part is left.
func (p *Process) SweepPart(ctx context.Context, mark string) (killed int, known bool) {
	p.sweeping.Lock()
	defer p.sweeping.Unlock()
	for quiet := 0; ; {
		found := p.look()
		found.bury()
		part := p.part(found.live, mark)
		if len(part) == 0 {
			// What ended while we looked may have left a child behind.
			if quiet++; quiet == 2 {
				return killed, true
			}
			continue
		}
		quiet = 0
		got := killAll(ctx, part)
		killed += len(got)
		if ctx.Err() != nil || len(got) == 0 && !stillThere(part) {
			return killed, false
		}
	}
}

func (p *Process) part(live []entry, mark string) (list []entry) {
	name, value, _ := strings.Cut(mark, "=")
	in := make([]bool, len(live))
	at := make(map[int]int, len(live))
	for i, e := range live {
		at[e.pid] = i
		if e.pid == p.pid {
			continue
		}
		has, ok := variable(e.pid, name)
		in[i] = ok && has == value
	}
	for grown := true; grown; {
		grown = false
		for i, e := range live {
			parent, ok := at[e.ppid]
			if !in[i] && ok && in[parent] && e.pid != p.pid {
				in[i], grown = true, true
			}
		}
	}
	for i, e := range live {
		if in[i] {
			list = append(list, e)
		}
	}
	return list
}

// Resident is how much memory the leader holds, in bytes; 0 when that is not known.
func (p *Process) Resident() int64 {
	fields := bytes.Fields(readAll("/proc/" + strconv.Itoa(p.pid) + "/statm"))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
