package actors

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/outputs"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// harvest is a completed turn's files that are to be published.
type harvest struct {
	owner                      string
	session, turn, environment event.ID
	order                      outputs.Order
}

// publish keeps copies of a completed turn's files as artifacts and says what was
// left out. It works on the disk, so it is not for a Receive. It gives up with what
// it has when ctx ends; once gone has ended, it publishes nothing.
func (h *Host) publish(ctx, gone context.Context, v *harvest) (notes []string) {
	failed := func(err error) []string {
		h.log.Warn("artifacts could not be published", "session", v.session, "turn", v.turn, "error", err)
		return append(notes, "the turn's files could not be published; the server's log has the cause")
	}
	l := &h.cfg.limits
	v.order.MaxFile, v.order.MaxFiles, v.order.MaxBytes = l.MaxArtifactBytes, l.MaxArtifacts, l.MaxArtifactsBytes
	before, err := h.publications(ctx, v.session)
	if err != nil {
		return failed(err)
	}
	stamps := map[string]string{}
	for _, a := range before {
		v.order.MaxFiles--
		v.order.MaxBytes -= a.Bytes
		stamps[a.Path] = a.Stamp
	}
	v.order.Published = func(path, stamp string) bool { return stamps[path] == stamp }

	pending := h.artifacts.pending(v.turn)
	files, notes, err := outputs.Collect(ctx, &v.order, pending)
	if err != nil {
		notes = failed(err)
	}
	if len(files) > 0 {
		kept, err := h.keepArtifacts(gone, v, files)
		if err != nil {
			notes = failed(err)
		}
		if kept || errors.Is(err, store.ErrFailed) { // then the next start knows
			return notes
		}
	}
	if err := os.RemoveAll(pending); err != nil {
		h.log.Warn("copies that were not published could not be removed; the next start tries again", "turn", v.turn, "error", err)
	}
	return notes
}

// keepArtifacts makes artifacts of the copies that lie pending.
func (h *Host) keepArtifacts(gone context.Context, v *harvest, files []outputs.File) (kept bool, err error) {
	p, now := &publication{}, h.now()
	for i, f := range files {
		p.Artifacts = append(p.Artifacts, &published{Stamp: f.Stamp, Artifact: spec.Artifact{
			ID: event.ItemID(v.turn, uint32(i)), Session: v.session, Turn: v.turn, Environment: v.environment,
			Path: f.Path, Bytes: f.Bytes, SHA256: f.SHA256, Media: f.Media, Created: now.Unix(),
		}})
	}
	body, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	if err := syncDir(h.artifacts.pending(v.turn)); err != nil {
		return false, err
	}
	l := h.artifacts.lock(v.turn)
	l.Lock()
	defer l.Unlock()
	if gone.Err() != nil { // who ends it calls retract afterwards, if it must
		return false, nil
	}
	rec := &store.Record{Kind: artifactKind, ID: v.turn, Owner: v.owner, Name: v.session.Hex(), Created: now.UnixMilli(), Body: body}
	if err := h.keep(context.WithoutCancel(gone), &h.artifacts.contents, rec); err != nil {
		return false, err
	}
	return true, nil
}
