// Package floor is what no host can be faster than: a bare run of the CLI, and a
// process that copies a CLI's output to sockets without looking at it.
//
// It imports the standard library only.
package floor
