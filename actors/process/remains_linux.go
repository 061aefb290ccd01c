package process

import (
	"context"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The shortened ladder of what nobody waits for any more.
const (
	shortInterrupt = 250 * time.Millisecond
	shortTerminate = 250 * time.Millisecond
	lookAgain      = 20 * time.Millisecond
)

// End ends all of it: SIGINT to the groups of the leaders, SIGTERM, and SIGKILL to
// everything, in less than a second altogether. It says how many processes there
// were and how many are left when ctx ends. It never signals this program or its
// ancestors, which a program that is only stopped is one of.
func (r *Remains) End(ctx context.Context) (found, left int) {
	seen := map[int]uint64{}
	begin := time.Now()
	interrupted, terminated := false, false
	for quiet := 0; ; {
		live := r.look()
		for _, e := range live {
			seen[e.pid] = e.start
		}
		r.remember(live)
		if r.Alive { // the first look knows all that was there
			r.Prefixes, r.Groups = nil, nil
		}
		spent := time.Since(begin)
		switch {
		case len(live) == 0:
			// Twice: what ended while we looked may have left a child that the look was
			// too early for. A process just being forked takes its marker a moment later.
			if quiet++; quiet == 3 {
				r.removeGroups()
				return len(seen), 0
			}
		case spent >= shortInterrupt+shortTerminate:
			quiet = 0
			r.killGroups()
			killAll(ctx, live)
		case spent >= shortInterrupt && !terminated:
			quiet, terminated = 0, true
			r.signal(live, syscall.SIGTERM)
		case !interrupted:
			quiet, interrupted = 0, true
			r.signal(live, syscall.SIGINT)
		default:
			quiet = 0
		}
		select {
		case <-ctx.Done():
			return len(seen), len(r.look())
		case <-time.After(lookAgain):
		}
	}
}

// signal is for the members of the leaders' groups, as from a Process.
func (r *Remains) signal(live []entry, sig syscall.Signal) {
	leaders := map[int]bool{}
	for _, t := range r.Trees {
		leaders[t.Pid] = true
	}
	for _, e := range live {
		if leaders[e.pgrp] {
			signalEntry(e, sig)
		}
	}
}

// remember keeps what was found: killed parents take the family ties with them.
func (r *Remains) remember(live []entry) {
	if r.Orphans == nil {
		r.Orphans = map[int]uint64{}
	}
	for _, e := range live {
		r.Orphans[e.pid] = e.start
	}
}

// look finds the living.
func (r *Remains) look() (list []entry) {
	c := newCensus(scan())
	s, kept := c.set(), c.ancestry()
	leaders := make(map[int]uint64, len(r.Trees))
	for _, t := range r.Trees {
		leaders[t.Pid] = t.Start
	}
	for _, dir := range r.Groups {
		for _, pid := range (&group{dir: dir}).pids() {
			if i, ok := c.at[pid]; ok {
				s.add(i)
			}
		}
	}
	belongs := func(number int) bool { // a leader's group or session, still its own
		start, ok := leaders[number]
		return ok && number > 1 && (start == 0 || c.holds(number, start))
	}
	for i := range c.all {
		e := &c.all[i]
		if kept[i] || e.dead() || s.in[i] {
			continue
		}
		start, known := r.Orphans[e.pid]
		if known && start == e.start || belongs(e.pid) || belongs(e.pgrp) || belongs(e.session) || r.marked(e.pid) {
			s.add(i)
		}
	}
	s.descend(0)
	return s.living(kept)
}

func (r *Remains) marked(pid int) bool {
	if len(r.Prefixes) == 0 {
		return false
	}
	mark := marker(pid)
	for _, p := range r.Prefixes {
		if strings.HasPrefix(mark, strings.TrimSuffix(p, "/")+"/") {
			return true
		}
	}
	return false
}

func (r *Remains) killGroups() {
	for _, dir := range r.Groups {
		(&group{dir: dir}).kill()
	}
}

func (r *Remains) removeGroups() {
	for _, dir := range r.Groups {
		(&group{dir: dir, rmdir: unix.Rmdir}).remove()
	}
}

// Adopted lists the orphans that a subreaper has adopted so far, with their start
// times: children of its main thread that are in another session than it.
func Adopted(of int) map[int]uint64 {
	own, ok := stat(of)
	if !ok {
		return nil
	}
	var list map[int]uint64
	children, _ := childrenOf(of)
	for _, pid := range children {
		if e, ok := stat(pid); ok && e.ppid == of && e.session != own.session && pid != os.Getpid() && !e.dead() {
			if list == nil {
				list = map[int]uint64{}
			}
			list[pid] = e.start
		}
	}
	return list
}
