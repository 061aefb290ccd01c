package process

import (
	"context"
	"errors"
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
	recorded bool           // as a whole, once
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

// lives says that one of those that were recorded is not dead.
func (t *tree) lives() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for pid, start := range t.members {
		if e, ok := stat(pid); ok && e.start == start && !e.dead() {
			return true
		}
	}
	return false
}

// Record notes the tree as it is now, by pid and start time. Signal and SignalTree
// do it before the first signal: killed parents take the family ties with them.
func (p *Process) Record() {
	live := p.look().live
	p.tree.record(live)
	p.tree.mu.Lock()
	defer p.tree.mu.Unlock()
	p.tree.recorded = true
}

func (p *Process) recordOnce() {
	p.tree.mu.Lock()
	done := p.tree.recorded
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
	census *census
	live   []entry // the leader, while it is not reaped, is among them
	dead   []entry // of the tree, for us to reap; not known under the subreaper
	// still says that nothing ended while we looked. Else what ended may have left
	// a child that the look was too early for.
	still bool
}

// look looks for the tree.
func (p *Process) look() sight {
	p.mu.Lock()
	reaped := p.reaped
	p.mu.Unlock()
	c := looks.take()
	s := sight{census: c, still: reaped && !c.moved && c.died < p.start}
	s.live, s.dead = p.members(c)
	return s
}

// bury reaps the dead of the tree. Under the subreaper all dead orphans are reaped:
// whose they are need not be known.
func (s *sight) bury() {
	if subreaper.Load() {
		s.census.bury()
	}
	for _, e := range s.dead {
		reapOrphan(e)
	}
}

// members finds in a census what belongs to p's tree: the living, and the dead that
// only we can reap.
func (p *Process) members(c *census) (live, dead []entry) {
	m := &membership{census: c, p: p, set: c.set()}
	p.mu.Lock()
	m.reaped = p.reaped
	p.mu.Unlock()
	m.certain()
	for _, pid := range p.group.pids() {
		if i, ok := c.at[pid]; ok && pid != c.self && c.all[i].start >= p.start {
			m.add(i)
		}
	}
	m.descend(0)
	known := len(m.list)
	for _, i := range c.loose {
		if !m.in[i] && m.likely(&c.all[i]) {
			m.add(i)
		}
	}
	m.descend(known)
	if m.reaped {
		m.forget()
	}
	if !subreaper.Load() {
		for _, i := range c.corpses {
			if m.in[i] {
				dead = append(dead, c.all[i])
			}
		}
	}
	return m.living(nil), dead
}

type membership struct {
	*census
	*set
	p      *Process
	reaped bool
}

// certain adds the members that are known by numbers that cannot be anybody else's.
// The leader is among them even if it was reaped after the census: then it is not in
// the table any more, and only by it its descendants are known.
func (m *membership) certain() {
	p := m.p
	if i, ok := m.at[p.pid]; ok && (!m.reaped || p.start > 0 && m.all[i].start == p.start) {
		m.add(i)
	}
	if m.holds(p.pid, p.start) {
		m.link(&m.groups, p.pid)
		m.link(&m.sessions, p.pid)
	}
	p.tree.mu.Lock()
	defer p.tree.mu.Unlock()
	for pid, start := range p.tree.members {
		if i, ok := m.at[pid]; ok && m.all[i].start == start && pid != p.pid {
			m.add(i)
		}
	}
	for session, start := range p.tree.sessions {
		if m.holds(session, start) {
			m.link(&m.sessions, session)
		}
	}
}

// link adds those of one chain that may belong to the tree.
func (m *membership) link(l *chains, number int) {
	for i := l.of(number); i >= 0; i = l.next[i] {
		if e := &m.all[i]; e.pid != m.self && e.pid != m.p.pid && e.start >= m.p.start {
			m.add(int(i))
		}
	}
}

// forget takes the reaped leader out again.
func (m *membership) forget() {
	if i, ok := m.at[m.p.pid]; ok && m.all[i].start == m.p.start {
		m.in[i] = false
	}
}

// likely members are told by their environment, or by being nobody else's.
func (m *membership) likely(e *entry) bool {
	adopted := subreaper.Load() && e.ppid == m.self
	if e.start < m.p.start && !adopted {
		return false
	}
	mark := m.marker(e.pid)
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
