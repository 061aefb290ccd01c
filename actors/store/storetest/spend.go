package storetest

import (
	"slices"

	"github.com/agenthost/agenthost/actors/store"
)

func spendIsSummed(s *suite) {
	if owners, today, err := s.Spent(s.ctx(), 7); err != nil || len(owners) != 0 || today != (store.Spend{Day: 7}) {
		s.Fatalf("an empty store: %v %v %v", owners, today, err)
	}
	first, second, other := s.create("ann", 1), s.create("ann", 1), s.create("bob", 1)
	spend := func(c *store.Commit, day, tokens, usd int64) *store.Commit {
		c.Spend = &store.Spend{Day: day, Tokens: tokens, MicroUSD: usd}
		s.must(c)
		return c
	}
	spend(s.after(first, 1, 1), 7, 100, 5)
	again := spend(s.after(first, 2, 1), 8, 10, 0)
	spend(s.after(second, 1, 1), 8, 1, 1)
	spend(s.after(other, 1, 1), 8, 0, 900)
	s.must(again) // its answer was lost: it counts once

	bad := s.after(first, 3, 1)
	bad.Head, bad.Spend = 2, &store.Spend{Day: 8, Tokens: 1000}
	if s.commit(bad) == nil {
		s.Fatalf("a commit at another head was taken")
	}
	none := s.after(first, 3, 0)
	none.Spend = &store.Spend{Day: 8, Tokens: 1000}
	if s.commit(none) == nil {
		s.Fatalf("a commit without events spends, and could be repeated")
	}

	// What a removed session used stays used.
	s.ok("remove", s.Remove(s.ctx(), second))
	want := []store.Spent{{Owner: "ann", Spend: store.Spend{Tokens: 111, MicroUSD: 6}}, {Owner: "bob", Spend: store.Spend{MicroUSD: 900}}}
	for range 2 {
		owners, today, err := s.Spent(s.ctx(), 8)
		s.ok("spent", err)
		if !slices.Equal(owners, want) || today != (store.Spend{Day: 8, Tokens: 11, MicroUSD: 901}) {
			s.Fatalf("got %v, %v", owners, today)
		}
		s.reopen()
	}
	spend(s.after(other, 2, 1), 9, store.MaxSpent, 0)
	spend(s.after(other, 3, 1), 9, store.MaxSpent, 0)
	if _, today, err := s.Spent(s.ctx(), 9); err != nil || today.Tokens != store.MaxSpent {
		s.Fatalf("a sum above all bounds: %v %v", today, err)
	}
}
