package sqlite

import (
	"context"

	"github.com/agenthost/agenthost/actors/store"
)

// Key looks an idempotency key up.
func (s *Store) Key(ctx context.Context, owner, value string, now int64) (*store.Key, error) {
	var k *store.Key
	err := s.view(ctx, func(d *db) error {
		_, err := d.on("SELECT hash, created, answer FROM idem WHERE owner=?1 AND key=?2").text(owner).text(value).one(func(s stmt) error {
			k = &store.Key{Owner: owner, Value: value, Hash: s.ColumnText(0), Created: s.ColumnInt64(1), Answer: s.ColumnBlob(2, nil)}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if k == nil || now-k.Created >= store.KeyTTL {
		return nil, store.ErrNotFound
	}
	return k, nil
}
