package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/agenthost/agenthost/actors/store"
	"github.com/ncruces/go-sqlite3"
)

const spendTable = `
CREATE TABLE spend(owner TEXT NOT NULL, day INTEGER NOT NULL, tokens INTEGER NOT NULL, micro_usd INTEGER NOT NULL,
  PRIMARY KEY(owner, day)) WITHOUT ROWID;
CREATE INDEX spend_day ON spend(day);
`

// spend adds to an owner's day.
func (w *writer) spend(owner string, s *store.Spend) error {
	return w.db.on(`INSERT INTO spend(owner, day, tokens, micro_usd) VALUES (?1,?2,?3,?4)
ON CONFLICT(owner, day) DO UPDATE SET tokens=min(tokens+?3, ?5), micro_usd=min(micro_usd+?4, ?5)`).
		text(owner).int(s.Day).int(s.Tokens).int(s.MicroUSD).int(store.MaxSpent).exec()
}

// badSpent says which sums no program of ours wrote.
const badSpent = `spend WHERE typeof(owner)<>'text' OR typeof(day)<>'integer' OR typeof(tokens)<>'integer' OR typeof(micro_usd)<>'integer'
OR tokens NOT BETWEEN 0 AND ?1 OR micro_usd NOT BETWEEN 0 AND ?1`

// badSpending counts them. That there is no such table, or another of its name, is
// ErrCorrupt.
func badSpending(d *db) (n int64, err error) {
	_, err = d.on("SELECT count(*) FROM " + badSpent).int(store.MaxSpent).one(func(s stmt) error {
		n = s.ColumnInt64(0)
		return nil
	})
	if errors.Is(err, sqlite3.ERROR) {
		err = fmt.Errorf("%w: the table of what principals used: %w", store.ErrCorrupt, err)
	}
	return n, err
}

// spending drops what cannot be summed, and makes a table anew that is not ours.
func (p *repair) spending(d *db) error {
	n, err := badSpending(d)
	switch {
	case errors.Is(err, store.ErrCorrupt):
		p.done.Lost = append(p.done.Lost, Finding{Where: "spend", Problem: "what principals used until now: the table of it was not there, or another, and was made anew"})
		return d.Exec("DROP TABLE IF EXISTS spend;" + spendTable)
	case err != nil || n == 0:
		return err
	}
	p.done.Lost = append(p.done.Lost, Finding{Where: "spend", Problem: fmt.Sprintf("%d damaged sums of what a principal used in a day", n)})
	return d.on("DELETE FROM " + badSpent).int(store.MaxSpent).exec()
}

// Spent sums what was ever spent by owner, and what all spent on day.
func (s *Store) Spent(ctx context.Context, day int64) ([]store.Spent, store.Spend, error) {
	var owners []store.Spent
	today := store.Spend{Day: day}
	err := s.view(ctx, func(d *db) error {
		owners = nil
		if n, err := badSpending(d); err != nil || n > 0 {
			return cmp.Or(err, fmt.Errorf("%w: %d sums of what a principal used in a day are damaged", store.ErrCorrupt, n))
		}
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
