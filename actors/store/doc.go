// Package store is the journal and the records behind one interface.
//
// A session has one owner at a time, named by a host id and an epoch; every
// commit names both and the head it expects, and is refused as a whole when one
// of them does not match. A commit is atomic: its events, the session's record,
// turns, checkpoint and idempotency key land together or not at all. A commit
// whose answer was lost may be repeated as it was: the second one is answered
// like the first.
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
