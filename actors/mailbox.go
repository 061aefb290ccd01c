package actors

import (
	"runtime"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// mailbox holds an actor's messages. It keeps the rules of the library's own unbounded
// one: messages of the system come first, a suspended actor gets no others, and one
// goroutine at a time works. It has nothing in it, and holds no room to speak of, while
// there is nothing to do, which is nearly always: a server knows many more sessions than
// it runs.
type mailbox struct {
	mu                 sync.Mutex
	working, suspended bool
	system, user       letters
	invoker            actor.MessageInvoker
	crew               actor.Dispatcher
}

// newMailbox is an actor.MailboxProducer.
func newMailbox() actor.Mailbox { return &mailbox{} }

// RegisterHandlers is called once, before any message.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, crew actor.Dispatcher) {
	m.invoker, m.crew = invoker, crew
}

// Start has nothing to do.
func (m *mailbox) Start() {}

// PostUserMessage takes one of our messages in.
func (m *mailbox) PostUserMessage(message any) { m.post(&m.user, message) }

// PostSystemMessage takes one of the library's in.
func (m *mailbox) PostSystemMessage(message any) { m.post(&m.system, message) }

func (m *mailbox) post(to *letters, message any) {
	m.mu.Lock()
	to.push(message)
	idle := !m.working
	m.working = true
	m.mu.Unlock()
	if idle {
		m.crew.Schedule(m.work)
	}
}

// UserMessageCount is how many wait.
func (m *mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.user.len()
}

// work hands out what is there, and ends when nothing is.
func (m *mailbox) work() {
	for m.run() {
	}
}

// run hands out messages until none is left, or until the actor panicked on one: then
// there may be more.
func (m *mailbox) run() (more bool) {
	var message any
	defer func() {
		if r := recover(); r != nil {
			m.invoker.EscalateFailure(r, message)
			more = true
		}
	}()
	for n := 1; ; n++ {
		var system, ok bool
		if message, system, ok = m.next(); !ok {
			return false
		}
		if system {
			m.invoker.InvokeSystemMessage(message)
		} else {
			m.invoker.InvokeUserMessage(message)
		}
		if n%m.crew.Throughput() == 0 {
			runtime.Gosched()
		}
	}
}

// next takes the next message out. With none left the work is over: who posts the next
// one begins it anew.
func (m *mailbox) next() (message any, system, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.system.len() > 0 {
		switch message := m.system.pop(); message.(type) {
		case *actor.SuspendMailbox:
			m.suspended = true
		case *actor.ResumeMailbox:
			m.suspended = false
		default:
			return message, true, true
		}
	}
	if m.user.len() > 0 && !m.suspended {
		return m.user.pop(), false, true
	}
	m.working = false
	return nil, false, false
}

// letters are messages in the order they came.
type letters struct {
	list []any
	head int // of those not taken out
}

// Room for that many stays when all were taken out.
const keptLetters = 8

func (l *letters) len() int { return len(l.list) - l.head }

func (l *letters) push(message any) {
	if l.head > keptLetters && l.head > len(l.list)/2 && len(l.list) == cap(l.list) {
		l.list, l.head = slices.Delete(l.list, 0, l.head), 0 // rather than grow for ever
	}
	l.list = append(l.list, message)
}

func (l *letters) pop() any {
	message := l.list[l.head]
	l.list[l.head] = nil
	if l.head++; l.head < len(l.list) {
		return message
	}
	if l.list, l.head = l.list[:0], 0; cap(l.list) > keptLetters {
		l.list = nil
	}
	return message
}
