package sqlite

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/ncruces/go-sqlite3"

	"github.com/agenthost/agenthost/actors/store"
)

// conn is what this package needs of a connection. One goroutine at a time.
type conn interface {
	// Exec runs statements without results.
	Exec(sql string) error
	// Prepare compiles one statement; it is closed with the connection.
	Prepare(sql string) (stmt, error)
	// Checkpoint returns the frames in the log and how many of them are in the
	// main file.
	Checkpoint(mode checkpointMode) (frames, copied int, err error)
	// Changes counts the rows of the last statement.
	Changes() int64
	LastInsertRowID() int64
	// Autocommit is false inside a transaction.
	Autocommit() bool
	// KeepLog makes Close leave the write-ahead log as it is.
	KeepLog() error
	// Close closes the statements too.
	Close() error
}

// stmt is a prepared statement. Parameters count from 1, columns from 0. Raw
// columns live until the next call.
type stmt interface {
	BindInt64(param int, v int64) error
	BindText(param int, v string) error
	BindBlob(param int, v []byte) error
	Step() bool
	// Reset makes it ready for the next run and returns the last run's error.
	Reset() error
	ColumnInt64(col int) int64
	ColumnText(col int) string
	ColumnBlob(col int, buf []byte) []byte
	ColumnRawBlob(col int) []byte
}

type checkpointMode int

const (
	checkpointNoop checkpointMode = iota // only count
	checkpointPassive
)

// driverConn binds conn to the driver.
type driverConn struct {
	*sqlite3.Conn
	stmts []*sqlite3.Stmt
}

// dial opens path through the named VFS.
func dial(path, vfsName string, readOnly bool) (conn, error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	if readOnly {
		flags = sqlite3.OPEN_READONLY
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "vfs=" + vfsName}
	c, err := sqlite3.OpenFlags(u.String(), flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, classify(err))
	}
	return &driverConn{Conn: c}, nil
}

func (c *driverConn) Prepare(sql string) (stmt, error) {
	s, _, err := c.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", sql, err)
	}
	c.stmts = append(c.stmts, s)
	return s, nil
}

func (c *driverConn) Checkpoint(mode checkpointMode) (frames, copied int, err error) {
	m := sqlite3.CHECKPOINT_NOOP
	if mode == checkpointPassive {
		m = sqlite3.CHECKPOINT_PASSIVE
	}
	return c.WALCheckpoint("main", m)
}

func (c *driverConn) Autocommit() bool { return c.GetAutocommit() }

func (c *driverConn) KeepLog() error {
	_, err := c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true)
	return err
}

func (c *driverConn) Close() error {
	for _, s := range c.stmts {
		_ = s.Close() // it repeats the error of its last run
	}
	return c.Conn.Close()
}

// classify wraps a driver error in the store's own where there is one.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.FULL):
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case syncFailed(err):
		return fmt.Errorf("%w: %w", store.ErrFailed, err)
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	default:
		return err
	}
}

func syncFailed(err error) bool {
	return errors.Is(err, sqlite3.IOERR_FSYNC) || errors.Is(err, sqlite3.IOERR_DIR_FSYNC)
}

// ioFailed says that a read or write failed, which may pass.
func ioFailed(err error) bool { return errors.Is(err, sqlite3.IOERR) && !syncFailed(err) }

// taken maps a broken uniqueness to ErrExists.
func taken(err error) error {
	if errors.Is(err, sqlite3.CONSTRAINT) {
		return errors.Join(store.ErrExists, err)
	}
	return err
}
