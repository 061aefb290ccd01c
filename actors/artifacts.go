package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/outputs"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// artifactKind is the kind of the records that say what one turn published. Such a
// record has the turn's id and its session's as name; its content is a directory
// with a file for each artifact. An artifact's id leads to its turn as an item's
// does, so it is found without an index.
//
// Artifacts are a session's, not a turn's words: they stay when a turn is forgotten
// (store:false, DELETE of a response), whose id stays in the session's list as
// well. They go by themselves, or with their session.
const artifactKind = "artifacts"

// artifactRoom is where artifacts' contents lie.
type artifactRoom struct {
	contents
	// locks are held while a record is read and written again, by its id.
	locks [64]sync.Mutex
}

func (r *artifactRoom) lock(turn event.ID) *sync.Mutex {
	return &r.locks[int(turn[0])%len(r.locks)]
}

// file is where the content of a lies.
func (r *artifactRoom) file(a *spec.Artifact) string {
	return filepath.Join(r.path(a.Turn), outputs.Name(int(event.ItemOrdinal(a.Turn, a.ID))))
}

// publication is the body of a record.
type publication struct {
	Artifacts []*published `json:"artifacts"`
}

type published struct {
	spec.Artifact
	Stamp string `json:"stamp,omitempty"` // of the file in the workspace
}

func (h *Host) openArtifacts(ctx context.Context) error {
	h.artifacts.contents = contents{dir: filepath.Join(h.cfg.stateDir, "artifacts"), kind: artifactKind}
	return h.openContents(ctx, &h.artifacts.contents)
}

func publicationOf(rec *store.Record) (*publication, error) {
	p := new(publication)
	if err := json.Unmarshal(rec.Body, p); err != nil {
		return nil, fmt.Errorf("artifacts of turn %s: %w", rec.ID, err)
	}
	return p, nil
}

// publications are all artifacts of a session, oldest first.
func (h *Host) publications(ctx context.Context, session event.ID) (list []*published, err error) {
	recs, err := h.store.RecordsNamed(ctx, artifactKind, "", session.Hex())
	if err != nil {
		return nil, storeFailure(err)
	}
	for _, rec := range recs {
		p, err := publicationOf(rec)
		if err != nil {
			return nil, err
		}
		list = append(list, p.Artifacts...)
	}
	return list, nil
}

// Artifacts lists what a session's turns published, by publication; the zero
// environment is any.
func (h *Host) Artifacts(ctx context.Context, owner string, session, environment event.ID, p spec.Page) ([]*spec.Artifact, bool, error) {
	if _, err := h.settings(ctx, owner, session); err != nil {
		return nil, false, err
	}
	all, err := h.publications(ctx, session)
	if err != nil {
		return nil, false, err
	}
	if !p.After.IsZero() {
		from, to, err := h.around(ctx, session, all, p.After)
		if err != nil {
			return nil, false, err
		}
		if p.Desc {
			all = all[:from]
		} else {
			all = all[to:]
		}
	}
	var out []*spec.Artifact
	for _, a := range reversed(all, p.Desc) {
		switch {
		case !environment.IsZero() && a.Environment != environment:
		case p.Limit > 0 && len(out) == p.Limit:
			return out, true, nil
		default:
			out = append(out, &a.Artifact)
		}
	}
	return out, false, nil
}

// around is where in all, oldest first, the artifact id stands: all[:from] are before
// it and all[to:] behind. One that was deleted still has its place, which its id tells.
func (h *Host) around(ctx context.Context, session event.ID, all []*published, id event.ID) (from, to int, err error) {
	if n := slices.IndexFunc(all, func(a *published) bool { return a.ID == id }); n >= 0 {
		return n, n + 1, nil
	}
	ordinals := make(map[event.ID]int64)
	ordinal := func(turn event.ID) int64 {
		if _, known := ordinals[turn]; !known && err == nil {
			var rec *store.Turn
			if rec, err = h.store.Turn(ctx, "", turn); err == nil && rec.Session == session {
				ordinals[turn] = rec.Ordinal
			} else if err == nil {
				err = store.ErrNotFound
			}
		}
		return ordinals[turn]
	}
	turn := event.TurnOf(id)
	own := ordinal(turn)
	for from < len(all) && err == nil {
		a := all[from]
		if c := cmp.Compare(ordinal(a.Turn), own); c > 0 || c == 0 && event.ItemOrdinal(turn, a.ID) > event.ItemOrdinal(turn, id) {
			break
		}
		from++
	}
	if err != nil {
		return 0, 0, cursorFailure(err)
	}
	return from, from, nil
}

// Artifact looks one up.
func (h *Host) Artifact(ctx context.Context, owner string, session, id event.ID) (*spec.Artifact, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	_, p, n, err := h.publication(ctx, owner, session, id)
	if err != nil {
		return nil, err
	}
	return &p.Artifacts[n].Artifact, nil
}

// publication finds the record that artifact n of it is in.
func (h *Host) publication(ctx context.Context, owner string, session, id event.ID) (rec *store.Record, p *publication, n int, err error) {
	rec, err = h.store.GetRecord(ctx, artifactKind, owner, event.TurnOf(id))
	if errors.Is(err, store.ErrNotFound) || err == nil && rec.Name != session.Hex() {
		return nil, nil, 0, noSuchArtifact()
	}
	if err != nil {
		return nil, nil, 0, storeFailure(err)
	}
	if p, err = publicationOf(rec); err != nil {
		return nil, nil, 0, err
	}
	n = slices.IndexFunc(p.Artifacts, func(a *published) bool { return a.ID == id })
	if n < 0 {
		return nil, nil, 0, noSuchArtifact()
	}
	return rec, p, n, nil
}

func noSuchArtifact() error { return event.Fail(event.ArtifactNotFound, "there is no such artifact") }

// OpenArtifact opens an artifact's content, which stays readable while it is open
// even when the artifact is deleted. The caller closes it.
func (h *Host) OpenArtifact(ctx context.Context, owner string, session, id event.ID) (*spec.Artifact, io.ReadSeekCloser, error) {
	a, err := h.Artifact(ctx, owner, session, id)
	if err != nil {
		return nil, nil, err
	}
	content, err := openWhole(h.artifacts.file(a), a.Bytes)
	if err == nil {
		return a, content, nil
	}
	if errors.Is(err, os.ErrNotExist) {
		// Being deleted, or just published: the record comes first.
		if _, again := h.Artifact(ctx, owner, session, id); again != nil {
			return nil, nil, again
		}
		content, perr := openWhole(filepath.Join(h.artifacts.pending(a.Turn), filepath.Base(h.artifacts.file(a))), a.Bytes)
		if perr == nil {
			return a, content, nil
		}
	}
	return nil, nil, fmt.Errorf("artifact %s is damaged: %w", id, err)
}

// openWhole opens a content that must have so many bytes.
func openWhole(path string, bytes int64) (*os.File, error) {
	content, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	about, err := content.Stat()
	if err == nil && about.Size() != bytes {
		err = fmt.Errorf("%d bytes instead of %d", about.Size(), bytes)
	}
	if err != nil {
		_ = content.Close()
		return nil, err
	}
	return content, nil
}

// DeleteArtifact removes one with its content. The file in the workspace stays.
func (h *Host) DeleteArtifact(ctx context.Context, owner string, session, id event.ID) error {
	if err := h.usable(); err != nil {
		return err
	}
	l := h.artifacts.lock(event.TurnOf(id))
	l.Lock()
	defer l.Unlock()
	rec, p, n, err := h.publication(ctx, owner, session, id)
	if err != nil {
		return err
	}
	if len(p.Artifacts) == 1 {
		if err := h.discard(ctx, &h.artifacts.contents, owner, rec.ID); err != nil {
			return missingArtifact(err)
		}
		return nil
	}
	file := h.artifacts.file(&p.Artifacts[n].Artifact)
	p.Artifacts = slices.Delete(p.Artifacts, n, n+1)
	if rec.Body, err = json.Marshal(p); err != nil {
		return err
	}
	if err := h.store.PutRecord(ctx, rec); err != nil {
		return storeFailure(err)
	}
	// After a crash in between, a content without a name goes with the others of its
	// turn.
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		h.log.Warn("a deleted artifact's content could not be removed; it goes with its session", "artifact", id, "error", err)
	}
	return nil
}

func missingArtifact(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return noSuchArtifact()
	}
	return err
}

// removeArtifacts removes all artifacts of a session.
func (h *Host) removeArtifacts(ctx context.Context, session event.ID) error {
	recs, err := h.store.RecordsNamed(ctx, artifactKind, "", session.Hex())
	if err != nil {
		return err
	}
	for _, rec := range recs {
		if err := h.retract(ctx, rec.ID); err != nil {
			return err
		}
	}
	return nil
}

// retract removes what a turn published.
func (h *Host) retract(ctx context.Context, turn event.ID) error {
	l := h.artifacts.lock(turn)
	l.Lock()
	defer l.Unlock()
	_, err := h.store.GetRecord(ctx, artifactKind, "", turn)
	if err == nil {
		err = h.discard(ctx, &h.artifacts.contents, "", turn)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// disown removes what a turn published whose end was lost, so that it ends
// otherwise than completed.
func (h *Host) disown(turn event.ID) {
	if err := h.retract(context.Background(), turn); err != nil {
		h.log.Warn("artifacts of a turn that did not complete could not be removed", "turn", turn, "error", err)
	}
}
