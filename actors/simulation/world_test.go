package simulation

import (
	"container/heap"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/turn"
)

// faults are the rules that a mutation breaks.
type faults struct {
	skipReturn   bool // a slot is sometimes not given back
	extraSlot    bool // one slot more than promised
	ackEarly     bool // inputs are acknowledged before their commit
	spawnEarly   bool // CLIs are spawned before TurnStarted is stored
	rerunStarted bool // after a restart started turns run again
	reorder      bool // after a restart queued turns run newest first
	doneEarly    bool // the session goes on while the old process is there
	lateEvents   bool // what a settled CLI says is journalled
	heldStarts   bool // what a budget holds is started all the same
	goOnSlotless bool // a waiting turn goes on without a slot
	parkAll      bool // more turns wait without a slot than may
	answerEarly  bool // answers are acknowledged before their commit
	deliverTwice bool // the CLI is told an answer again
	unbounded    bool // nobody is held to a bound of their own
	newestFirst  bool // admission takes the newest of a principal first
	loseAsk      bool // a turn that asks for a slot is sometimes not heard
	starve       bool // one principal has to wait until nobody else does
	loseSteers   bool // a message that a turn ended without is forgotten
	steerAlways  bool // messages become turns whether they were taken or not
}

const (
	slots     = 3
	maxQueue  = 5
	maxParked = 2 // turns that wait for their caller without a slot
	sessions  = 8 // about how many there are at a time
)

// Well-known actors. Sessions, turns and processes get numbers above.
const (
	client = iota
	supervisor
	storage
	clock
	firstActor
)

// world is one run: a server and what is around it.
type world struct {
	rng    *rand.Rand
	faults faults
	now    int64
	steps  int
	judge  *judge

	store *memory.Store
	host  event.ID

	actors int
	inbox  map[int]func(any)
	lanes  map[[2]int]*lane
	ready  []*lane
	timers timers

	admit    *queue.Admission
	sessions map[event.ID]*session // in memory
	known    []event.ID            // created and not deleted, as clients know
	turns    []*turnActor
	procs    []*process
	parked   int        // turns without a slot
	asked    []question // by turns that wait or waited, as clients know
	ids      uint64
	number   int64

	eager      int // how often clients act
	draining   bool
	drainUntil int64
	told       bool // the drain limit has passed
	counts     map[string]int
}

func newWorld(seed uint64, f faults) *world {
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 1)), faults: f, now: 1_000_000,
		store: memory.NewManual(), counts: map[string]int{}, eager: 200,
	}
	w.judge = newJudge(w)
	w.boot()
	return w
}

// boot starts a server on the store and recovers what it finds.
func (w *world) boot() {
	w.host = w.id()
	w.inbox, w.lanes, w.ready, w.timers = map[int]func(any){}, map[[2]int]*lane{}, nil, nil
	w.actors = firstActor
	w.admit = queue.NewAdmission(rules(w.faults))
	clear(w.judge.passed)
	w.sessions = map[event.ID]*session{}
	w.turns, w.procs, w.parked = nil, nil, 0
	w.draining, w.told = false, false
	w.inbox[supervisor] = w.supervise
	active, err := w.store.ActiveSessions(context.Background())
	w.must(err)
	for _, rec := range active {
		w.session(rec.ID)
	}
	if n, err := w.store.NextNumber(context.Background()); err != nil || n <= 0 || n > w.number+1 {
		w.judge.fail("next number %d after %d: %v", n, w.number, err)
	}
}

func (w *world) must(err error) {
	if err != nil {
		w.judge.fail("store: %v", err)
	}
}

func (w *world) id() event.ID {
	w.ids++
	var id event.ID
	binary.BigEndian.PutUint64(id[:], w.ids)
	return id
}

// chance is true once in n.
func (w *world) chance(n int) bool { return w.rng.IntN(n) == 0 }

// lane is the mailbox from one actor to another: in order.
type lane struct {
	key [2]int
	q   []any
	at  int // in ready
}

func (w *world) send(from, to int, m any) {
	if w.inbox[to] == nil {
		return // it is gone
	}
	key := [2]int{from, to}
	l := w.lanes[key]
	if l == nil {
		l = &lane{key: key, at: len(w.ready)}
		w.lanes[key] = l
		w.ready = append(w.ready, l)
	}
	l.q = append(l.q, m)
}

func (w *world) spawn(handle func(any)) int {
	w.actors++
	w.inbox[w.actors] = handle
	return w.actors
}

func (w *world) deliver() bool {
	if len(w.ready) == 0 {
		return false
	}
	l := w.ready[w.rng.IntN(len(w.ready))]
	m := l.q[0]
	if l.q = l.q[1:]; len(l.q) == 0 {
		last := w.ready[len(w.ready)-1]
		w.ready[l.at], last.at = last, l.at
		w.ready = w.ready[:len(w.ready)-1]
		delete(w.lanes, l.key)
	}
	if handle := w.inbox[l.key[1]]; handle != nil {
		handle(m)
	}
	return true
}

// timer is one alarm; the turn ignores it when gen is not the newest.
type timer struct {
	at    int64
	order int
	fire  func()
}

type timers []timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].order < t[j].order
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timers) Push(x any)   { *t = append(*t, x.(timer)) }
func (t *timers) Pop() any {
	old := *t
	x := old[len(old)-1]
	*t = old[:len(old)-1]
	return x
}

func (w *world) after(d time.Duration, fire func()) {
	w.steps++
	heap.Push(&w.timers, timer{at: w.now + d.Milliseconds(), order: w.steps, fire: fire})
}

// tick fires what is due; with jump it goes to the next alarm.
func (w *world) tick(jump bool) bool {
	if len(w.timers) == 0 {
		return false
	}
	if jump {
		w.now = max(w.now, w.timers[0].at)
	}
	if w.timers[0].at > w.now {
		return false
	}
	heap.Pop(&w.timers).(timer).fire()
	return true
}

// step is one random thing that happens.
func (w *world) step() {
	w.steps++
	w.now += int64(w.rng.IntN(3))
	if w.steps%2000 == 0 {
		w.eager = 20 + w.rng.IntN(500) // clients have their hours
	}
	switch n := w.rng.IntN(10_000); {
	case n < 3:
		w.crash()
		return
	case n == 3 && !w.draining:
		w.drain()
		return
	case n < 7:
		w.store.Refuse(errRefused)
		w.counts["refused"]++
	case n < 60:
		w.passivate()
	case n < 60+w.eager:
		w.ask()
		return
	}
	w.work()
	w.drained()
	if w.steps%64 == 0 {
		w.judge.live()
	}
}

// work serves one of those who have something to do.
func (w *world) work() bool {
	if w.tick(false) {
		return true
	}
	order := [...]func() bool{w.deliver, w.store.Step, w.talk}
	first := w.rng.IntN(5)
	for i := range order {
		if order[(max(first-2, 0)+i)%len(order)]() {
			return true
		}
	}
	return w.tick(true)
}

// settle runs without clients until nothing is left to do.
func (w *world) settle() {
	w.store.Refuse(nil)
	for n := 0; w.judge.verdict == nil && (w.work() || w.draining || w.letGo()); n++ {
		w.drained()
		if n > 1_000_000 {
			w.judge.fail("no rest after a million steps")
		}
	}
	w.judge.quiet()
}

// crash ends the server at once: what was not applied is lost, CLIs die with it.
func (w *world) crash() {
	w.counts["crashes"]++
	w.restart()
}

func (w *world) restart() {
	w.store = w.store.Reopen()
	w.judge.restarted()
	w.boot()
}

// drain refuses input, grants nothing and waits for what runs.
func (w *world) drain() {
	w.counts["drains"]++
	w.draining, w.drainUntil = true, w.now+2000
	w.admit.Stop()
	w.after(2*time.Second, func() {})
}

// drained restarts the server once nothing runs, and ends what runs at the limit.
func (w *world) drained() {
	if !w.draining {
		return
	}
	if w.now >= w.drainUntil && !w.told {
		w.told = true
		for _, t := range w.turns {
			w.send(supervisor, t.actor, turn.Stop{Failure: event.Fail(event.ServerStopped, "drained")})
		}
	}
	if len(w.turns) == 0 && w.store.Pending() == 0 && len(w.ready) == 0 {
		if len(w.procs) > 0 {
			w.judge.fail("%d processes outlive the drain", len(w.procs))
		}
		w.counts["drained"]++
		w.restart()
	}
}

// passivate lets a session at rest go; it is read back at its next message.
func (w *world) passivate() {
	for _, id := range w.known {
		s := w.sessions[id]
		if s == nil || !s.restful() {
			continue
		}
		for _, l := range w.ready {
			if l.key[1] == s.actor {
				return
			}
		}
		w.counts["passivated"]++
		delete(w.inbox, s.actor)
		delete(w.sessions, id)
		return
	}
}

// ask is a client's act.
func (w *world) ask() {
	if len(w.known) < sessions && w.chance(3) {
		if !w.draining {
			w.open()
		}
		return
	}
	if len(w.known) == 0 {
		return
	}
	at := w.rng.IntN(len(w.known))
	s := w.session(w.known[at])
	switch n := w.rng.IntN(100); {
	case n == 0:
		w.counts["deletes"]++
		w.send(client, s.actor, remove{})
	case n < 20:
		w.send(client, s.actor, cancel{})
	case n < 35:
		w.send(client, s.actor, raise{int64(w.rng.IntN(200))})
	case n < 75 && w.answer():
	case !w.draining:
		w.send(client, s.actor, post{n: 1 + w.rng.IntN(3), thenCancel: w.chance(10), steer: w.chance(2)})
	}
}

// left says that a session's actor is gone for good; what was on its way to it is
// lost.
type left struct{ session event.ID }

// supervise is the supervisor's mailbox.
func (w *world) supervise(m any) {
	w.admit.At(w.now)
	switch m := m.(type) {
	case queue.Entry:
		if w.faults.loseAsk && w.chance(50) {
			return
		}
		w.line(m)
	case queue.Withdraw:
		delete(w.judge.passed, m.Turn)
		w.admit.Withdraw(m.Turn)
	case queue.Return:
		if w.faults.skipReturn && w.chance(20) {
			return
		}
		delete(w.judge.passed, m.Turn)
		w.grant(w.admit.Return(m.Turn))
	case left:
		w.grant(w.admit.Leave(m.session))
	default:
		w.judge.fail("supervisor got %T", m)
	}
	w.judge.shared()
}

func (w *world) grant(gs []queue.Grant) {
	for _, g := range gs {
		w.judge.granted()
		w.judge.fair(g, w.admit.Line(0))
		if w.sessions[g.Session] == nil && !slices.Contains(w.known, g.Session) {
			w.grant(w.admit.Return(g.Turn)) // deleted meanwhile
			continue
		}
		w.send(supervisor, w.session(g.Session).actor, granted{g.Turn})
	}
}

func (w *world) String() string {
	return fmt.Sprintf("step %d, %v", w.steps, w.counts)
}
