// Package agent is the contract between the engine and one coding-agent CLI:
// how it is started for a turn, and what its output means.
//
// Everything here is pure: an Adapter says what to run and a Parser says what a
// line means; the engine does the running. The package imports actors/event and
// actors/spec only. adapters/adaptertest is the suite every Adapter must pass.
package agent
