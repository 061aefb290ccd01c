package sqlite

import "fmt"

// db is a connection with its prepared statements, each compiled at first use.
// One goroutine at a time.
type db struct {
	conn
	stmts map[string]stmt
	call  call
}

func newDB(c conn) *db { return &db{conn: c, stmts: map[string]stmt{}} }

// call is a statement whose parameters are being bound, in their order.
type call struct {
	db  *db
	sql string
	s   stmt
	at  int
	err error
}

// on starts a call. The next on ends it, so a call is bound and run in one chain.
func (d *db) on(sql string) *call {
	d.call = call{db: d, sql: sql}
	s, ok := d.stmts[sql]
	if !ok {
		if s, d.call.err = d.Prepare(sql); d.call.err == nil {
			d.stmts[sql] = s
		}
	}
	d.call.s = s
	return &d.call
}

func (c *call) int(v int64) *call {
	if c.at++; c.err == nil {
		c.err = c.s.BindInt64(c.at, v)
	}
	return c
}

func (c *call) text(v string) *call {
	if c.at++; c.err == nil {
		c.err = c.s.BindText(c.at, v)
	}
	return c
}

// blob binds v; nil is NULL.
func (c *call) blob(v []byte) *call {
	if c.at++; c.err == nil {
		c.err = c.s.BindBlob(c.at, v)
	}
	return c
}

// exec runs the statement to its end.
func (c *call) exec() error {
	_, err := c.one(nil)
	return err
}

// one runs the statement and shows scan its first row. It reports whether there
// was one.
func (c *call) one(scan func(stmt) error) (found bool, err error) {
	if c.err != nil {
		return false, fmt.Errorf("bind %q: %w", c.sql, c.err)
	}
	s, sql := c.s, c.sql // scan may start another call
	if s.Step() {
		found = true
		if scan != nil {
			err = scan(s)
		}
	}
	if stepErr := s.Reset(); stepErr != nil {
		return false, fmt.Errorf("run %q: %w", sql, stepErr)
	}
	return found, err
}

// each shows scan every row until it returns false or an error.
func (c *call) each(scan func(stmt) (bool, error)) error {
	if c.err != nil {
		return fmt.Errorf("bind %q: %w", c.sql, c.err)
	}
	s, sql := c.s, c.sql
	var err error
	for more := true; more && err == nil && s.Step(); {
		more, err = scan(s)
	}
	if stepErr := s.Reset(); stepErr != nil {
		return fmt.Errorf("run %q: %w", sql, stepErr)
	}
	return err
}
