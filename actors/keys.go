package actors

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// keyring lets one caller at a time use an idempotency key, so that a request
// and its repeat that arrive together are one. It is shared by callers only; no
// actor takes it.
type keyring struct {
	mu   sync.Mutex
	used map[string]chan struct{}
}

// lock takes the key; the returned function gives it back.
func (k *keyring) lock(ctx context.Context, name string) (func(), error) {
	for {
		k.mu.Lock()
		if k.used == nil {
			k.used = map[string]chan struct{}{}
		}
		busy, taken := k.used[name]
		if !taken {
			free := make(chan struct{})
			k.used[name] = free
			k.mu.Unlock()
			return func() {
				k.mu.Lock()
				delete(k.used, name)
				k.mu.Unlock()
				close(free)
			}, nil
		}
		k.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// keyed takes the request's key and looks for an earlier answer. Without one,
// done gives the key back and must be called after the request was answered.
func (h *Host) keyed(ctx context.Context, owner string, key *spec.Key) (done func(), earlier *Posted, err error) {
	done, said, err := h.claimed(ctx, owner, key)
	if err != nil || said == nil {
		return done, nil, err
	}
	earlier, err = h.answered(ctx, owner, said)
	return nil, earlier, err
}

// claimed takes the key of any creating request: done gives it back and must be
// called after the request was answered. An earlier answer comes instead of done.
func (h *Host) claimed(ctx context.Context, owner string, key *spec.Key) (done func(), earlier *keyAnswer, err error) {
	if err := h.usable(); err != nil {
		return nil, nil, err
	}
	if key == nil {
		return func() {}, nil, nil
	}
	done, err = h.keys.lock(ctx, owner+"\x00"+key.Value)
	if err != nil {
		return nil, nil, err
	}
	rec, err := h.store.Key(ctx, owner, key.Value, h.now().Unix())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return done, nil, nil
	case err != nil:
		err = storeFailure(err)
	case rec.Hash != key.Hash:
		err = event.Fail(event.IdempotencyMismatch, "this Idempotency-Key was used with another request; use a new key for a new request")
	default:
		earlier = new(keyAnswer)
		if err = json.Unmarshal(rec.Answer, earlier); err != nil {
			err = storeFailure(err)
		}
	}
	done()
	return nil, earlier, err
}

// key is the stored form of a request's key.
func (h *Host) key(owner string, k *spec.Key) *store.Key {
	if k == nil {
		return nil
	}
	return &store.Key{Owner: owner, Value: k.Value, Hash: k.Hash, Created: h.now().Unix()}
}

// keyAnswer is what a key remembers. Its hash covers the path, so it is read as
// what the same kind of request wrote.
type keyAnswer struct {
	Session event.ID   `json:"session,omitzero"`
	Turns   []event.ID `json:"turns,omitempty"`
	Before  int64      `json:"before"`
	// Record is what a request made that makes one record: a saved agent, a file.
	Record event.ID `json:"record,omitzero"`
}

// recordKey is the stored form of the key of a request that makes a record.
func (h *Host) recordKey(owner string, k *spec.Key, made event.ID) (*store.Key, error) {
	key := h.key(owner, k)
	if key == nil {
		return nil, nil
	}
	var err error
	key.Answer, err = json.Marshal(&keyAnswer{Record: made})
	return key, err
}

func answerOf(k *store.Key, p *Posted) {
	if k == nil {
		return
	}
	a := keyAnswer{Session: p.Session.ID, Before: p.Before}
	for _, t := range p.Turns {
		a.Turns = append(a.Turns, t.ID)
	}
	k.Answer, _ = json.Marshal(&a)
}

// answered gives an earlier answer again, as its objects are now.
func (h *Host) answered(ctx context.Context, owner string, a *keyAnswer) (*Posted, error) {
	ses, err := h.Session(ctx, owner, a.Session)
	if err != nil {
		return nil, err
	}
	p := &Posted{Session: *ses, Before: a.Before, Replayed: true, Turns: make([]*fold.Turn, 0, len(a.Turns))}
	for _, id := range a.Turns {
		t, err := h.turnOrNote(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		p.Turns = append(p.Turns, t)
	}
	return p, nil
}
