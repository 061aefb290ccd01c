// Package adapters gathers the CLIs that a host can run. Set is the list by name
// and alias; each folder below knows one CLI, and adaptertest is the suite that
// every one of them passes.
//
// An adapter says what to run for a turn and what the output means; it starts
// nothing, reads no clock and keeps no state between turns. The packages here
// import actors/agent, actors/event, actors/spec and each other, nothing else of
// this module. There is no registration at import time: whoever embeds the engine
// passes the adapters it wants to NewSet, its own among them: docs/examples/adapter is
// a module of somebody else with an adapter, its tests and a Host that runs it.
package adapters
