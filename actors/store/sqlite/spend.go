package sqlite

import (
	"context"

	"github.com/agenthost/agenthost/actors/store"
)

// spend adds to an owner's day.
func (w *writer) spend(owner string, s *store.Spend) error {
	return w.db.on(`INSERT INTO spend(owner, day, tokens, micro_usd) VALUES (?1,?2,?3,?4)
ON CONFLICT(owner, day) DO UPDATE SET tokens=min(tokens+?3, ?5), micro_usd=min(micro_usd+?4, ?5)`).
		text(owner).int(s.Day).int(s.Tokens).int(s.MicroUSD).int(store.MaxSpent).exec()
}

// Spent sums what was ever spent by owner, and what all spent on day.
func (s *Store) Spent(ctx context.Context, day int64) ([]store.Spent, store.Spend, error) {
	var owners []store.Spent
	today := store.Spend{Day: day}
	err := s.view(ctx, func(d *db) error {
		owners = nil
		err := d.on("SELECT owner, sum(tokens), sum(micro_usd) FROM spend GROUP BY owner ORDER BY owner").each(func(s stmt) (bool, error) {
			owners = append(owners, store.Spent{Owner: s.ColumnText(0), Spend: store.Spend{Tokens: s.ColumnInt64(1), MicroUSD: s.ColumnInt64(2)}})
			return true, nil
		})
		if err != nil {
			return err
		}
		_, err = d.on("SELECT coalesce(sum(tokens), 0), coalesce(sum(micro_usd), 0) FROM spend WHERE day=?1").int(day).one(func(s stmt) error {
			today.Tokens, today.MicroUSD = s.ColumnInt64(0), s.ColumnInt64(1)
			return nil
		})
		return err
	})
	return owners, today, err
}
