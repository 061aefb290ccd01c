// Package storetest is the conformance suite of actors/store: what every
// implementation promises, told as tests.
//
// Run plays the promises of a store that lives; Crash kills a process that writes
// (CrashChild) and compares what is left with what it had announced. Both use the
// interface only. It may import actors/{event,spec,store}.
package storetest
