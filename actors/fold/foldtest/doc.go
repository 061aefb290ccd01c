// Package foldtest draws histories of sessions that keep the engine's promises, for
// property tests of whatever reads journals: each wire must make the same of a
// history whether it is read live, from the store, from the middle or as objects.
//
// A further kind of event or move is one more entry of the table in moves.go. It
// imports actors/event, actors/fold, actors/spec and rapid; it is for tests only.
package foldtest
