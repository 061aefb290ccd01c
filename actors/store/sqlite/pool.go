package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/agenthost/agenthost/actors/store"
)

// readers is how many connections read at once; readerCache is their page cache
// in KiB: room for the inner pages of the trees and the rows of a read.
const (
	readers     = 4
	readerCache = 256
)

// pool lends reading connections. Holding all of them shuts readers out.
type pool struct {
	free chan *db
	all  []*db
}

func newPool() *pool { return &pool{free: make(chan *db, readers)} }

func (p *pool) add(d *db) {
	p.all = append(p.all, d)
	p.free <- d
}

// exclusive runs fn while nobody reads.
func (p *pool) exclusive(fn func()) {
	held := make([]*db, 0, len(p.all))
	for range p.all {
		held = append(held, <-p.free)
	}
	defer func() {
		for _, d := range held {
			p.free <- d
		}
	}()
	fn()
}

// close waits for the readers and closes their connections.
func (p *pool) close() error {
	var errs []error
	for range p.all {
		errs = append(errs, (<-p.free).Close())
	}
	p.all = nil
	return errors.Join(errs...)
}

// view runs fn in one reading transaction. fn keeps it short: a few rows, no
// decoding, no callbacks.
func (s *Store) view(ctx context.Context, fn func(d *db) error) error {
	if err := s.Err(); err != nil {
		return err
	}
	var d *db
	select {
	case d = <-s.pool.free:
	default:
		select {
		case d = <-s.pool.free:
		case <-s.closing:
			return store.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { s.pool.free <- d }()
	if err := s.serves(); err != nil {
		return err
	}
	return s.guard("read", func() error { return transact(d, "BEGIN", fn) })
}

// serves is nil while the store may be read.
func (s *Store) serves() error {
	select {
	case <-s.closing:
		return store.ErrClosed
	default:
		return s.Err()
	}
}

// transact runs fn between begin and COMMIT, or rolls back.
func transact(d *db, begin string, fn func(d *db) error) error {
	if err := d.on(begin).exec(); err != nil {
		return classify(err)
	}
	err := fn(d)
	if err == nil {
		err = d.on("COMMIT").exec()
	}
	if err != nil && !d.Autocommit() {
		if back := d.on("ROLLBACK").exec(); back != nil {
			return classify(errors.Join(err, back))
		}
	}
	return classify(err)
}

// guard turns a panic of the driver, which it raises when it is out of memory,
// into the end of the store.
func (s *Store) guard(doing string, fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.fail(fmt.Errorf("panic in the store's %s: %v", doing, r))
			err = s.Err()
		}
	}()
	return fn()
}
