package sse

import (
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
)

// spokes spreads the heartbeats of all streams over one period.
const spokes = 16

// wheel wakes the streams of one slot after the other by closing a channel that
// all of them wait on: no timer and no memory per stream.
type wheel struct {
	mu   sync.Mutex
	next int
	at   [spokes]chan struct{}
}

func (w *wheel) init() {
	for i := range w.at {
		w.at[i] = make(chan struct{})
	}
}

// slot deals the slots out in turn.
func (w *wheel) slot() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = (w.next + 1) % spokes
	return w.next
}

// beat is closed at the slot's next heartbeat.
func (w *wheel) beat(slot int) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at[slot]
}

func (w *wheel) turn(slot int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.at[slot])
	w.at[slot] = make(chan struct{})
}

// beat is the hub's goroutine; it ends when the hub closes.
func (h *Hub) beat() {
	defer crash.Guard()
	defer h.running.Done()
	t := time.NewTicker(max(h.heartbeat/spokes, time.Millisecond))
	defer t.Stop()
	for slot := 0; ; slot = (slot + 1) % spokes {
		select {
		case <-t.C:
			h.wheel.turn(slot)
			if slot == 0 {
				h.dropUnstarted(unstartedLimit)
			}
		case <-h.closing:
			return
		}
	}
}
