// Package event is the neutral vocabulary of the engine: what happened in a
// session, independent of the CLI that did it and of the wire that tells it.
//
// It owns identities, events, items, usage, outcomes and failures. Everything
// either wire says is a pure function of these events, so the set is closed and
// its JSON form (codec.go) is a stored format: fields are added, never renamed.
//
// It imports only the standard library and may not do I/O, read a clock or
// start a goroutine.
package event
