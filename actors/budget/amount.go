package budget

import (
	"math"
	"time"

	"github.com/agenthost/agenthost/actors/event"
)

// Amount is what was used, or may be: 0 in a bound is none.
type Amount struct{ Tokens, MicroUSD int64 }

// most bounds what one turn can tell and what is ever summed, so that no sum
// overflows whatever a CLI prints: a billion dollars.
const most = 1_000_000_000_000_000

// Of is what a turn used, nothing when that is not known.
func Of(u *event.Usage) Amount {
	if u == nil {
		return Amount{}
	}
	return Amount{Tokens: clamp(clamp(u.Input) + clamp(u.Output)), MicroUSD: clamp(u.MicroUSD)}
}

// Plus is the sum.
func (a Amount) Plus(b Amount) Amount {
	return Amount{Tokens: clamp(clamp(a.Tokens) + clamp(b.Tokens)), MicroUSD: clamp(clamp(a.MicroUSD) + clamp(b.MicroUSD))}
}

func clamp(n int64) int64 { return min(max(n, 0), most) }

// MicroUSD is an amount in dollars as millionths; a positive one is never 0.
func MicroUSD(usd float64) int64 {
	if !(usd > 0) {
		return 0
	}
	return int64(max(1, math.Round(min(usd, 1e12)*1e6)))
}

// Day is the number of a moment's day in UTC.
func Day(t time.Time) int64 {
	const day = 24 * 60 * 60
	s := t.Unix()
	if s < 0 {
		s -= day - 1
	}
	return s / day
}
