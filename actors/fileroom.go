package actors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// fileRoom is where stored files' content lies, with an account of who keeps how
// much.
type fileRoom struct {
	contents

	mu   sync.Mutex
	held map[string]holding // by owner
}

// holding is how much one principal keeps.
type holding struct {
	files int
	bytes int64
}

// take books files and bytes on owner, unless that is more than max.
func (r *fileRoom) take(owner string, want, max holding) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[owner]
	h.files, h.bytes = h.files+want.files, h.bytes+want.bytes
	if h.files > max.files || h.bytes > max.bytes {
		return false
	}
	r.held[owner] = h
	return true
}

// give takes files and bytes off owner's account.
func (r *fileRoom) give(owner string, back holding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.held[owner]
	h.files, h.bytes = h.files-back.files, h.bytes-back.bytes
	if h.files <= 0 && h.bytes <= 0 {
		delete(r.held, owner)
		return
	}
	r.held[owner] = h
}

// openFiles makes the room, counts what each principal keeps, and ends what a
// crash left half done.
func (h *Host) openFiles(ctx context.Context) error {
	r := &h.files
	r.contents, r.held = contents{dir: filepath.Join(h.cfg.stateDir, "files"), kind: fileKind}, map[string]holding{}
	err := h.countFiles(ctx)
	if errors.Is(err, store.ErrCorrupt) { // no reason not to start: the caps are wider then
		h.log.Error("stored files could not all be counted", "error", err)
		err = nil
	}
	if err != nil {
		return fmt.Errorf("agenthost: count stored files: %w", err)
	}
	return h.openContents(ctx, &r.contents)
}

func (h *Host) countFiles(ctx context.Context) error {
	for p := (spec.Page{Limit: 500}); ; {
		recs, more, err := h.store.Records(ctx, fileKind, "", p)
		if err != nil {
			return err
		}
		for _, rec := range recs {
			f, err := fileOf(rec)
			if err != nil {
				return fmt.Errorf("%w: file %s: %w", store.ErrCorrupt, rec.ID, err)
			}
			one := h.files.held[rec.Owner]
			h.files.held[rec.Owner] = holding{one.files + 1, one.bytes + f.Bytes}
		}
		if !more {
			return nil
		}
		p.After = recs[len(recs)-1].ID
	}
}

// receive writes from into the pending content of id and syncs it. What was booked
// on owner comes back with the error as well.
func (h *Host) receive(ctx context.Context, owner string, id event.ID, from io.Reader) (n int64, err error) {
	to, err := os.OpenFile(h.files.pending(id), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, contentFailure(err)
	}
	defer func() {
		if cerr := to.Close(); err == nil && cerr != nil {
			err = contentFailure(cerr)
		}
	}()
	l := &h.cfg.limits
	buf := make([]byte, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		k, rerr := from.Read(buf)
		if n+int64(k) > l.MaxFileBytes {
			return n, event.FailParam(event.FileTooLarge, "file", fmt.Sprintf("the file is larger than %d bytes, the most that this host keeps in one", l.MaxFileBytes))
		}
		if k > 0 {
			if !h.files.take(owner, holding{bytes: int64(k)}, h.mostFiles()) {
				return n, event.FailParam(event.FilesFull, "file", fmt.Sprintf("your files would take more than %d bytes together; delete some first", l.MaxFilesBytes))
			}
			n += int64(k)
			if _, err := to.Write(buf[:k]); err != nil {
				return n, contentFailure(err)
			}
		}
		switch {
		case rerr == io.EOF:
			if err := to.Sync(); err != nil {
				return n, contentFailure(err)
			}
			return n, nil
		case rerr != nil:
			return n, &event.Failure{Code: event.InvalidRequest, Param: "file", Message: "the file did not arrive whole", Cause: rerr}
		}
	}
}

func (h *Host) mostFiles() holding {
	return holding{h.cfg.limits.MaxFiles, h.cfg.limits.MaxFilesBytes}
}

func contentFailure(err error) error {
	return &event.Failure{Code: event.StorageFailed, Message: "the file's content could not be written; the disk below the state directory may be full", Cause: err}
}
