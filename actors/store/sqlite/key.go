package sqlite

import (
	"bytes"
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

// checkKey refuses a key that stands for another request.
func (w *writer) checkKey(k *store.Key) error {
	if k == nil {
		return nil
	}
	_, err := w.db.on("SELECT hash, created, answer FROM idem WHERE owner=?1 AND key=?2").text(k.Owner).text(k.Value).one(func(s stmt) error {
		created := s.ColumnInt64(1)
		same := s.ColumnText(0) == k.Hash && created == k.Created && bytes.Equal(s.ColumnRawBlob(2), k.Answer)
		if k.Created-created < store.KeyTTL && !same {
			return store.ErrExists
		}
		return nil
	})
	return err
}

func (w *writer) putKey(k *store.Key) error {
	if k == nil {
		return nil
	}
	return w.db.on("INSERT OR REPLACE INTO idem(owner, key, hash, created, answer) VALUES (?1,?2,?3,?4,?5)").
		text(k.Owner).text(k.Value).text(k.Hash).int(k.Created).blob(k.Answer).exec()
}
