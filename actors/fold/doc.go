// Package fold turns a session's events into its objects: the session, its
// turns, their items and usage. The non-streamed object, the last streamed one,
// what a GET returns and a replay are equal because all are this fold of the
// same journal.
//
// It also owns Batch, the unit in which events travel from the journal to
// readers, with the place where a wire's rendering of it is kept.
//
// Pure: it imports actors/event and actors/spec, and does no I/O.
package fold
