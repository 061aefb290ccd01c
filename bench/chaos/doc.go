// Package chaos tortures a server for some time and judges what came of it: what
// `agenthost chaos` runs.
//
// A run is a chain of cycles (package schedule). In each an observer, a process of its
// own, plays callers and readers while the conductor, here, does the faults: it kills,
// stops and drains, lets the store's disk fail and the clock jump through the server's
// fault plan, takes descriptors and CLIs away. Then all faults end, everything has to
// come to rest, nothing may be left in /proc, the server may hold no more than before,
// and package judge looks at the observer's records, the streams, and what the CLIs
// themselves wrote down.
//
//	schedule   what is done when: pure, from the seed
//	observer   the callers: a process of its own
//	evidence   records, streams and the CLIs' log, as files
//	judge      which promises were broken: pure
//	faultplan  what the server's seams read
//
// A server killed by SIGKILL proves nothing about syncs, because the kernel keeps what
// was written. So there is a power cut: the server's store keeps a copy of its files
// that changes only with a sync, and after the kill its files are set back to it.
package chaos
