package process

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tree is what was recorded of a process's descendants.
type tree struct {
	mu       sync.Mutex
	members  map[int]uint64 // pid -> start time
	sessions map[int]uint64 // session -> start time of its leader
	signaled bool           // recorded before the first signal
	cpu      time.Duration  // the most that was measured
}

func (t *tree) record(set []entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.members == nil {
		t.members, t.sessions = map[int]uint64{}, map[int]uint64{}
	}
	for _, e := range set {
		t.members[e.pid] = e.start
		if e.session == e.pid {
			t.sessions[e.pid] = e.start
		}
	}
}

func (t *tree) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.members) == 0
}

// Record notes the tree as it is now, by pid and start time. Signal and SignalTree
// do it before the first signal: killed parents take the family ties with them.
func (p *Process) Record() {
	p.tree.record(p.look().live)
}

func (p *Process) recordOnce() {
	p.tree.mu.Lock()
	done := p.tree.signaled
	p.tree.signaled = true
	p.tree.mu.Unlock()
	if !done {
		p.Record()
	}
}

// Signal signals the group.
func (p *Process) Signal(sig syscall.Signal) {
	p.recordOnce()
	if p.signalGroup(sig) {
		return
	}
	// The leader is reaped: what is left of its group is signalled one by one.
	for _, e := range p.look().live {
		if e.pgrp == p.pid {
			signalEntry(e, sig)
		}
	}
}

// SignalTree signals the group and every other member of the tree.
func (p *Process) SignalTree(sig syscall.Signal) {
	p.Record()
	p.tree.mu.Lock()
	p.tree.signaled = true
	p.tree.mu.Unlock()
	sent := p.signalGroup(sig)
	live := p.look().live
	p.tree.record(live)
	for _, e := range live {
		if !sent || e.pgrp != p.pid {
			signalEntry(e, sig)
		}
	}
	if sig == syscall.SIGKILL {
		p.group.kill() // what was forked since the look too
	}
}

// signalGroup signals the group while its number is certainly ours.
func (p *Process) signalGroup(sig syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return false
	}
	_ = syscall.Kill(-p.pid, sig)
	return true
}

// signalEntry signals one process if it is still the one that was seen.
func signalEntry(e entry, sig syscall.Signal) {
	if h := seen(e); h != nil {
		_ = h.signal(sig) // gone meanwhile, or another user's: nothing to be done
		h.close()
	}
}

// seen opens the process of e, nil if it is gone. The start time is compared after
// the opening: if it is right now, the descriptor was opened on the same process.
func seen(e entry) *handle {
	h, err := openHandle(e.pid)
	if errors.Is(err, syscall.ENOSYS) {
		h, err = newHandle(e.pid, -1), nil
	}
	if err != nil {
		return nil
	}
	if now, ok := stat(e.pid); !ok || now.start != e.start || now.dead() {
		h.close()
		return nil
	}
	return h
}

// sight is what one look at the tree found.
type sight struct {
	live, dead []entry // as members gives them
	// still says that nothing ended while we looked. Else what ended may have left
	// a child that the look was too early for.
	still bool
}

// look scans for the tree.
func (p *Process) look() sight {
	p.mu.Lock()
	reaped := p.reaped
	p.mu.Unlock()
	all, moved := scan()
	table.settle()
	s := sight{still: reaped && !moved}
	s.live, s.dead = p.members(all)
	for _, e := range all {
		if e.dead() && e.start >= p.start {
			s.still = false
		}
	}
	return s
}

// members finds in a scan what belongs to p's tree: the living, and the dead that
// only we can reap. The leader, while it is not reaped, is among the living.
func (p *Process) members(all []entry) (live, dead []entry) {
	m := &membership{p: p, self: os.Getpid(), at: make(map[int]int, len(all)), all: all, in: make([]bool, len(all))}
	for i := range all {
		m.at[all[i].pid] = i
	}
	if i, ok := m.at[m.self]; ok {
		m.session = all[i].session
	}
	p.mu.Lock()
	m.reaped = p.reaped
	p.mu.Unlock()
	p.tree.mu.Lock()
	for i := range all {
		m.in[i] = m.certain(&all[i])
	}
	p.tree.mu.Unlock()
	for _, pid := range p.group.pids() {
		if i, ok := m.at[pid]; ok && pid != m.self && all[i].start >= p.start {
			m.in[i] = true
		}
	}
	m.descend()
	for i := range all {
		m.in[i] = m.in[i] || m.likely(i)
	}
	m.descend()
	for i := range all {
		e := all[i]
		switch {
		case e.pid == p.pid && e.dead() && !m.reaped: // the waiter's business
		case m.in[i] && !e.dead():
			live = append(live, e)
		case e.dead() && e.ppid == m.self && m.orphan(&e) && (m.in[i] || subreaper.Load()):
			dead = append(dead, e)
		}
	}
	return live, dead
}

type membership struct {
	p       *Process
	reaped  bool
	self    int // our pid
	session int // our session
	all     []entry
	at      map[int]int // pid -> index
	in      []bool
}

// certain members are known by numbers that cannot be anybody else's.
func (m *membership) certain(e *entry) bool {
	if e.pid == m.self || e.start < m.p.start {
		return false
	}
	if e.pid == m.p.pid {
		return !m.reaped
	}
	if start, ok := m.p.tree.members[e.pid]; ok && start == e.start {
		return true
	}
	if (e.pgrp == m.p.pid || e.session == m.p.pid) && m.holds(m.p.pid, m.p.start) {
		return true
	}
	start, ok := m.p.tree.sessions[e.session]
	return ok && m.holds(e.session, start)
}

// holds says whether a group or session number is still that of the process that
// began at start. A number in use is not given out again, so if another process
// has it, ours had died out.
func (m *membership) holds(number int, start uint64) bool {
	i, ok := m.at[number]
	return !ok || m.all[i].start == start
}

// likely members are told by their environment, or by being nobody else's.
func (m *membership) likely(i int) bool {
	e := &m.all[i]
	adopted := subreaper.Load() && e.ppid == m.self
	if e.dead() || e.pid == m.self || e.session == m.session || m.elsewhere(i) {
		return false
	}
	if e.start < m.p.start && !adopted {
		return false
	}
	mark := marker(e.pid)
	if mark != "" && mark == m.p.spec.Marker {
		return true
	}
	if !adopted || !m.orphan(e) {
		return false
	}
	if mark != "" { // a straggler of a tree that was swept before
		return samePrefix(mark, m.p.spec.Marker) && !table.owned(mark, m.p)
	}
	return !table.suspect(e.start, m.p)
}

// elsewhere says that a process is below the leader of another tree, so that its
// environment need not be read.
func (m *membership) elsewhere(i int) bool {
	for range m.all { // bounded: a scan is not a snapshot and might have a loop
		e := &m.all[i]
		if q := table.leader(e.pid); q != nil && q != m.p && q.start == e.start {
			return true
		}
		next, ok := m.at[e.ppid]
		if !ok || e.ppid == m.self {
			return false
		}
		i = next
	}
	return false
}

// orphan says that a child of ours was not started by us: what we start leads a
// tree, is spared, or stays in our session.
func (m *membership) orphan(e *entry) bool {
	return e.session != m.session && !table.foreign(e.pid)
}

// descend adds the descendants of the members.
func (m *membership) descend() {
	for grown := true; grown; {
		grown = false
		for i := range m.all {
			if m.in[i] {
				continue
			}
			if parent, ok := m.at[m.all[i].ppid]; ok && m.in[parent] && m.all[parent].pid != m.self {
				m.in[i], grown = true, true
			}
		}
	}
}

// samePrefix says that two markers are of the same state directory and boot.
func samePrefix(a, b string) bool {
	i, j := strings.LastIndexByte(a, '/'), strings.LastIndexByte(b, '/')
	return i > 0 && i == j && a[:i] == b[:j]
}

// killAll kills and waits until they are dead or ctx ends. It says which were
// killed; those that may not be signalled are not waited for.
func killAll(ctx context.Context, list []entry) (killed []entry) {
	handles := make([]*handle, 0, len(list))
	for _, e := range list {
		h := seen(e)
		if h == nil {
			continue
		}
		if err := h.signal(syscall.SIGKILL); err != nil {
			h.close()
			continue
		}
		killed, handles = append(killed, e), append(handles, h)
	}
	for _, h := range handles {
		h.waitGone(ctx)
		h.close()
	}
	return killed
}
