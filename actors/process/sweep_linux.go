package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Sweep ends what is left of the tree, waits until it is gone or ctx ends, and
// forgets the process. It gives the number of processes killed without the leader.
//
// If the leader still lives it is killed too; its callbacks come as always.
func (p *Process) Sweep(ctx context.Context) (killed int) {
	p.sweeping.Lock()
	defer p.sweeping.Unlock()
	defer table.swept(p)
	if p.clean() {
		p.group.leave()
		return 0
	}
	defer p.group.remove()
	for quiet := 0; ; {
		found := p.look()
		found.bury()
		if len(found.live) == 0 {
			// The leader is dead, and the waiter about to say so.
			select {
			case <-p.gone:
			case <-ctx.Done():
				return killed
			}
			if quiet++; found.still || quiet == 2 {
				return killed
			}
			continue
		}
		quiet = 0
		p.tree.record(found.live)
		got := killAll(ctx, found.live)
		p.group.kill()
		for _, e := range got {
			if e.pid != p.pid {
				killed++
			}
		}
		if ctx.Err() != nil || len(got) == 0 && !stillThere(found.live) {
			return killed
		}
	}
}

// stillThere says whether another round makes sense after one that killed nobody:
// not if all that is left may not be signalled by us.
func stillThere(list []entry) bool {
	for _, e := range list {
		h := seen(e)
		if h == nil {
			return true // it ended; others may have come from it
		}
		err := h.signal(0)
		h.close()
		if !errors.Is(err, syscall.EPERM) {
			return true
		}
	}
	return false
}

// clean says, cheaply, that nothing is left. After a normal end the group is empty,
// and everybody else below the leader would be our child by now. Of a tree that was
// recorded nobody may live, and no child of ours may be one that could be anybody's.
// Without the subreaper nothing cheap can say so.
func (p *Process) clean() bool {
	p.mu.Lock()
	reaped := p.reaped
	p.mu.Unlock()
	if !reaped || !subreaper.Load() || !p.group.empty() {
		return false
	}
	if syscall.Kill(-p.pid, 0) != syscall.ESRCH || p.tree.lives() {
		return false
	}
	return !orphaned(p, p.tree.empty())
}

// orphaned says that there may be an orphan among our children: of p or of a
// process that was swept before, or of anybody, if asking for its mark will not do.
func orphaned(p *Process, ask bool) bool {
	children, ok := adopted()
	self, own := os.Getpid(), entry{}
	settled := false
	for _, pid := range children {
		if table.foreign(pid) {
			continue
		}
		if own.pid == 0 {
			own, _ = stat(self)
		}
		e, there := stat(pid)
		if !there || e.session == own.session || e.ppid != self {
			continue
		}
		if !settled {
			table.settle()
			settled = true
		}
		if table.foreign(pid) {
			continue
		}
		if now, there := stat(pid); !there || now.start != e.start {
			continue // a leader that is reaped already
		}
		if !ask {
			return true
		}
		if mark := marker(pid); mark == "" || !table.owned(mark, p) {
			return true
		}
	}
	return !ok
}

// reapOrphan reaps a dead child of ours that is still the one that was seen.
func reapOrphan(e entry) bool {
	now, there := stat(e.pid)
	if !there || now.start != e.start || now.ppid != os.Getpid() || table.leader(e.pid) != nil {
		return false
	}
	_, _, ok := reap(e.pid)
	return ok
}

// ReapOrphans reaps adopted orphans that died of themselves. The sweeps do it too,
// so it matters only to a program that runs no process for a long time. It does
// nothing without BecomeSubreaper.
func ReapOrphans() (reaped int) {
	if !subreaper.Load() || !orphaned(nil, true) {
		return 0
	}
	c := looks.take()
	for _, i := range c.corpses {
		if reapOrphan(c.all[i]) {
			reaped++
		}
	}
	return reaped
}

// bootSweepLimit bounds SweepMarked.
const bootSweepLimit = 10 * time.Second

// SweepMarked kills what earlier boots of a state directory left running: the
// processes whose marker begins with prefix and a slash and is not alive, and what
// descends from them. It is for the start of a program and knows nothing of the
// processes it started itself but by alive. It never signals this program or its
// ancestors.
func SweepMarked(prefix string, alive func(marker string) bool) (killed int, err error) {
	if prefix == "" {
		return 0, errors.New("sweep marked: empty prefix")
	}
	ctx, cancel := context.WithTimeout(context.Background(), bootSweepLimit)
	defer cancel()
	for quiet := 0; ; {
		list := marked(strings.TrimSuffix(prefix, "/")+"/", alive)
		if len(list) == 0 {
			if quiet++; quiet == 2 { // see sight.still
				ReapOrphans()
				return killed, nil
			}
			continue
		}
		quiet = 0
		if err := ctx.Err(); err != nil {
			return killed, fmt.Errorf("sweep marked: %d processes left: %w", len(list), err)
		}
		got := killAll(ctx, list)
		killed += len(got)
		if len(got) == 0 && !stillThere(list) {
			return killed, fmt.Errorf("sweep marked: %d processes left: %w", len(list), syscall.EPERM)
		}
	}
}

// ancestry is this program and its ancestors.
func (c *census) ancestry() []bool {
	kept := make([]bool, len(c.all))
	for pid := c.self; ; {
		i, ok := c.at[pid]
		if !ok || kept[i] {
			return kept
		}
		kept[i] = true
		pid = c.all[i].ppid
	}
}

// marked finds living processes by marker, with their descendants.
func marked(prefix string, alive func(string) bool) (list []entry) {
	c := newCensus(scan())
	s, kept := c.set(), c.ancestry()
	for i := range c.all {
		if kept[i] || c.all[i].dead() {
			continue
		}
		if mark := marker(c.all[i].pid); strings.HasPrefix(mark, prefix) && !alive(mark) {
			s.add(i)
		}
	}
	s.descend(0)
	return s.living(kept)
}
