package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

const fileKind = "file"

// PutFile keeps content as a new file of owner, with the name and purpose of f. It
// is durable when the call returns; when it fails nothing stays.
func (h *Host) PutFile(ctx context.Context, owner string, f spec.File, content io.Reader) (_ *spec.File, err error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
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
	if err := syncDir(filepath.Join(h.files.dir, "pending")); err != nil {
		return nil, contentFailure(err)
	}
	body, err := json.Marshal(&f)
	if err != nil {
		return nil, event.Fail(event.InvalidRequest, "the file cannot be stored: "+err.Error())
	}
	if err := h.store.PutRecord(ctx, &store.Record{Kind: fileKind, ID: f.ID, Owner: owner, Name: f.Name, Created: f.Created, Body: body}); err != nil {
		return nil, storeFailure(err)
	}
	if err := h.files.place(f.ID); err != nil {
		return nil, errors.Join(contentFailure(err), h.store.DeleteRecord(context.WithoutCancel(ctx), fileKind, owner, f.ID))
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
	if errors.Is(err, os.ErrNotExist) && h.beingRemoved(id) {
		return nil, nil, noSuchFile()
	}
	return nil, nil, damagedFile(id, err)
}

// beingRemoved says that a content is not where it belongs for a good reason.
func (h *Host) beingRemoved(id event.ID) bool {
	if _, err := os.Stat(h.files.pending(id)); err == nil {
		return true
	}
	_, err := h.store.GetRecord(context.Background(), fileKind, "", id)
	return errors.Is(err, store.ErrNotFound)
}

// DeleteFile removes a stored file and its content.
func (h *Host) DeleteFile(ctx context.Context, owner string, id event.ID) error {
	f, err := h.File(ctx, owner, id)
	if err != nil {
		return err
	}
	// A content that is missing, or is being removed by another call, is no reason
	// to keep the record.
	if err := os.Rename(h.files.path(id), h.files.pending(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return contentFailure(err)
	}
	err = h.store.DeleteRecord(ctx, fileKind, owner, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noSuchFile()
	case errors.Is(err, store.ErrFailed):
		return storeFailure(err) // the next start knows whether the record is there
	case err != nil:
		return errors.Join(storeFailure(err), h.files.place(id))
	}
	h.files.give(f.Owner, holding{1, f.Bytes})
	if err := os.Remove(h.files.pending(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		h.log.Warn("a deleted file's content could not be removed; the next start tries again", "file", id, "error", err)
	}
	return nil
}
