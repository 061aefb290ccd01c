package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

const fileKind = "file"

// PutFile keeps content as a new file of owner, with the name and purpose of f, and
// only one for a key. It is durable when the call returns; when it fails nothing
// stays.
func (h *Host) PutFile(ctx context.Context, owner string, f spec.File, content io.Reader, key *spec.Key) (_ *spec.File, err error) {
	done, earlier, err := h.claimed(ctx, owner, key)
	if err != nil {
		return nil, err
	}
	if earlier != nil {
		return h.File(ctx, owner, earlier.Record)
	}
	defer done()
	if !h.files.take(owner, holding{files: 1}, h.mostFiles()) {
		return nil, event.FailParam(event.FilesFull, "file", fmt.Sprintf("you have %d files, the most that this host keeps for one; delete some first", h.cfg.limits.MaxFiles))
	}
	f.ID, f.Owner, f.Created, f.Bytes = event.NewID(), owner, h.now().Unix(), 0
	defer func() {
		if err == nil {
			return
		}
		h.files.give(owner, holding{1, f.Bytes})
		if !errors.Is(err, store.ErrFailed) { // then the record may be there: the next start knows
			_ = os.Remove(h.files.pending(f.ID))
		}
	}()
	if f.Bytes, err = h.receive(ctx, owner, f.ID, content); err != nil {
		return nil, err
	}
	body, err := json.Marshal(&f)
	if err != nil {
		return nil, event.Fail(event.InvalidRequest, "the file cannot be stored: "+err.Error())
	}
	stored, err := h.recordKey(owner, key, f.ID)
	if err != nil {
		return nil, err
	}
	rec := &store.Record{Kind: fileKind, ID: f.ID, Owner: owner, Name: f.Name, Created: f.Created, Body: body, Key: stored}
	if err := h.keep(ctx, &h.files.contents, rec); err != nil {
		return nil, err
	}
	return &f, nil
}

// File looks a stored file up.
func (h *Host) File(ctx context.Context, owner string, id event.ID) (*spec.File, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	rec, err := h.store.GetRecord(ctx, fileKind, owner, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, noSuchFile()
	}
	if err != nil {
		return nil, storeFailure(err)
	}
	f, err := fileOf(rec)
	if err != nil {
		return nil, damagedFile(id, err)
	}
	return f, nil
}

func noSuchFile() error { return event.Fail(event.FileNotFound, "there is no such file") }

func fileOf(rec *store.Record) (*spec.File, error) {
	f := new(spec.File)
	if err := json.Unmarshal(rec.Body, f); err != nil {
		return nil, err
	}
	return f, nil
}

// damagedFile is no Failure: what is wrong is for the log.
func damagedFile(id event.ID, err error) error {
	return fmt.Errorf("stored file %s is damaged: %w", id, err)
}

// Files lists stored files by creation; purpose "" is any.
func (h *Host) Files(ctx context.Context, owner, purpose string, p spec.Page) ([]*spec.File, bool, error) {
	if err := h.usable(); err != nil {
		return nil, false, err
	}
	var out []*spec.File
	for {
		recs, more, err := h.store.Records(ctx, fileKind, owner, p)
		if err != nil {
			return nil, false, cursorFailure(err)
		}
		for _, rec := range recs {
			f, err := fileOf(rec)
			if err != nil {
				return nil, false, damagedFile(rec.ID, err)
			}
			if purpose != "" && f.Purpose != purpose {
				continue
			}
			if p.Limit > 0 && len(out) == p.Limit {
				return out, true, nil
			}
			out = append(out, f)
		}
		if !more || len(recs) == 0 {
			return out, false, nil
		}
		if purpose == "" {
			return out, true, nil
		}
		p.After = recs[len(recs)-1].ID
	}
}

// OpenFile opens a stored file's content, which stays readable while it is open
// even when the file is deleted. The caller closes it.
func (h *Host) OpenFile(ctx context.Context, owner string, id event.ID) (*spec.File, io.ReadSeekCloser, error) {
	f, err := h.File(ctx, owner, id)
	if err != nil {
		return nil, nil, err
	}
	content, err := os.Open(h.files.path(id))
	if err == nil {
		var about os.FileInfo
		if about, err = content.Stat(); err == nil && about.Size() != f.Bytes {
			err = fmt.Errorf("%d bytes instead of %d", about.Size(), f.Bytes)
		}
		if err == nil {
			return f, content, nil
		}
		_ = content.Close()
	}
	if errors.Is(err, os.ErrNotExist) && h.beingRemoved(&h.files.contents, id) {
		return nil, nil, noSuchFile()
	}
	return nil, nil, damagedFile(id, err)
}

// DeleteFile removes a stored file and its content.
func (h *Host) DeleteFile(ctx context.Context, owner string, id event.ID) error {
	f, err := h.File(ctx, owner, id)
	if err != nil {
		return err
	}
	switch err := h.discard(ctx, &h.files.contents, owner, id); {
	case errors.Is(err, store.ErrNotFound):
		return noSuchFile()
	case err != nil:
		return err
	}
	h.files.give(f.Owner, holding{1, f.Bytes})
	return nil
}
