package store

import (
	"context"
	"errors"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Errors a caller branches on; the others are typed by their text only.
var (
	// ErrNotFound says that no such record belongs to the owner.
	ErrNotFound = errors.New("store: not found")
	// ErrFenced says that the session has another owner or epoch.
	ErrFenced = errors.New("store: session is owned by another host")
	// ErrHead says that the session's head is not the expected one.
	ErrHead = errors.New("store: head differs from the expected one")
	// ErrTrimmed says that the events asked for are gone.
	ErrTrimmed = errors.New("store: events were trimmed")
	// ErrCorrupt says that a record failed its checksum or that rows are missing;
	// the session is quarantined.
	ErrCorrupt = errors.New("store: damaged record")
	// ErrFull says that the disk is full or below its floor.
	ErrFull = errors.New("store: no space")
	// ErrExists says that the id is taken.
	ErrExists = errors.New("store: exists")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("store: closed")
	// ErrFailed says that a sync failed: the process must end, see Fatal.
	ErrFailed = errors.New("store: sync failed")
)

// Commit is one atomic change of one session.
type Commit struct {
	Session event.ID
	// Host and Epoch are the owner's; see Claim.
	Host  event.ID
	Epoch int64
	// Head is the sequence number of the last event before this commit. Events
	// follow it without a gap; they may be none. A Skipped event fills the gap
	// before it.
	Head   int64
	Events []event.Event
	// Create makes the session's record; Head must be its Trimmed.
	Create *NewSession
	// State, Body and Spec replace those of the session's record when set.
	State *SessionState
	Body  []byte
	Spec  []byte
	// Active is when the session last did something, in Unix milliseconds; 0 leaves
	// what was there. What a new session starts with is its creation.
	Active int64
	// Turns are inserted or replaced by id.
	Turns []Turn
	// Spend is added to the sums of the session's owner. The commit must have events,
	// or a repeat of it would add twice.
	Spend *Spend
	// Checkpoint is kept with the sequence number of the commit's last event.
	Checkpoint []byte
	// Key makes the commit's request safe to repeat.
	Key *Key
	// Durable asks for a sync before Done. Without it the commit has reached the
	// kernel when Done is called. One whose last event reaches the session's Reserved
	// mark is synced all the same.
	Durable bool
	// Done is told the result, exactly once. nil is allowed.
	Done func(error)
}

// NewSession is what a session's record starts with.
type NewSession struct {
	Owner   string
	Created int64 // Unix milliseconds
	// Trimmed is the last sequence number that is gone from the start, of a session
	// that comes from elsewhere; 0 for all others.
	Trimmed int64
}

// SessionState is the coarse state that look-ups need without the body.
type SessionState uint8

// States of a session record.
const (
	Idle    SessionState = iota + 1 // nothing queued or running
	Active                          // queued or running work
	Deleted                         // being removed
)

// Session is a session's record: a cache of the fold, for lists and look-ups.
type Session struct {
	ID      event.ID
	Owner   string
	Created int64
	State   SessionState
	Host    event.ID
	Epoch   int64
	Head    int64
	// Reserved is above Head, and no reader can have seen a number above it: the
	// commit that reaches it is synced together with a new mark. So it outlives a
	// crash of the machine, which Head may not.
	Reserved int64
	// Uncertain says that such a crash may have taken events above Head. Before
	// anything else the owner commits a Skipped event with the number Reserved,
	// which ends it.
	Uncertain bool
	// Trimmed is the last sequence number that is gone; 0 when none is.
	Trimmed int64
	Bytes   int64 // of its journal
	// Active is the Active of the newest commit that left the session idle.
	Active int64
	Spec   []byte
	Body   []byte
}

// TurnState is the coarse state of a turn's record.
type TurnState uint8

// States of a turn record.
const (
	TurnOpen      TurnState = iota + 1 // queued or running
	TurnEnded                          // with its items
	TurnForgotten                      // without
	// TurnNote is no turn: items that were posted without asking for one. It stands in
	// the order of turns, and First is the one event it has.
	TurnNote
)

// IdleSession is a session in the list of those that nothing is queued or running
// in. It is a hint: who acts on it looks the session up.
type IdleSession struct {
	ID     event.ID
	Active int64
	Bytes  int64 // of its journal, about
	// N tells sessions of the same moment apart.
	N int64
}

// Turn is a turn's record.
type Turn struct {
	ID      event.ID
	Session event.ID
	// Ordinal counts the session's turns from 1.
	Ordinal int64
	State   TurnState
	// First and Last are the sequence numbers of its first and last event; Last
	// is 0 while it is open.
	First, Last int64
	// Number is the host-wide acceptance number.
	Number int64
	Body   []byte
}

// Key is an idempotency key with the hash of its request and the answer's ids.
type Key struct {
	Owner   string
	Value   string
	Hash    string
	Created int64 // Unix seconds
	// Answer is opaque to the store.
	Answer []byte
}

// Spend is what turns that ended on a day used. A day is the number of one of UTC,
// counted from 1970.
// No sum of an owner's day goes above MaxSpent.
type Spend struct{ Day, Tokens, MicroUSD int64 }

// MaxSpent bounds a sum, so that sums of sums do not overflow.
const MaxSpent = 1_000_000_000_000_000

// Spent is what an owner's turns ever used; of sessions that were removed, too.
// Day is not set.
type Spent struct {
	Owner string
	Spend
}

// Checkpoint is a fold state as of Seq.
type Checkpoint struct {
	Seq  int64
	Body []byte
}

// Record is a small named document of an owner, such as a saved agent.
type Record struct {
	Kind    string // "agent"
	ID      event.ID
	Owner   string
	Name    string // may repeat; RecordsNamed returns all
	Created int64
	Body    []byte
	// Key makes the request that put the record safe to repeat. It is stored with
	// the record, and never read back as a part of it.
	Key *Key
}

// SessionFilter narrows a list of sessions. Match sees each candidate and may
// be nil.
type SessionFilter struct {
	Owner string // "" for every owner
	Match func(*Session) bool
	// Damaged is told of each session that is left out because it is; nil is allowed.
	Damaged func(id event.ID, err error)
}

// Store is the interface both implementations satisfy. All methods are safe for
// concurrent use.
type Store interface {
	// Commit queues c. It never blocks; c may not be changed before Done.
	Commit(c *Commit)

	// Session looks a record up. owner "" means any (the host itself).
	Session(ctx context.Context, owner string, id event.ID) (*Session, error)
	// Sessions lists records by creation, without damaged ones.
	// ErrNotFound when p.After names no session of the owner, nor one that was deleted
	// lately (Places).
	Sessions(ctx context.Context, f SessionFilter, p spec.Page) (list []*Session, more bool, err error)
	// ActiveSessions lists every session whose State is Active, for recovery.
	ActiveSessions(ctx context.Context) ([]*Session, error)
	// SessionCount counts records that are not deleted.
	SessionCount(ctx context.Context) (int64, error)

	// IdleSessions lists those whose State is Idle by Active, the longest idle first,
	// behind the place that after has; the zero one is the beginning.
	IdleSessions(ctx context.Context, after IdleSession, limit int) ([]IdleSession, error)
	// Used is how many bytes of the store are in use. purging says that some of them
	// are of removed sessions, which go by themselves.
	Used(ctx context.Context) (bytes int64, purging bool, err error)

	// Room is nil while new work is taken, and ErrFull while the disk is below its floor.
	// It looks at the disk, not at what is stored.
	Room() error

	// Claim makes host the owner of the session and returns the new epoch and
	// record. It is durable.
	Claim(ctx context.Context, id, host event.ID) (*Session, error)
	// Remove deletes the session with everything below it. It is durable; space is
	// given back in the background.
	Remove(ctx context.Context, id event.ID) error

	// Turn looks a turn up. owner "" means any.
	Turn(ctx context.Context, owner string, id event.ID) (*Turn, error)
	// Turns lists a session's turns by ordinal. ErrNotFound when Page.After names
	// no turn of the session.
	Turns(ctx context.Context, session event.ID, p spec.Page) (list []*Turn, more bool, err error)

	// Read returns the events of the numbers from..to, at most about max bytes of
	// them and at least one if there is any; the caller goes on from the last one's
	// Seq+1. A Skipped event is that of all its numbers, so Seq may be above to.
	// ErrTrimmed when from is gone.
	Read(ctx context.Context, session event.ID, from, to int64, max int) ([]event.Event, error)
	// CheckpointBefore returns the newest checkpoint with Seq <= seq, or a zero
	// one.
	CheckpointBefore(ctx context.Context, session event.ID, seq int64) (Checkpoint, error)
	// CheckpointAfter returns the oldest checkpoint with Seq >= seq, or a zero one.
	CheckpointAfter(ctx context.Context, session event.ID, seq int64) (Checkpoint, error)
	// Trim removes events up to and including seq, in whole chunks, never past it.
	// It returns the new trim mark.
	Trim(ctx context.Context, session event.ID, seq int64) (int64, error)

	// Thin puts events, which cover the numbers first to last by Skipped events, in the
	// place of those that have them now. first begins a commit, or what an earlier Thin
	// made, and last ends one; else it is ErrHead. It is durable.
	Thin(ctx context.Context, session event.ID, first, last int64, events []event.Event) error

	// Key looks an idempotency key up. ErrNotFound after 24 hours.
	Key(ctx context.Context, owner, value string, now int64) (*Key, error)

	// PutRecord inserts or replaces by (kind, id), durably. ErrExists when the id is
	// another owner's, or when the record's key stands for another request.
	PutRecord(ctx context.Context, r *Record) error
	// GetRecord looks a record up; owner "" means any.
	GetRecord(ctx context.Context, kind, owner string, id event.ID) (*Record, error)
	// RecordsNamed returns the owner's records of that name.
	RecordsNamed(ctx context.Context, kind, owner, name string) ([]*Record, error)
	// Records lists by creation, without damaged ones, with cursors as Sessions has them.
	Records(ctx context.Context, kind, owner string, p spec.Page) (list []*Record, more bool, err error)
	// DeleteRecord removes one, durably. ErrNotFound when there is none.
	DeleteRecord(ctx context.Context, kind, owner string, id event.ID) error

	// Spent sums what was ever spent by owner, and what all spent on day. It reads one
	// row for each owner and day with a turn.
	Spent(ctx context.Context, day int64) (owners []Spent, today Spend, err error)

	// NextNumber is one more than the highest Turn.Number ever stored.
	NextNumber(ctx context.Context) (int64, error)

	// Uncertain says that the store was opened after an end of the machine that may
	// have dropped commits without a sync. Session.Uncertain tells it for each
	// session, until its owner has dealt with it.
	Uncertain() bool

	// Fatal is closed when the store can no longer keep its promises (a sync
	// failed); Err tells why. The process must end with its own exit code.
	Fatal() <-chan struct{}
	Err() error

	// Close waits for queued commits and closes the files.
	Close() error
}
