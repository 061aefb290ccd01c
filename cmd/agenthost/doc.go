// Command agenthost serves coding-agent CLIs on the OpenAI Responses and Agents
// wires, and runs one of them from a terminal.
//
// This package is the wiring: verbs, the list of adapters (adapters.go), how a
// Host is made of the configuration (host.go), what is process-wide (signals,
// exit codes; the subreaper, control groups and the warden in guards.go) and the
// order of a shutdown (serve.go). It may import everything; nothing imports it.
//
// Exit codes: 0 done; 1 failed, refused or not healthy; 2 wrong use or a wrong
// configuration; 3 `run`: the turn failed; 74 the store could not be synced, so
// the server ended itself; 130 `run`: cancelled with Ctrl-C.
package main
