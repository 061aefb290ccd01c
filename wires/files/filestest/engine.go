package filestest

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Engine keeps files. The zero value is empty and usable.
type Engine struct {
	mu       sync.Mutex
	files    []*spec.File
	contents map[event.ID][]byte
	open     int
	keys     map[string]kept
}

// kept is what a key stands for.
type kept struct {
	hash string
	made event.ID
}

// Put keeps a file and gives its public id.
func (e *Engine) Put(owner, name string, content []byte) string {
	f, _ := e.PutFile(context.Background(), owner, spec.File{Name: name, Purpose: "user_data"}, bytes.NewReader(content), nil)
	return f.ID.With(event.PrefixFile)
}

// Open counts contents that were opened and not closed.
func (e *Engine) Open() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open
}

// Kept counts files.
func (e *Engine) Kept() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.files)
}

// PutFile keeps what content gives, once for a key.
func (e *Engine) PutFile(_ context.Context, owner string, f spec.File, content io.Reader, key *spec.Key) (*spec.File, error) {
	b, err := io.ReadAll(content)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.contents == nil {
		e.contents = map[event.ID][]byte{}
	}
	f.ID, f.Owner, f.Bytes, f.Created = event.NewID(), owner, int64(len(b)), 1_700_000_000
	if key != nil {
		if old, ok := e.keys[key.Value]; ok {
			if old.hash != key.Hash {
				return nil, event.Fail(event.IdempotencyMismatch, "the engine's own words")
			}
			return e.file(owner, old.made)
		}
		if e.keys == nil {
			e.keys = map[string]kept{}
		}
		e.keys[key.Value] = kept{key.Hash, f.ID}
	}
	e.files = append(e.files, &f)
	e.contents[f.ID] = b
	return &f, nil
}

// File looks one up.
func (e *Engine) File(_ context.Context, owner string, id event.ID) (*spec.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file(owner, id)
}

func (e *Engine) file(owner string, id event.ID) (*spec.File, error) {
	for _, f := range e.files {
		if f.ID == id && f.Owner == owner {
			return f, nil
		}
	}
	return nil, event.Fail(event.FileNotFound, "the engine's own words")
}

// Files lists files by creation.
func (e *Engine) Files(_ context.Context, owner, purpose string, p spec.Page) ([]*spec.File, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []*spec.File
	for _, f := range e.files {
		if f.Owner == owner && (purpose == "" || f.Purpose == purpose) {
			list = append(list, f)
		}
	}
	if p.Desc {
		slices.Reverse(list)
	}
	if !p.After.IsZero() {
		at := slices.IndexFunc(list, func(f *spec.File) bool { return f.ID == p.After })
		if at < 0 {
			return nil, false, event.Fail(event.CursorNotFound, "the engine's own words")
		}
		list = list[at+1:]
	}
	return list[:min(len(list), p.Limit)], len(list) > p.Limit, nil
}

// OpenFile opens a content.
func (e *Engine) OpenFile(_ context.Context, owner string, id event.ID) (*spec.File, io.ReadSeekCloser, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, err := e.file(owner, id)
	if err != nil {
		return nil, nil, err
	}
	e.open++
	return f, &content{bytes.NewReader(e.contents[id]), e}, nil
}

// DeleteFile removes one.
func (e *Engine) DeleteFile(_ context.Context, owner string, id event.ID) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := e.file(owner, id); err != nil {
		return err
	}
	e.files = slices.DeleteFunc(e.files, func(f *spec.File) bool { return f.ID == id })
	return nil
}

type content struct {
	*bytes.Reader
	engine *Engine
}

func (c *content) Close() error {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.engine.open--
	return nil
}
