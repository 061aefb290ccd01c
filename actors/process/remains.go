package process

// Tree is a process tree as the program that started it wrote it down for another
// one, which outlives it.
type Tree struct {
	Marker string
	Pid    int
	Start  uint64 // of the leader, in ticks since boot; 0 is not known
}

// Remains are what a program that was killed or stopped has left behind.
type Remains struct {
	Trees []Tree
	// Prefixes begin the markers of everything that the program started.
	Prefixes []string
	// Groups are the control groups that all of it is in, where there are any.
	Groups []string
	// Alive says that the program is only stopped and may go on: what it starts then
	// is not ended, and its groups are left to it.
	Alive bool
	// Orphans are processes that the program had adopted, with their start times.
	Orphans map[int]uint64
}
