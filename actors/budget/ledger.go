package budget

import (
	"maps"

	"github.com/agenthost/agenthost/actors/event"
)

// Ledger sums what principals ever used, and what the host used today. It is not
// safe for concurrent use.
type Ledger struct {
	caps       Caps
	day        int64
	today      Amount
	principals map[string]Amount
	held       *Held
}

// NewLedger begins with what was used before: today's sum is that of day.
func NewLedger(c Caps, day int64, today Amount, principals map[string]Amount) *Ledger {
	l := &Ledger{caps: c, day: day, today: today, principals: maps.Clone(principals), held: &Held{}}
	if l.principals == nil {
		l.principals = map[string]Amount{}
	}
	l.held.day = l.dayReached()
	for p := range l.principals {
		if b := l.principalReached(p); b != nil {
			l.held = l.held.with(p, b)
		}
	}
	return l
}

// Add counts what a principal used on a day. It reports whether Held is another
// one now. What comes late, of a day that is over, counts for the principal alone.
func (l *Ledger) Add(principal string, day int64, a Amount) (changed bool) {
	changed = l.Roll(day)
	l.principals[principal] = l.principals[principal].Plus(a)
	if day == l.day {
		l.today = l.today.Plus(a)
	}
	if b := l.principalReached(principal); b != nil && l.held.principals[principal] == nil {
		l.held, changed = l.held.with(principal, b), true
	}
	if b := l.dayReached(); b != nil && l.held.day == nil {
		l.held, changed = &Held{day: b, principals: l.held.principals}, true
	}
	return changed
}

// Roll begins a new day. It reports whether Held is another one now. A clock that
// was set back begins no day again.
func (l *Ledger) Roll(day int64) (changed bool) {
	if day <= l.day {
		return false
	}
	l.day, l.today = day, Amount{}
	if l.held.day == nil {
		return false
	}
	l.held = &Held{principals: l.held.principals}
	return true
}

// Spent is what was used before a turn of the principal.
func (l *Ledger) Spent(principal string) Spent {
	return Spent{Principal: l.principals[principal], Day: l.today}
}

// Held says who may not go on. It is never changed.
func (l *Ledger) Held() *Held { return l.held }

func (l *Ledger) dayReached() *event.Budget {
	var b Bounds
	b.add(event.DayScope, hostLimits+"max_day", l.caps.Day, l.today)
	return b.Reached(Amount{})
}

func (l *Ledger) principalReached(p string) *event.Budget {
	var b Bounds
	b.add(event.PrincipalScope, hostLimits+"max_principal", l.caps.Principal, l.principals[p])
	return b.Reached(Amount{})
}

// Held are the budgets beyond a session's own that are used up, at one moment. It
// is immutable.
type Held struct {
	day        *event.Budget
	principals map[string]*event.Budget
}

// Of is the budget that holds the principal, nil when none does.
func (h *Held) Of(principal string) *event.Budget {
	if h == nil {
		return nil
	}
	if b := h.principals[principal]; b != nil {
		return b
	}
	return h.day
}

func (h *Held) with(principal string, b *event.Budget) *Held {
	next := maps.Clone(h.principals)
	if next == nil {
		next = map[string]*event.Budget{}
	}
	next[principal] = b
	return &Held{day: h.day, principals: next}
}
