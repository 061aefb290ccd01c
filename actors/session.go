package actors

import (
	"time"

	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages a session understands stand in the file of what they are about. Each
// with a reply channel gets exactly one answer on it; the channels are buffered
// (1).

// answer is a reply or a refusal.
type answer[T any] struct {
	value T
	err   error
}

// session is the only owner of one session's queue, fold and journal. Its
// states are loading, serving, missing, broken and closing; each says in its
// comment which messages it takes and how it is left.
type session struct {
	host       *Host
	id         event.ID
	supervisor *actor.PID
	behavior   actor.Behavior

	state *fold.State
	fifo  *queue.Session
	ring  *ring
	subs  int

	owner event.ID // the host that owns the session, and its epoch
	epoch int64
	// fence says that an actor of this session crashed: what it still had on the
	// way to the store must not land behind our back.
	fence bool

	// flight is the group being committed, next those that wait for it.
	flight *group
	next   []*group
	// staged counts inputs that are folded but not yet in the fifo.
	staged int
	// hasty is a turn that is to start in the group of its acceptance; see prompt.
	hasty event.ID

	run *running
	// released are turns made of messages for another, not in the fifo yet.
	released []event.ID
	asking   []*answers                 // handed to the running turn, and not heard of
	asks     bool                       // the supervisor knows of open questions
	spent    budget.Spent               // of the newest grant
	forget   map[event.ID][]*forgetTurn // open turns to forget at their end, and who asked
	claims   []claim
	// amendments wait for their turn; the first is being done.
	amendments []*amendment

	// skipped is the number of the Skipped event that this actor began with. A reader
	// may come with a cursor below it before it is stored.
	skipped int64

	lastCheckpoint int64
	sinceBytes     int
	trimming       bool
	trimAgain      bool  // more has come since a trim began
	thin           int64 // up to here the journal has no deltas to drop

	waiting  []any // messages that came while loading
	reading  int   // goroutines that will send what they read
	removals []chan answer[struct{}]
	erasing  bool
	// halted: no turn starts any more. quiescing: the supervisor waits until
	// everything is stored.
	halted, quiescing bool

	idle, retry timer
	pause       time.Duration // before the next retry
	retryDue    bool
	failure     error // why it is broken
	dead        bool  // it panicked; see crash
}

func newSession(h *Host, id event.ID, supervisor *actor.PID, origin origin) *session {
	s := &session{host: h, id: id, supervisor: supervisor, behavior: actor.NewBehavior(), pause: retryAfter}
	s.reset()
	if origin == created {
		s.owner, s.epoch = h.id, 1
		s.behavior.Become(s.serving)
	} else {
		s.fence = origin == afterCrash
		s.behavior.Become(s.loading)
	}
	return s
}

// origin says where a session's actor comes from.
type origin uint8

const (
	fromStore  origin = iota
	created           // by the message that follows
	afterCrash        // from the store, after an actor that panicked
)

func (s *session) reset() {
	s.state = fold.New()
	s.fifo = queue.NewSession(s.host.cfg.limits.MaxQueue)
	s.ring = newRing(0, s.host.cfg.limits.RingBytes)
	s.flight, s.next, s.staged, s.released = nil, nil, 0, nil
	s.forget, s.claims = nil, nil
	s.lastCheckpoint, s.sinceBytes, s.skipped = 0, 0, 0
	s.erasing, s.retryDue, s.hasty = false, false, event.ID{}
}

func (s *session) Receive(c actor.Context) {
	if _, ok := c.Message().(*actor.Stopped); ok {
		return // all was done while it was stopping
	}
	if s.dead {
		s.fallen(c)
		return
	}
	hasty := s.hasty
	s.receive(c)
	s.calm(c, c.Message(), hasty)
}

func (s *session) receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		if s.epoch == 0 {
			s.load(c)
		}
	case *actor.Stopping:
		s.close(event.Fail(event.ShuttingDown, "the server stopped before it could answer"))
	case *unsubscribe:
		s.unsubscribe(c)
	case *actor.Terminated:
		// It overtook what the turn sent before it stopped.
		c.Send(c.Self(), &turnGone{m.Who})
	case *turnGone:
		s.turnGone(c, m.who)
	case *turnFinished:
		s.finished(c, m.turn)
	case *endStreams:
		s.ring.close(m.reason)
	case *halt:
		s.halted = true
		s.stopTurn(c, event.Fail(event.ServerStopped, "the server was stopped before this turn ended"))
	case *giveUp:
		s.giveUp(c, m.failure)
	case *quiesce:
		s.quiescing = true
		// No slot is granted any more, so one that waits for its caller cannot go on.
		s.stopTurn(c, event.Fail(event.ServerStopped, "the server was stopped while this turn waited for its caller"))
		s.quiet(c)
	case *trimmed:
		s.slimmer(c, m.thin)
	case *inspect:
		turn, line, stuck := s.inspected()
		c.Send(s.supervisor, &inspected{s.id, turn, line, stuck, m.round})
	default:
		s.behavior.Receive(c)
	}
}

// loading: the store is being read. Left for serving, missing or broken.
func (s *session) loading(c actor.Context) {
	switch m := c.Message().(type) {
	case *loaded:
		s.arrive(c, m)
	case *passivate:
		c.Send(s.supervisor, &awake{s.id})
	default:
		s.waiting = append(s.waiting, m)
	}
}

// serving: the ordinary state. Left for broken when the store refuses a commit,
// for closing when the session is removed.
func (s *session) serving(c actor.Context) {
	switch m := c.Message().(type) {
	case *open:
		s.create(c, m)
	case *post:
		s.post(c, m)
	case *update:
		s.update(c, m)
	case *cancelTurn:
		s.cancelOne(c, m)
	case *showTurn:
		s.show(c, m)
	case *forgetTurn:
		s.forgetOne(c, m)
	case *postItems:
		s.postItems(c, m)
	case *removeItem:
		s.removeItem(c, m)
	case *amendLoaded:
		s.amendRead(c, m)
	case *subscribe:
		s.subscribe(c, m)
	case *remove:
		s.remove(c, m)
	case *evict:
		s.evict(c, m)
	default:
		s.always(c)
	}
}

// closing: the session is being removed; what runs is ended first. Left by
// stopping.
func (s *session) closing(c actor.Context) {
	switch m := c.Message().(type) {
	case *remove:
		s.removals = append(s.removals, m.reply)
	case *removed:
		s.erased(c, m.err)
	default:
		if !s.refused(m, s.notFound()) {
			s.always(c)
		}
	}
}

// missing: there is no such session. Left by stopping.
func (s *session) missing(c actor.Context) {
	switch m := c.Message().(type) {
	case *passivate:
		c.Stop(c.Self())
	default:
		s.refused(m, s.notFound())
	}
}

// broken: the store refused a commit, so the fold is ahead of the journal. The
// running turn is ended, then the session is read again. Left for loading.
func (s *session) broken(c actor.Context) {
	switch m := c.Message().(type) {
	case *granted:
		c.Send(s.supervisor, &returnSlot{m.turn})
	case *turnEvents:
		m.release(s.failure)
		if m.answers != nil {
			m.answers.tell(nil, s.failure)
		}
	case *retryUp:
		if s.retry.is(m.gen) {
			s.retryDue = true
			s.reload(c)
		}
	case *passivate:
		c.Send(s.supervisor, &awake{s.id})
	default:
		s.refused(m, s.failure)
	}
}

// always is what serving and closing share.
func (s *session) always(c actor.Context) {
	switch m := c.Message().(type) {
	case *granted:
		s.spent = m.spent
		s.reckon(c)
		s.effects(c, s.fifo.Granted(m.turn))
	case *budgets:
		s.spentOut(c)
	case *turnEvents:
		s.took(c, m)
	case *goOn:
		s.flush(c)
	case *unsteered:
		s.unsteered(c, m)
	case *park:
		s.parked(c, m.turn)
	case *parkLate:
		s.parkLate(c, m.turn)
	case *unpark:
		s.unparked(c, m.turn)
	case *committed:
		s.landed(c, m.err)
	case *idleUp:
		if s.idle.is(m.gen) && s.restful() {
			c.Send(s.supervisor, &restful{s.id})
		}
	case *passivate:
		if s.restful() {
			c.Stop(c.Self())
		} else {
			c.Send(s.supervisor, &awake{s.id})
		}
	case *wake:
		s.rest(c)
	}
}

// close ends what the actor owns: clocks, readers, and the wait of everyone who
// asked.
func (s *session) close(why error) {
	s.idle.stop()
	s.retry.stop()
	s.ring.close(event.Fail(event.ShuttingDown, "the session was closed; come back with the last cursor"))
	s.host.stats.subscribers.Add(int64(-s.subs))
	s.subs = 0
	s.unpark()
	s.unasked(why)
	s.abandon(why)
}

// check refuses a principal that does not own the session, in the words of an
// unknown id.
func (s *session) check(owner string) error {
	if owner != "" && owner != s.state.Session().Owner {
		return s.notFound()
	}
	return nil
}

func (s *session) notFound() error {
	return event.Fail(event.SessionNotFound, "there is no such session")
}

// storing reports whether something folded is not stored yet.
func (s *session) storing() bool { return s.flight != nil || len(s.next) > 0 }

// quiet tells the supervisor, if it waits for that, that everything is stored.
func (s *session) quiet(c actor.Context) {
	if s.quiescing && s.run == nil && !s.storing() {
		s.quiescing = false
		c.Send(s.supervisor, &quiescent{s.id})
	}
}
