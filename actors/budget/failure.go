package budget

import (
	"fmt"
	"strconv"

	"github.com/agenthost/agenthost/actors/event"
)

// Stopped is the failure of a turn that a budget ended.
func Stopped(b *event.Budget) *event.Failure {
	return event.Fail(event.BudgetReached, "the turn was stopped: "+state(b)+"; what it said is kept. To go on, "+remedy(b))
}

// Refused is the answer to further input while a budget is used up.
func Refused(b *event.Budget) *event.Failure {
	return event.Fail(event.BudgetReached, "no further input is taken: "+state(b)+". To go on, "+remedy(b)+
		"; what is queued waits and then runs in order")
}

func state(b *event.Budget) string {
	return fmt.Sprintf("the budget %s of %s for %s is used up (%s used)", b.Name, amount(b.Money, b.Limit), whose(b.Scope), amount(b.Money, b.Used))
}

func whose(s event.Scope) string {
	switch s {
	case event.TurnScope:
		return "one turn"
	case event.SessionScope:
		return "this session"
	case event.PrincipalScope:
		return "its principal"
	case event.DayScope:
		return "one day of the host (UTC)"
	default:
		return "it"
	}
}

func remedy(b *event.Budget) string {
	switch {
	case b.Name == SpendControl:
		return "raise spend_control.limit with an update of the session, or remove it"
	case b.Scope == event.DayScope:
		return "wait for the next day (UTC) or raise " + b.Name
	case b.Scope == event.TurnScope:
		return "ask for less in one turn or raise " + b.Name
	}
	return "raise " + b.Name
}

func amount(money bool, n int64) string {
	if !money {
		return strconv.FormatInt(n, 10) + " tokens"
	}
	return "$" + strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64)
}
