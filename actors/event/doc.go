// Package event is the neutral vocabulary of the engine: what happened in a
// session, independent of the CLI that did it and of the wire that tells it.
//
// It owns identities, events, items, usage, outcomes and failures. Everything
// either wire says is a pure function of these events, so the set is closed and
// its encoding (codec.go) is a stored format: kinds and fields are added, never
// renumbered or renamed, and testdata/stored.golden keeps bytes that every later
// version must read.
//
// It imports only the standard library and may not do I/O, read a clock or
// start a goroutine.
package event
