// Package process runs one operating-system process with three pipes and ends
// it with everything it started.
//
// It owns pids, pipes, waiting and signals, and knows nothing of agents, turns
// or actors. Each Process has a handful of goroutines, named in its comment, that
// end by themselves after the process and its pipes did.
package process
