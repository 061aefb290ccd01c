// Package hostproc runs the real server as a process of its own, for tests and
// measurements that look at it from outside: its HTTP surface, its log, its
// processes and what it uses of the machine.
//
// The server and the stand-in CLIs are built once per test process. Each Host has
// a state directory, a home and a port of its own, so tests run side by side. A
// Host ends whatever it started when its test ends, by process id and only after
// the process was seen to be of its state directory.
//
// It imports the standard library only; the server is never linked in. What it
// tells about processes comes from /proc and needs Linux.
package hostproc
