package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// An export is JSON lines: one that says what it is, a few for each session, one for
// each saved record, and one at the end, without which it is not whole. What is
// stored is in it byte by byte, as base64; `store dump` shows a session to people. A
// store never has secrets, so an export has none.

// ExportVersion is the version of the lines that this program writes. It reads those
// up to it.
const ExportVersion = 1

// line is one of an export; Type says which fields are used.
type line struct {
	// Version stands in the first line only.
	Version int    `json:"agenthost_export,omitempty"`
	Type    string `json:"type"` // header, session, events, turn, rested, record, end

	ID         event.ID `json:"id,omitzero"`
	Owner      string   `json:"owner,omitempty"`
	Created    int64    `json:"created,omitempty"`
	Trimmed    int64    `json:"trimmed,omitempty"`
	Checkpoint []byte   `json:"checkpoint,omitempty"`

	Last   int64  `json:"last,omitempty"`
	Events []byte `json:"events,omitempty"`

	Ordinal int64     `json:"ordinal,omitempty"`
	State   TurnState `json:"state,omitempty"`
	First   int64     `json:"first,omitempty"`
	Number  int64     `json:"number,omitempty"`

	Active int64  `json:"active,omitempty"`
	Spec   []byte `json:"spec,omitempty"`
	Body   []byte `json:"body,omitempty"`

	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`

	Counts *ExportCounts `json:"counts,omitempty"`

	// CRC is the CRC-32C of the line without it.
	CRC uint32 `json:"crc"`
}

// ExportCounts are what an export or an import was about.
type ExportCounts struct {
	Sessions int64 `json:"sessions"`
	Turns    int64 `json:"turns"`
	Events   int64 `json:"events"`
	Records  int64 `json:"records"`
}

// Exported is what Export wrote, and the sessions that it left out, with why.
type Exported struct {
	ExportCounts
	LeftOut []LeftOut `json:"left_out"`
}

// LeftOut is a session that is not in an export.
type LeftOut struct {
	Session string `json:"session"`
	Why     string `json:"why"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (l *line) seal() ([]byte, error) {
	l.CRC = 0
	b, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	l.CRC = crc32.Checksum(b, castagnoli)
	return json.Marshal(l)
}

// exportBytes bounds the events of one line.
const exportBytes = 1 << 20

// Export writes the sessions that are at rest, and the records of kinds. One with
// queued or running turns is left out: what is queued would run on both hosts. One
// that is damaged is left out as a whole.
func Export(ctx context.Context, s Store, kinds []string, w io.Writer) (*Exported, error) {
	x := &exporter{store: s, out: bufio.NewWriterSize(w, 256<<10), done: &Exported{LeftOut: []LeftOut{}}}
	err := x.put(&line{Version: ExportVersion, Type: "header"})
	all := SessionFilter{Damaged: func(id event.ID, err error) { x.leaveOut(id, err.Error()) }}
	for p := (spec.Page{Limit: 64}); err == nil; {
		var list []*Session
		var more bool
		if list, more, err = s.Sessions(ctx, all, p); err != nil {
			break
		}
		for _, rec := range list {
			p.After = rec.ID
			if err = x.session(ctx, rec); err != nil {
				break
			}
		}
		if !more {
			break
		}
	}
	for _, kind := range kinds {
		if err == nil {
			err = x.records(ctx, kind)
		}
	}
	if err == nil {
		err = x.put(&line{Type: "end", Counts: &x.done.ExportCounts})
	}
	return x.done, errors.Join(err, x.out.Flush())
}

type exporter struct {
	store Store
	out   *bufio.Writer
	done  *Exported
	// counted is what the newest walk saw.
	counted ExportCounts
}

func (x *exporter) put(l *line) error {
	b, err := l.seal()
	if err != nil {
		return err
	}
	_, err = x.out.Write(append(b, '\n'))
	return err
}

func (x *exporter) leaveOut(id event.ID, why string) {
	x.done.LeftOut = append(x.done.LeftOut, LeftOut{id.With(event.PrefixSession), why})
}

func (x *exporter) session(ctx context.Context, rec *Session) error {
	why := ""
	switch {
	case rec.State != Idle:
		why = "turns are queued or running; let a server end them first"
	case rec.Uncertain:
		why = "the machine went down while it was open; let a server open it first"
	case len(rec.Body) == 0:
		why = "its import was interrupted; import it again"
	}
	if why != "" {
		x.leaveOut(rec.ID, why)
		return nil
	}
	// It is read twice, so that nothing of a damaged one is written.
	err := x.walk(ctx, rec, func(*line) error { return nil })
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTrimmed) || errors.Is(err, ErrNotFound) {
		x.leaveOut(rec.ID, err.Error())
		return nil
	}
	if err == nil {
		err = x.walk(ctx, rec, x.put)
	}
	if err != nil {
		return fmt.Errorf("export session %s: %w", rec.ID, err)
	}
	x.done.Sessions++
	x.done.Turns += x.counted.Turns
	x.done.Events += x.counted.Events
	return nil
}

// walk shows put every line of a session.
func (x *exporter) walk(ctx context.Context, rec *Session, put func(*line) error) error {
	head := &line{Type: "session", ID: rec.ID, Owner: rec.Owner, Created: rec.Created, Trimmed: rec.Trimmed}
	if rec.Trimmed > 0 {
		base, err := x.store.CheckpointBefore(ctx, rec.ID, rec.Trimmed)
		if err != nil {
			return err
		}
		if base.Seq == rec.Trimmed {
			head.Checkpoint = base.Body
		}
	}
	if err := put(head); err != nil {
		return err
	}
	counts := ExportCounts{}
	for at := rec.Trimmed; at < rec.Head; {
		cp, err := x.store.CheckpointAfter(ctx, rec.ID, at+1)
		if err != nil {
			return err
		}
		to := rec.Head
		if cp.Seq > 0 && cp.Seq < to {
			to = cp.Seq
		}
		for at < to {
			events, err := x.store.Read(ctx, rec.ID, at+1, to, exportBytes)
			if err != nil {
				return err
			}
			if len(events) == 0 {
				return fmt.Errorf("%w: event %d is missing", ErrCorrupt, at+1)
			}
			l := &line{Type: "events", ID: rec.ID}
			enc := event.Encoder{}
			for i := range events {
				if err := enc.Append(&events[i]); err != nil {
					return err
				}
			}
			at = events[len(events)-1].Seq
			if l.Last, l.Events = at, enc.Buf; cp.Seq == at {
				l.Checkpoint = cp.Body
			}
			counts.Events += int64(len(events))
			if err := put(l); err != nil {
				return err
			}
		}
	}
	for p := (spec.Page{Limit: 256}); ; {
		list, more, err := x.store.Turns(ctx, rec.ID, p)
		if err != nil {
			return err
		}
		for _, t := range list {
			p.After = t.ID
			counts.Turns++
			if err := put(&line{Type: "turn", ID: t.ID, Ordinal: t.Ordinal, State: t.State, First: t.First, Last: t.Last, Number: t.Number, Body: t.Body}); err != nil {
				return err
			}
		}
		if !more {
			break
		}
	}
	if err := put(&line{Type: "rested", ID: rec.ID, Last: rec.Head, Active: rec.Active, Spec: rec.Spec, Body: rec.Body}); err != nil {
		return err
	}
	x.counted = counts
	return nil
}

func (x *exporter) records(ctx context.Context, kind string) error {
	for p := (spec.Page{Limit: 256}); ; {
		list, more, err := x.store.Records(ctx, kind, "", p)
		if err != nil {
			return err
		}
		for _, r := range list {
			p.After = r.ID
			x.done.Records++
			if err := x.put(&line{Type: "record", Kind: r.Kind, ID: r.ID, Owner: r.Owner, Name: r.Name, Created: r.Created, Body: r.Body}); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}
