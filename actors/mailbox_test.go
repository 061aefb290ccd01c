package actors

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// receiver notes what a mailbox hands out, and panics on a message "panic".
type receiver struct {
	mu      sync.Mutex
	got     []string
	on      map[string]func()
	workers int
	crowded bool
}

func (r *receiver) take(kind string, message any) {
	r.mu.Lock()
	r.workers++
	r.crowded = r.crowded || r.workers > 1
	r.got = append(r.got, fmt.Sprint(kind, message))
	f := r.on[fmt.Sprint(message)]
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.workers--
		r.mu.Unlock()
	}()
	if f != nil {
		f()
	}
	if message == "panic" {
		panic("as asked")
	}
}

func (r *receiver) InvokeUserMessage(m any)   { r.take("", m) }
func (r *receiver) InvokeSystemMessage(m any) { r.take("system ", m) }
func (r *receiver) EscalateFailure(reason, on any) {
	r.take("escalated ", fmt.Sprint(reason, ": ", on))
}

func (r *receiver) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.got, want) {
		t.Errorf("handed out %q, want %q", r.got, want)
	}
	r.got = nil
}

// later is a dispatcher that works when it is told to.
type later struct{ work []func() }

func (l *later) Schedule(f func()) { l.work = append(l.work, f) }
func (l *later) Throughput() int   { return 3 }

func (l *later) do() {
	for len(l.work) > 0 {
		f := l.work[0]
		l.work = l.work[1:]
		f()
	}
}

func TestMailboxKeepsTheRulesOfTheLibrary(t *testing.T) {
	t.Parallel()
	m, r, l := newMailbox(), &receiver{on: map[string]func(){}}, &later{}
	m.RegisterHandlers(r, l)
	m.Start()
	m.PostUserMessage(1)
	m.PostUserMessage(2)
	m.PostSystemMessage("a")
	if n := m.UserMessageCount(); n != 2 || len(l.work) != 1 {
		t.Errorf("%d messages, scheduled %d times", n, len(l.work))
	}
	r.on["1"] = func() {
		m.PostUserMessage(3)
		m.PostSystemMessage("b")
	}
	l.do()
	r.want(t, "system a", "1", "system b", "2", "3")

	m.PostSystemMessage(&actor.SuspendMailbox{})
	m.PostUserMessage(4)
	m.PostSystemMessage("c")
	l.do()
	r.want(t, "system c")
	m.PostUserMessage(5)
	l.do()
	r.want(t)
	m.PostSystemMessage(&actor.ResumeMailbox{})
	l.do()
	r.want(t, "4", "5")

	m.PostUserMessage("panic")
	m.PostUserMessage(6)
	l.do()
	r.want(t, "panic", "escalated as asked: panic", "6")
}

func TestMailboxLosesAndReordersNothing(t *testing.T) {
	t.Parallel()
	const senders, each = 8, 2000
	var w crew
	defer w.end()
	var all sync.WaitGroup
	all.Add(senders * each)
	m, r := newMailbox(), &receiver{on: map[string]func(){}}
	next := make([]int, senders)
	m.RegisterHandlers(&inOrder{receiver: r, next: next, done: all.Done}, &w)
	for s := range senders {
		go func() {
			for n := range each {
				m.PostUserMessage([2]int{s, n})
			}
		}()
	}
	all.Wait()
	for s, n := range next {
		if n != each {
			t.Errorf("of sender %d, %d messages came in order", s, n)
		}
	}
	if r.crowded {
		t.Error("two goroutines worked at once")
	}
}

// inOrder counts the messages of each sender that came when they were due.
type inOrder struct {
	*receiver
	next []int
	done func()
}

func (r *inOrder) InvokeUserMessage(m any) {
	r.take("", m)
	if of := m.([2]int); r.next[of[0]] == of[1] {
		r.next[of[0]]++
	}
	r.done()
}

// A queue that is never empty does not grow for ever, and an empty one holds no room.
func TestLettersHoldNoRoom(t *testing.T) {
	t.Parallel()
	var l letters
	for n := range 10_000 {
		l.push(n)
		l.push(n)
		if n > 50 {
			l.pop()
			l.pop()
		}
	}
	if c := cap(l.list); c > 1000 {
		t.Errorf("room for %d messages, with %d in it", c, l.len())
	}
	for l.len() > 0 {
		l.pop()
	}
	if c := cap(l.list); c > keptLetters {
		t.Errorf("room for %d messages, with none in it", c)
	}
}
