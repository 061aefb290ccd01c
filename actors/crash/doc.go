// Package crash is the last word of a process that dies of a panic.
//
// The Go runtime prints the value of a panic that nothing recovers as it is, and a
// value is text that may hold a secret: of a request, of a line of a CLI, of a key. So
// every goroutine of ours, and every function of ours that a library calls in one of
// its own, begins with
//
//	defer crash.Guard()
//
// A program that has secrets tells with Install how they are taken out of text. From
// then on a panic that reaches a Guard is printed redacted, with its stack, and ends
// the process with the code that it would have ended with anyway. Nothing is contained:
// who can go on after a panic recovers it itself, before. Without Install a Guard does
// nothing, so that a program that embeds the engine dies as it always did.
//
// How a process dies is process-wide by nature, so Install is the one setting of this
// module that is not a field of something. A test of cmd/layout holds the goroutines to
// their Guard. Standard library only.
package crash
