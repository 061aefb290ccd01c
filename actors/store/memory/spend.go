package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/agenthost/agenthost/actors/store"
)

// spentOn is an owner's day.
type spentOn struct {
	owner string
	day   int64
}

func (d *data) spend(owner string, s *store.Spend) {
	at := spentOn{owner, s.Day}
	sum := d.spent[at]
	sum.Day = s.Day
	sum.Tokens = min(sum.Tokens+s.Tokens, store.MaxSpent)
	sum.MicroUSD = min(sum.MicroUSD+s.MicroUSD, store.MaxSpent)
	d.spent[at] = sum
}

// Spent sums what was ever spent by owner, and what all spent on day.
func (s *Store) Spent(_ context.Context, day int64) ([]store.Spent, store.Spend, error) {
	today := store.Spend{Day: day}
	if err := s.readable(); err != nil {
		return nil, today, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	sums := map[string]store.Spend{}
	for at, one := range s.data.spent {
		sum := sums[at.owner]
		sum.Tokens += one.Tokens
		sum.MicroUSD += one.MicroUSD
		sums[at.owner] = sum
		if at.day == day {
			today.Tokens += one.Tokens
			today.MicroUSD += one.MicroUSD
		}
	}
	owners := make([]store.Spent, 0, len(sums))
	for owner, sum := range sums {
		owners = append(owners, store.Spent{Owner: owner, Spend: sum})
	}
	slices.SortFunc(owners, func(a, b store.Spent) int { return cmp.Compare(a.Owner, b.Owner) })
	return owners, today, nil
}
