package actors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// contents is where the contents of records of one kind lie, files or directories:
// <2 hex>/<32 hex> below dir. A content whose record is just being made or removed
// stands in pending instead, so that after a crash the record alone decides: with
// one the content goes back to its place, without one it goes away.
type contents struct{ dir, kind string }

func (r *contents) path(id event.ID) string {
	hex := id.Hex()
	return filepath.Join(r.dir, hex[:2], hex)
}

func (r *contents) pending(id event.ID) string {
	return filepath.Join(r.dir, "pending", id.Hex())
}

// place moves a pending content to where it belongs.
func (r *contents) place(id event.ID) error {
	to := r.path(id)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Rename(r.pending(id), to); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Dir(to)), syncDir(r.dir))
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openContents makes the room and ends what a crash left half done.
func (h *Host) openContents(ctx context.Context, r *contents) error {
	fail := func(err error) error { return fmt.Errorf("agenthost: contents of %s records: %w", r.kind, err) }
	if err := os.MkdirAll(filepath.Join(r.dir, "pending"), 0o700); err != nil {
		return fail(err)
	}
	left, err := os.ReadDir(filepath.Join(r.dir, "pending"))
	if err != nil {
		return fail(err)
	}
	for _, e := range left {
		id, ok := event.ParseHex(e.Name())
		if ok {
			_, err = h.store.GetRecord(ctx, r.kind, "", id)
		}
		switch {
		case errors.Is(err, store.ErrCorrupt):
			h.log.Error("a record is damaged, so its content stays where it is", "kind", r.kind, "record", id, "error", err)
			err = nil
		case !ok || errors.Is(err, store.ErrNotFound):
			err = os.RemoveAll(filepath.Join(r.dir, "pending", e.Name()))
		case err == nil:
			err = r.place(id)
		}
		if err != nil {
			return fail(err)
		}
	}
	return nil
}

// keep puts the record of a pending content and the content in its place.
func (h *Host) keep(ctx context.Context, r *contents, rec *store.Record) error {
	if err := syncDir(filepath.Join(r.dir, "pending")); err != nil {
		return contentFailure(err)
	}
	if err := h.store.PutRecord(ctx, rec); err != nil {
		return storeFailure(err)
	}
	if err := r.place(rec.ID); err != nil {
		return errors.Join(contentFailure(err), h.store.DeleteRecord(context.WithoutCancel(ctx), r.kind, rec.Owner, rec.ID))
	}
	return nil
}

// discard removes a record and its content. It is store.ErrNotFound when another
// call did.
func (h *Host) discard(ctx context.Context, r *contents, owner string, id event.ID) error {
	// A content that is missing, or is being removed by another call, is no reason
	// to keep the record.
	if err := os.Rename(r.path(id), r.pending(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return contentFailure(err)
	}
	err := h.store.DeleteRecord(ctx, r.kind, owner, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return err
	case errors.Is(err, store.ErrFailed):
		return storeFailure(err) // the next start knows whether the record is there
	case err != nil:
		return errors.Join(storeFailure(err), r.place(id))
	}
	if err := os.RemoveAll(r.pending(id)); err != nil {
		h.log.Warn("a deleted content could not be removed; the next start tries again", "kind", r.kind, "record", id, "error", err)
	}
	return nil
}

// beingRemoved says that a content is not where it belongs for a good reason.
func (h *Host) beingRemoved(r *contents, id event.ID) bool {
	if _, err := os.Stat(r.pending(id)); err == nil {
		return true
	}
	_, err := h.store.GetRecord(context.Background(), r.kind, "", id)
	return errors.Is(err, store.ErrNotFound)
}
