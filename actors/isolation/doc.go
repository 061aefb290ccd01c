// Package isolation is the ladder of what keeps a CLI away from the rest of this
// machine: its levels, which of them this machine has, and the program that puts a
// CLI behind the upper two.
//
// # Levels
//
//	group       a session and process group of its own; the whole tree is ended
//	home        a HOME and a TMPDIR of its own
//	rlimits     no core dumps, and bounds on files and descriptors of each process
//	cgroup      a control group of its own, in which nothing can hide
//	landlock    the kernel refuses paths and TCP ports that the CLI does not need
//	bubblewrap  a file system, process ids and a network of its own
//
// A level has those below it, as far as the machine has them; a Set says which of
// them a turn really got.
//
// # How a CLI is confined
//
// A Box says what the CLI may reach. Its Wrap begins the command line: the host's own
// program, executed again as Verb, reads the box, gives up its own rights for good and
// becomes the CLI. What cannot be set up ends it with status 126 and a line on standard
// error: a CLI never runs with more than its box. For bubblewrap the same program first
// becomes bwrap, which starts it again inside; there it opens the loopback ports that
// the Bridge of the host serves.
//
// Package isolation imports the standard library and golang.org/x/sys only.
package isolation
