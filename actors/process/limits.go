package process

import "time"

// Limits bound what a process and everything below it may take. Zero is no bound.
//
// Some are the kernel's: CPU, FileSize and OpenFiles are limits of each process of
// the tree, given to the leader before it runs. Memory and Processes hold for the
// tree as a whole, in a control group where Spec.Cgroups has those controllers;
// where it has not, and for the CPU time of the tree as a whole, the owner compares
// what Measure finds.
type Limits struct {
	CPU       time.Duration
	Memory    int64 // bytes
	Processes int   // processes and their threads
	FileSize  int64 // bytes of one file
	OpenFiles int   // of one process
}

// Usage is what a tree takes at one moment. What the kernel itself bounds is 0.
type Usage struct {
	CPU       time.Duration // since its start, of the dead too as far as is known
	Memory    int64         // bytes of their own; shared memory counts in each process
	Processes int           // processes and their threads
}
