// Package recording keeps what a CLI was told and what it said, and reads it again. A
// recording is a directory:
//
//	recording.json  which adapter, driver and CLI it is of, and for each process its
//	                program, arguments, names of variables and exit
//	N.stream        what passed through the pipes of process N, byte for byte, with
//	                times
//	events.jsonl    the events that the engine made of it, a line each
//
// Known secrets have been taken out of all of them before they come here; of the
// environment there are the names.
//
// A stream begins with the line "agenthost-recording 1 DRIVER". Each piece is a line
// "MS PIPE BYTES" (milliseconds since the start, stdin, stdout or stderr), its bytes and
// a line end; the last line is "MS exit CODE SIGNAL", with "-" for no signal.
// fakes/standin plays a stream as a CLI.
//
// It belongs to programs: it writes files. Each stream has a goroutine that writes it,
// so that the engine never waits for a disk; Close ends them.
package recording
