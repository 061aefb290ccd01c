package turn

import "time"

// Timer names one of a turn's clocks.
type Timer uint8

// A turn's timers.
const (
	// TurnTimer bounds the whole turn, preparation included.
	TurnTimer Timer = iota
	// IdleTimer bounds the time without output.
	IdleTimer
	// SettleTimer measures the quiet after a tentative verdict.
	SettleTimer
	// LingerTimer bounds the time a process stays after settling.
	LingerTimer
	// CallTimer measures the moment in which calls gather.
	CallTimer
	// WaitTimer bounds the caller's time to answer.
	WaitTimer

	timers
)

// String is the timer's name in logs and tests.
func (t Timer) String() string {
	switch t {
	case TurnTimer:
		return "turn"
	case IdleTimer:
		return "idle"
	case SettleTimer:
		return "settle"
	case LingerTimer:
		return "linger"
	case CallTimer:
		return "call"
	case WaitTimer:
		return "wait"
	default:
		return "unknown"
	}
}

// arm starts the timer if its limit is on.
func (t *Turn) arm(timer Timer, after time.Duration) {
	if after <= 0 {
		return
	}
	t.armed |= 1 << timer
	t.do(Arm{Timer: timer, After: after})
}

func (t *Turn) disarm(which ...Timer) {
	for _, timer := range which {
		if t.armed&(1<<timer) != 0 {
			t.armed &^= 1 << timer
			t.do(Disarm{Timer: timer})
		}
	}
}

// fired reports whether a timer that came in was armed; a stale one is nothing.
func (t *Turn) fired(timer Timer) bool {
	if timer >= timers || t.armed&(1<<timer) == 0 {
		return false
	}
	t.armed &^= 1 << timer
	return true
}

// remaining is what is left of limit since the last output. The clock may have
// been set back: never more than limit.
func (t *Turn) remaining(limit time.Duration, now int64) time.Duration {
	left := limit - time.Duration(now-t.active)*time.Millisecond
	return min(left, limit)
}
