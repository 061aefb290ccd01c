// Package process runs one operating-system process with three pipes and ends
// it with everything it started.
//
// It owns pids, pipes, waiting and signals, and knows nothing of agents, turns
// or actors. It imports the standard library and golang.org/x/sys only.
//
// # A life
//
// Start gives the process a session (and so a group) of its own, default signal
// dispositions and an empty signal mask, and the variable AGENTHOST_OWNER. Its
// lines arrive through Spec.OnLines, its end through Spec.OnExit, once. After
// that the owner calls Sweep, once: it ends what the process left behind and
// forgets the process. A Process that is never swept stays in the package's
// table, and its unmarked orphans are taken for possibly wanted.
//
// # Goroutines
//
// Three a process, four while a long stdin is being written, none of them holds
// an OS thread on Linux:
//
//   - the reader of stdout, which also makes every callback;
//   - the reader of stderr;
//   - the waiter, which sleeps on the pidfd in the runtime's poller, reaps the
//     leader, closes stdin and gives the two readers their deadline;
//   - the writer of stdin, if the bytes do not fit into the pipe at once or the
//     process is talked to.
//
// All of them end by themselves once the leader is dead and DrainGrace is over,
// unless a callback blocks for ever.
//
// # How a tree is found
//
// Tool shells live in sessions of their own, so a signal to the group misses
// them. A process belongs to the tree (tree_linux.go, function members) if it
//
//   - is in the leader's group or session,
//   - was recorded (pid and start time) by Record or before an earlier signal, or
//     is in a session that was,
//   - carries our marker in its environment,
//   - is an orphan adopted by us that carries no marker and can be nobody else's
//     (only after BecomeSubreaper), or
//   - descends from one of these.
//
// Nothing is signalled by a bare pid: a pidfd is opened first and the start time
// compared after that. A group whose leader was reaped is signalled only member
// by member.
//
// After BecomeSubreaper every descendant is below us, so "is anything left" is one
// read of our own list of children. Without it the environments of the machine's
// younger processes have to be read. In that case a process that left the
// session, lost its parents and changed its environment cannot be found; with the
// subreaper it is found, at the latest when the last process that may have
// started it is swept.
//
// With Spec.Cgroups, on a kernel and in a place where it can be, each tree also has a
// control group (v2) of its own, in which nothing can hide: one read finds its
// members, one write kills them. The other ways stay, for what a process with the
// rights to do so has moved to another group. A group that was seen to be empty when
// its tree had ended is the next tree's.
//
// # Limits
//
// Spec.Limits bounds a tree. What the kernel can hold it holds, by the limits of each
// process and by the group; the rest is told by Measure and decided by the owner.
//
// # What outlives a program
//
// Remains ends the trees of another program that was killed or is stopped, as far as
// that one has told of them; SweepMarked those of an earlier run. Begin of Cgroups
// ends what is left in an earlier run's groups.
//
// Elsewhere than on Linux the tree is the group, nothing more, and waiting costs a
// thread a process.
package process
