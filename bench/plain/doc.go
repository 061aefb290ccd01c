// Package plain is the host that a good engineer writes in a day: net/http, os/exec,
// a goroutine per pipe, encoding/json, a mutex and a list of events per session. It
// keeps nothing on disk. It is the measure of what the product's engine costs or
// gains, so it is written to be fast where that is easy and to lose nothing: events
// are read by position, turns wait in one queue in the order they came, a cancelled
// turn's process group is killed.
//
// It imports the standard library only. Main is the program: the bench runs it as a
// process of its own.
//
//	POST /sessions                    {"id"}
//	POST /sessions/{id}/turns         {"prompt"} -> 202 {"turn"}
//	GET  /sessions/{id}/events        server-sent events from the first; ?after=N
//	POST /sessions/{id}/cancel        ends the turn that runs
//	DELETE /sessions/{id}
package plain
