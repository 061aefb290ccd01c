package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
)

// Importer puts sessions that come from elsewhere into a store that no server has.
// It never touches one that is there. A session whose import was interrupted has no
// body; a further import of the same goes on with it.
type Importer struct {
	store Store
	host  event.ID
}

// NewImporter is one for s.
func NewImporter(s Store) *Importer { return &Importer{s, event.NewID()} }

// Incoming is one session that is being put in: Events as often as it takes, then
// End.
type Incoming struct {
	importer *Importer
	id       event.ID
	create   *NewSession
	epoch    int64
	head     int64
}

// Session begins with one. It is nil when the store has it already. base is the
// checkpoint at n.Trimmed, or nil.
func (m *Importer) Session(ctx context.Context, id event.ID, n NewSession, base []byte) (*Incoming, error) {
	in := &Incoming{importer: m, id: id, epoch: 1, head: n.Trimmed}
	rec, err := m.store.Session(ctx, "", id)
	switch {
	case err == nil && len(rec.Body) > 0:
		return nil, nil
	case err == nil:
		if rec.Owner != n.Owner {
			return nil, fmt.Errorf("session %s: %w for another owner", id, ErrExists)
		}
		if rec, err = m.store.Claim(ctx, id, m.host); err != nil {
			return nil, err
		}
		in.epoch, in.head = rec.Epoch, rec.Head
		return in, nil
	case !errors.Is(err, ErrNotFound):
		return nil, err
	}
	in.create = &n
	if n.Trimmed == 0 {
		return in, nil // made with its first events
	}
	return in, in.commit(ctx, &Commit{Checkpoint: base})
}

// Events adds events; those that an interrupted import has put in are passed over.
// checkpoint is of the last one, or nil.
func (in *Incoming) Events(ctx context.Context, events []event.Event, checkpoint []byte) error {
	for len(events) > 0 && events[0].Seq <= in.head {
		events = events[1:]
	}
	if len(events) == 0 {
		return nil
	}
	return in.commit(ctx, &Commit{Events: events, Checkpoint: checkpoint})
}

// End makes the session one that is served.
func (in *Incoming) End(ctx context.Context, r *Rested) error {
	if r.Head != in.head || len(r.Body) == 0 || r.State != Idle {
		return fmt.Errorf("session %s ends at event %d and has %d, or is not at rest", in.id, r.Head, in.head)
	}
	return in.commit(ctx, &Commit{Body: r.Body, Spec: r.Spec, State: &r.State, Active: r.Active, Turns: r.Turns, Checkpoint: r.Checkpoint, Durable: true})
}

func (in *Incoming) commit(ctx context.Context, c *Commit) error {
	c.Session, c.Host, c.Epoch, c.Head, c.Create = in.id, in.importer.host, in.epoch, in.head, in.create
	done := make(chan error, 1)
	c.Done = func(err error) { done <- err }
	in.importer.store.Commit(c)
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("import of session %s: %w", in.id, err)
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	in.create, in.head = nil, c.Last()
	return nil
}
