package budget

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"pgregory.net/rapid"
)

func TestDayIsOneOfUTC(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 10*3600)
	for at, want := range map[time.Time]int64{
		time.Unix(0, 0): 0, time.Unix(-1, 0): -1, time.Unix(86399, 999): 0, time.Unix(86400, 0): 1, time.Unix(-86400, 0): -1,
		time.Date(1970, 1, 2, 9, 59, 59, 0, east): 0, time.Date(1970, 1, 2, 10, 0, 0, 0, east): 1,
	} {
		if got := Day(at); got != want {
			t.Errorf("%s: day %d, want %d", at, got, want)
		}
	}
}

func TestAmountsNeverOverflow(t *testing.T) {
	t.Parallel()
	huge := Of(&event.Usage{Input: math.MaxInt64, Output: math.MaxInt64, MicroUSD: math.MaxInt64})
	sum := huge.Plus(huge).Plus(huge)
	if sum.Tokens != most || sum.MicroUSD != most {
		t.Errorf("%+v", sum)
	}
	if got := Of(&event.Usage{Input: -5, Output: 3, MicroUSD: -1}); got != (Amount{Tokens: 3}) {
		t.Errorf("negative usage: %+v", got)
	}
	for usd, want := range map[float64]int64{0: 0, -1: 0, math.NaN(): 0, 1e-9: 1, 0.0125: 12_500, math.Inf(1): 1e18} {
		if got := MicroUSD(usd); got != want {
			t.Errorf("%g dollars: %d, want %d", usd, got, want)
		}
	}
}

// Each setting is a budget of its own name, scope and unit, and says so.
func TestEverySettingIsABudget(t *testing.T) {
	t.Parallel()
	both := func(n int64) Amount { return Amount{Tokens: n, MicroUSD: n} }
	c := Caps{Turn: both(1), Session: both(2), Principal: both(3), Day: both(4)}
	s := &spec.Session{SpendControl: spec.SpendControl{Asked: true, Limit: 5}}
	s.Agent.Limits = spec.Limits{MaxUSD: 1e-6, MaxTokens: 6, SessionTokens: 7, SessionUSD: 8e-6}
	want := map[string]event.Budget{
		"spend_control.limit":                   {Scope: event.SessionScope, Money: true, Limit: 50_000, Used: 200},
		"the agent's limits.max_session_usd":    {Scope: event.SessionScope, Money: true, Limit: 8, Used: 200},
		"the agent's limits.max_session_tokens": {Scope: event.SessionScope, Limit: 7, Used: 100},
		"the agent's limits.max_budget_usd":     {Scope: event.TurnScope, Money: true, Limit: 1},
		"the agent's limits.max_tokens":         {Scope: event.TurnScope, Limit: 6},
		"limits.max_turn_tokens":                {Scope: event.TurnScope, Limit: 1},
		"limits.max_turn_usd":                   {Scope: event.TurnScope, Money: true, Limit: 1},
		"limits.max_session_tokens":             {Scope: event.SessionScope, Limit: 2, Used: 100},
		"limits.max_session_usd":                {Scope: event.SessionScope, Money: true, Limit: 2, Used: 200},
		"limits.max_principal_tokens":           {Scope: event.PrincipalScope, Limit: 3, Used: 10},
		"limits.max_principal_usd":              {Scope: event.PrincipalScope, Money: true, Limit: 3, Used: 20},
		"limits.max_day_tokens":                 {Scope: event.DayScope, Limit: 4, Used: 30},
		"limits.max_day_usd":                    {Scope: event.DayScope, Money: true, Limit: 4, Used: 40},
	}
	got := c.OfTurn(s, Amount{100, 200}, Spent{Principal: Amount{10, 20}, Day: Amount{30, 40}})
	if len(got) != len(want) {
		t.Errorf("%d budgets, want %d", len(got), len(want))
	}
	for i := range got {
		w := want[got[i].Name]
		w.Name = got[i].Name
		if got[i] != w {
			t.Errorf("got %+v, want %+v", got[i], w)
		}
		for _, f := range []*event.Failure{Stopped(&got[i]), Refused(&got[i])} {
			if f.Code != event.BudgetReached || !strings.Contains(f.Message, got[i].Name) || !strings.Contains(f.Message, "raise") {
				t.Errorf("%s: %v", got[i].Name, f)
			}
		}
	}
	if b := new(Caps).OfTurn(&spec.Session{}, both(1e9), Spent{both(1e9), both(1e9)}); b.Reached(both(1e12)) != nil || len(b) != 0 {
		t.Errorf("without settings there are budgets: %+v", b)
	}
}

// Whatever the budgets are: the one that is reached has been passed or met, no
// earlier one has, and what is told of it is what was used.
func TestReachedIsTheFirstThatIsUsedUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64Range(0, 20)
		var b Bounds
		for range rapid.IntRange(0, 5).Draw(rt, "budgets") {
			b = append(b, event.Budget{Money: rapid.Bool().Draw(rt, "money"), Limit: 1 + n.Draw(rt, "limit"), Used: n.Draw(rt, "used")})
		}
		now := Amount{n.Draw(rt, "tokens"), n.Draw(rt, "money")}
		got := b.Reached(now)
		left := int64(math.MaxInt64)
		for _, one := range b {
			if one.Money {
				left = min(left, max(0, one.Limit-one.Used))
			}
		}
		for _, one := range b {
			more := now.Tokens
			if one.Money {
				more = now.MicroUSD
			}
			if one.Used+more < one.Limit {
				continue
			}
			if got == nil || got.Used != one.Used+more || got.Limit != one.Limit || got.Money != one.Money {
				rt.Fatalf("%+v with %+v: reached %+v, want %+v", b, now, got, one)
			}
			got = nil
			break
		}
		if got != nil {
			rt.Fatalf("%+v with %+v: reached %+v, and none is", b, now, got)
		}
		tightest, least := b.MoneyLeft()
		if (tightest == nil) != (left == math.MaxInt64) || tightest != nil && least != left {
			rt.Fatalf("%+v: %d left of %+v, want %d", b, least, tightest, left)
		}
	})
}

// The ledger against plain sums: what it holds is what they say, whatever the order
// of turns and days, and when it says that nothing changed, nothing has.
func TestLedgerAgainstSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		amount := func(what string) Amount {
			return Amount{rapid.Int64Range(0, 30).Draw(rt, what), rapid.Int64Range(0, 30).Draw(rt, what)}
		}
		caps := Caps{Principal: amount("principal"), Day: amount("day")}
		names := []string{"a", "b", "c"}
		sums, day, today := map[string]Amount{"a": amount("before")}, int64(5), amount("today")
		l := NewLedger(caps, day, today, sums)
		over := func(used, limit Amount) bool {
			return limit.Tokens > 0 && used.Tokens >= limit.Tokens || limit.MicroUSD > 0 && used.MicroUSD >= limit.MicroUSD
		}
		check := func() {
			for _, p := range names {
				if held := l.Held().Of(p) != nil; held != (over(sums[p], caps.Principal) || over(today, caps.Day)) {
					rt.Fatalf("%s is held: %v; it used %+v of %+v, the day %+v of %+v", p, held, sums[p], caps.Principal, today, caps.Day)
				}
				if got := l.Spent(p); got != (Spent{sums[p], today}) {
					rt.Fatalf("%s spent %+v, want %+v and %+v", p, got, sums[p], today)
				}
			}
		}
		check()
		for range rapid.IntRange(0, 30).Draw(rt, "steps") {
			before := l.Held()
			on := day + rapid.Int64Range(-1, 1).Draw(rt, "on")
			var changed bool
			if on > day {
				day, today = on, Amount{}
			}
			if rapid.Bool().Draw(rt, "add") {
				p, a := rapid.SampledFrom(names).Draw(rt, "who"), amount("used")
				sums[p] = sums[p].Plus(a)
				if on == day {
					today = today.Plus(a)
				}
				changed = l.Add(p, on, a)
			} else {
				changed = l.Roll(on)
			}
			if changed != (before != l.Held()) {
				rt.Fatalf("changed %v, and held went from %p to %p", changed, before, l.Held())
			}
			check()
		}
	})
}
