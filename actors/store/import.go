package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/agenthost/agenthost/actors/event"
)

// Imported is what Import put in, and what was there already.
type Imported struct {
	ExportCounts
	// There counts sessions and records that were left as they are.
	There ExportCounts `json:"there"`
}

// ErrExport says that something is no export, or not a whole one.
var ErrExport = errors.New("not a whole export")

// maxLine bounds a line: events of a megabyte, or one that is larger by itself.
const maxLine = 256 << 20

// Import puts what Export wrote into s. What is there already is left as it is, so
// that a second import of the same changes nothing and one that was interrupted can
// be repeated.
func Import(ctx context.Context, s Store, r io.Reader) (*Imported, error) {
	m := &reader{store: s, importer: NewImporter(s), done: &Imported{}}
	in := bufio.NewReaderSize(r, 256<<10)
	for n := 1; ; n++ {
		l, err := readLine(in)
		if err == nil && (n == 1) != (l.Type == "header") {
			err = fmt.Errorf("%w: the first line, and only that, says what it is", ErrExport)
		}
		if err == nil {
			err = m.take(ctx, l)
		}
		if err != nil {
			return m.done, fmt.Errorf("line %d: %w", n, err)
		}
		if l.Type == "end" {
			return m.done, nil
		}
	}
}

// IsExport says that the beginning of a file is one of Export.
func IsExport(beginning []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(beginning, " \t\r\n"), []byte(`{"agenthost_export":`))
}

func readLine(in *bufio.Reader) (*line, error) {
	var whole []byte
	for {
		part, err := in.ReadSlice('\n')
		if whole = append(whole, part...); len(whole) > maxLine {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrExport, maxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it ends early", ErrExport)
		}
		if err != nil {
			return nil, err
		}
		break
	}
	l := new(line)
	if err := json.Unmarshal(whole, l); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	if l.Version > ExportVersion {
		return nil, fmt.Errorf("%w: it has version %d and this program reads up to %d; use the newer program", ErrExport, l.Version, ExportVersion)
	}
	sum := l.CRC
	l.CRC = 0
	plain, err := json.Marshal(l)
	if err != nil || crc32.Checksum(plain, castagnoli) != sum {
		return nil, fmt.Errorf("%w: the line fails its checksum", ErrExport)
	}
	return l, nil
}

// reader is an import under way.
type reader struct {
	store    Store
	importer *Importer
	done     *Imported

	id     event.ID  // of the session that the lines are about; zero between two
	in     *Incoming // nil when it is there already
	turns  []Turn
	events int64
}

func (m *reader) take(ctx context.Context, l *line) error {
	within := !m.id.IsZero()
	switch l.Type {
	case "events", "turn", "rested":
		if !within || l.Type != "turn" && l.ID != m.id {
			return fmt.Errorf("%w: a line of no session (%s)", ErrExport, l.Type)
		}
	default:
		if within {
			return fmt.Errorf("%w: session %s is not whole", ErrExport, m.id)
		}
	}
	switch l.Type {
	case "header":
		if l.Version < 1 {
			return fmt.Errorf("%w: it has no version", ErrExport)
		}
	case "session":
		if l.ID.IsZero() || l.Owner == "" || l.Trimmed < 0 {
			return fmt.Errorf("%w: a session without id or owner", ErrExport)
		}
		in, err := m.importer.Session(ctx, l.ID, NewSession{Owner: l.Owner, Created: l.Created, Trimmed: l.Trimmed}, l.Checkpoint)
		if err != nil {
			return err
		}
		m.id, m.in, m.turns, m.events = l.ID, in, nil, 0
	case "events":
		events, err := event.Decode(nil, l.Events)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrExport, err)
		}
		if len(events) == 0 || events[len(events)-1].Seq != l.Last {
			return fmt.Errorf("%w: other events than the line says", ErrExport)
		}
		if m.events += int64(len(events)); m.in != nil {
			return m.in.Events(ctx, events, l.Checkpoint)
		}
	case "turn":
		m.turns = append(m.turns, Turn{ID: l.ID, Session: m.id, Ordinal: l.Ordinal, State: l.State, First: l.First, Last: l.Last, Number: l.Number, Body: l.Body})
	case "rested":
		return m.rested(ctx, l)
	case "record":
		return m.record(ctx, l)
	case "end":
	default:
		return fmt.Errorf("%w: an unknown line (%s)", ErrExport, l.Type)
	}
	return nil
}

func (m *reader) rested(ctx context.Context, l *line) error {
	to := &m.done.ExportCounts
	if m.in == nil {
		to = &m.done.There
	} else if err := m.in.End(ctx, &Rested{Head: l.Last, State: Idle, Active: l.Active, Spec: l.Spec, Body: l.Body, Turns: m.turns}); err != nil {
		return err
	}
	to.Sessions++
	to.Turns += int64(len(m.turns))
	to.Events += m.events
	m.id, m.in = event.ID{}, nil
	return nil
}

func (m *reader) record(ctx context.Context, l *line) error {
	_, err := m.store.GetRecord(ctx, l.Kind, "", l.ID)
	if err == nil {
		m.done.There.Records++
		return nil
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	m.done.Records++
	return m.store.PutRecord(ctx, &Record{Kind: l.Kind, ID: l.ID, Owner: l.Owner, Name: l.Name, Created: l.Created, Body: l.Body})
}
