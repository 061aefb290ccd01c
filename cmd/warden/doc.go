// Package warden ends the process trees of a server that was killed or no longer
// answers. Those CLIs, and the shells they started, would otherwise live on until
// the next start sweeps them.
//
// The warden is the same binary, executed again as the hidden verb of that name
// with the read end of a pipe as its standard input. Over it the server (Keeper)
// tells which trees there are, one line each, and, as long as there are any, that
// it is alive. Nothing is answered and nothing waits: the Keeper keeps the table
// and a goroutine of its own writes what changed.
//
// # When it acts
//
// When the pipe ends without a good-bye: the server was killed, crashed, or ended
// itself in a hurry. Or when there are trees and nothing was heard for the Silence
// (10 s), in which a healthy server speaks ten times: it was stopped (SIGSTOP) or
// hangs. Time is CLOCK_BOOTTIME, which goes on while the machine sleeps; but a
// warden that was not running itself, because the machine slept or had no time for
// anybody, gives the server the whole Silence again. So neither slowness nor a
// suspended laptop ends a turn.
//
// It then ends every tree, by a shortened ladder and within two seconds, says so
// in one line on standard error, and ends itself. A server that only was stopped
// finds its CLIs killed when it goes on, and starts another warden; what it starts
// from then on is not touched.
//
// # What it is
//
// It leads a session of its own and ignores the signals that end a server, so what
// is sent to the server's group, or by a service manager to all of a service, does
// not take it away first. It listens to nothing, holds no file but the pipe and the
// server's standard error, has an empty environment, and gives back the pages of
// the binary that only the start needed. Between looks it sleeps; while there are
// trees it looks four times a second which orphans the server has adopted, because
// those are nobody's children once the server is dead.
//
// The package imports actors/process and the standard library.
package warden
