// Package talk speaks with CLIs that serve many turns in one process, by their own
// protocols and without a host: the floor of what a host adds to a turn of such a CLI.
// It is for one conversation and does nothing that the protocol does not ask for.
//
// It may import bench/hostproc, whose runners it looks at.
package talk
