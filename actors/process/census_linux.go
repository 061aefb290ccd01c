package process

import (
	"os"
	"sync"
)

// census is one look at the process table, for everybody who asked before it began.
// It is no snapshot, see scan.
type census struct {
	all     []entry
	at      map[int]int // pid -> index
	moved   bool        // one was gone before it could be read
	kin     chains      // by parent
	self    int         // our pid
	session int         // our session

	// What prepare adds, for looks at the trees of this package.
	groups, sessions chains
	// loose are the living whom neither our session nor the leader of a tree of ours
	// tells from a stray member of a tree; corpses are dead orphans, for us to reap.
	loose, corpses []int
	reaping        sync.Once
	died           uint64 // when the youngest of the dead began

	mu    sync.Mutex
	marks map[int]string // by pid, of those that were asked
}

// counter makes the looks, one at a time. Who asks while one is made waits for the
// next, which serves all who asked by then: it began after they did. So what many
// endings at once cost is a few looks, not some for each.
type counter struct {
	mu      sync.Mutex
	next    *flight    // the look that was not begun yet
	looking sync.Mutex // held during a look
	made    int        // under looking: how many there were
}

type flight struct{ is *census } // under looking

var looks counter

// take gives a look that is begun after the call.
func (c *counter) take() *census { return c.give(c.ask()) }

// ask says which look is the next one.
func (c *counter) ask() *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = &flight{}
	}
	return c.next
}

// give makes the look that was asked for, unless another one who asked has made it.
func (c *counter) give(f *flight) *census {
	c.looking.Lock()
	defer c.looking.Unlock()
	if f.is == nil {
		c.mu.Lock()
		c.next = nil
		c.mu.Unlock()
		all, moved := scan()
		table.settle()
		f.is = newCensus(all, moved)
		f.is.prepare()
		c.made++
	}
	return f.is
}

func newCensus(all []entry, moved bool) *census {
	c := &census{all: all, moved: moved, self: os.Getpid(), at: make(map[int]int, len(all))}
	c.kin = chained(all, func(e *entry) int { return e.ppid })
	for i := range all {
		c.at[all[i].pid] = i
	}
	if i, ok := c.at[c.self]; ok {
		c.session = all[i].session
	}
	return c
}

// prepare does once what would be the same for every tree. The table must have settled
// since the scan.
func (c *census) prepare() {
	c.groups = chained(c.all, func(e *entry) int { return e.pgrp })
	c.sessions = chained(c.all, func(e *entry) int { return e.session })
	led := c.set()
	for i := range c.all {
		e := &c.all[i]
		if q := table.leader(e.pid); q != nil && q.start == e.start {
			led.add(i)
		}
	}
	led.descend(0)
	for i := range c.all {
		e := &c.all[i]
		switch {
		case e.dead():
			if e.start > c.died {
				c.died = e.start
			}
			if e.ppid == c.self && c.orphan(e) {
				c.corpses = append(c.corpses, i)
			}
		case e.pid != c.self && e.session != c.session && !led.in[i]:
			c.loose = append(c.loose, i)
		}
	}
}

// orphan says that a child of ours was not started by us: what we start leads a
// tree, is spared, or stays in our session.
func (c *census) orphan(e *entry) bool {
	return e.session != c.session && !table.foreign(e.pid)
}

// holds says whether a group or session number is still that of the process that
// began at start. A number in use is not given out again, so if another process
// has it, ours had died out.
func (c *census) holds(number int, start uint64) bool {
	i, ok := c.at[number]
	return !ok || c.all[i].start == start
}

// marker is the owner that a process has in its environment; it is read once.
func (c *census) marker(pid int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	mark, ok := c.marks[pid]
	if !ok {
		if c.marks == nil {
			c.marks = map[int]string{}
		}
		mark = marker(pid)
		c.marks[pid] = mark
	}
	return mark
}

// bury reaps the dead orphans; it returns when they are reaped, whoever does it.
func (c *census) bury() {
	c.reaping.Do(func() {
		for _, i := range c.corpses {
			reapOrphan(c.all[i])
		}
	})
}

// chains are entries by a number that several of them share.
type chains struct {
	first map[int]int32
	next  []int32 // by index; -1 ends a chain
}

func chained(all []entry, by func(*entry) int) chains {
	l := chains{first: make(map[int]int32, len(all)), next: make([]int32, len(all))}
	for i := len(all) - 1; i >= 0; i-- { // so that a chain is in the order of all
		n := by(&all[i])
		l.next[i] = -1
		if j, ok := l.first[n]; ok {
			l.next[i] = j
		}
		l.first[n] = int32(i)
	}
	return l
}

// of gives the first index for a number, -1 if there is none.
func (l *chains) of(number int) int32 {
	if i, ok := l.first[number]; ok {
		return i
	}
	return -1
}

// set is some of the processes of a census.
type set struct {
	c    *census
	in   []bool
	list []int // in the order they were added
}

func (c *census) set() *set { return &set{c: c, in: make([]bool, len(c.all))} }

func (s *set) add(i int) {
	if !s.in[i] {
		s.in[i] = true
		s.list = append(s.list, i)
	}
}

// descend adds the descendants of the members from the given one on.
func (s *set) descend(from int) {
	for ; from < len(s.list); from++ {
		parent := s.c.all[s.list[from]].pid
		if parent == s.c.self {
			continue
		}
		for i := s.c.kin.of(parent); i >= 0; i = s.c.kin.next[i] {
			s.add(int(i))
		}
	}
}

// living are those members that are not dead, without others, in the order of the
// table.
func (s *set) living(without []bool) (list []entry) {
	for i := range s.c.all {
		if s.in[i] && !s.c.all[i].dead() && !(without != nil && without[i]) {
			list = append(list, s.c.all[i])
		}
	}
	return list
}
