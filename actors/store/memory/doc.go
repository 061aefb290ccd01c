// Package memory is a store without files, for tests and the simulation.
//
// It keeps the promises of actors/store except one: nothing outlives the process.
// New applies commits on one goroutine of its own. NewManual has none: commits
// wait until Step applies the oldest, so a simulation decides when an answer
// comes; Drop and Reopen play a crash and the restart after it.
//
// It may import actors/{event,spec,store} and touches no file and no clock.
package memory
