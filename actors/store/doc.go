// Package store is the journal and the records behind one interface.
//
// A session has one owner at a time, named by a host id and an epoch; every
// commit names both and the head it expects, and is refused as a whole when one
// of them does not match. A commit is atomic: its events, the session's record,
// turns, checkpoint and idempotency key land together or not at all. A commit
// whose answer was lost may be repeated as it was: the second one is answered
// like the first.
//
// # Numbers are never used twice
//
// A commit without Durable has reached the kernel, so the death of the process
// takes nothing; a crash of the machine may take events that readers have seen. So
// each session has a mark, Session.Reserved, ahead of all numbers given out: the
// commit that reaches it is synced, once in a million events, and moves it. After
// such a crash the sessions are Uncertain until their owner commits a Skipped event
// with the mark's number, and goes on above it. The doubt is kept with the session
// and not with the opening, for a store may be opened and closed before its owner
// has come to every session. What is given up: a session that lost nothing skips
// as well, for nobody can tell.
//
// # Elsewhere
//
// Export writes sessions at rest as JSON lines, Import and Importer put them into a
// store that no server has. A session that is there is never touched.
//
// # Calls
//
// Done callbacks run on the store's own goroutine, in the order of the commits
// of a session; they may not block. (A store that was closed answers in the
// caller's goroutine.) Every other method blocks and is called from
// goroutines that may wait, never from an actor's Receive.
//
// Look-ups are by (owner principal, id), so a foreign id is an unknown one.
// actors/store/sqlite is the embedded implementation, actors/store/memory the
// one for tests, actors/store/storetest the suite both pass.
package store
