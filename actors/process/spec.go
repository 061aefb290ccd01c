package process

import "time"

// MarkerVar is the environment variable that names the owner of a process.
const MarkerVar = "AGENTHOST_OWNER"

// Defaults of a Spec.
const (
	DefaultMaxLine    = 64 << 20
	DefaultStderrTail = 16 << 10
	DefaultDrainGrace = 250 * time.Millisecond
)

// Spec says what to run and who is told about it.
//
// The callbacks are made by one goroutine, one at a time and in order, but for
// OnBytes; the first may come before Start has returned. A nil callback is not made.
type Spec struct {
	// Path is the binary. Without a slash it is looked up in our own PATH.
	Path string
	// Args are the arguments without argv[0], which is Path as given.
	Args []string
	// Wrap, if not empty, is the program that becomes Path, with its arguments: the
	// command line is Wrap, then Path, made absolute, and Args.
	Wrap []string
	// Env is the whole environment but for the marker; nothing is inherited.
	Env []string
	// Dir is the working directory, ours if empty.
	Dir string
	// Stdin is written and then closed; empty means /dev/null. It must not change
	// before OnExit.
	Stdin []byte
	// Talk keeps stdin open for Process.Say, until Process.Hush; Stdin is then left
	// out.
	Talk bool
	// Handed is what the process reads from the descriptor HandedFD, at most MaxHanded
	// bytes and then the end; empty is no descriptor. What one process has read nobody
	// can read again, and it is in no environment, argument or file.
	Handed []byte
	// Marker becomes the value of MarkerVar: "<state uuid>/<boot uuid>/<turn id>".
	// It must be unique among the running processes. Empty sets no variable.
	Marker string

	// Limits bound the process and what it starts; with NoCore none of it leaves its
	// memory in a file when it dies.
	Limits Limits
	NoCore bool
	// Cgroups, if not nil, gives the tree a control group of its own.
	Cgroups *Cgroups

	// MaxLine bounds a line of stdout; a longer one is dropped. 0 means the default.
	MaxLine int
	// MaxOutput bounds the bytes of stdout; 0 means no bound.
	MaxOutput int64
	// StderrTail is how much of the end of stderr is kept. 0 means the default.
	StderrTail int
	// Stderr, if there is one, changes what is kept of stderr: it is called with each
	// piece, and with nil at the end, from one goroutine.
	Stderr func(p []byte) []byte
	// DrainGrace is how long after the leader's end its pipes may stay open, held
	// by something it started. 0 means the default.
	DrainGrace time.Duration

	// OnLines gets the complete lines of one pipe read without their ends; one CR
	// before the LF is cut too. The slices are valid during the call. While it
	// blocks nothing is read, so a flooding process blocks on its own pipe. What
	// was read of a last line without an end comes as a line.
	OnLines func(lines [][]byte)
	// OnDropped tells of a line longer than MaxLine. Reading goes on behind it.
	OnDropped func(bytes int64)
	// OnLimit tells, once, that MaxOutput was exceeded. No line comes after it; the
	// pipe is still read to its end.
	OnLimit func()
	// OnBytes gets what was read of stdout, or of stderr, as it came; p is valid
	// during the call. It is made by the goroutines that read, so the two may come at
	// once. It comes before what is made of the bytes; while it blocks nothing more is
	// read of that pipe.
	OnBytes func(stderr bool, p []byte)
	// OnExit is the last call: the leader is reaped, stdout and stderr have ended or
	// were given up.
	OnExit func(Status)
}

// What a process may be handed. A pipe takes as much without a reader.
const (
	HandedFD  = 3
	MaxHanded = 4 << 10
)

func (s *Spec) setDefaults() {
	if s.MaxLine <= 0 {
		s.MaxLine = DefaultMaxLine
	}
	if s.StderrTail <= 0 {
		s.StderrTail = DefaultStderrTail
	}
	if s.DrainGrace <= 0 {
		s.DrainGrace = DefaultDrainGrace
	}
}

// Status says how a process ended.
type Status struct {
	// Code is the exit code, -1 if a signal ended the process or somebody else
	// took its status.
	Code int
	// Signal names the signal that ended it ("SIGKILL"), else empty.
	Signal string
	// Stderr is the end of stderr, cut on a character boundary.
	Stderr []byte
	// GaveUp says that stdout was still held open when DrainGrace was over.
	GaveUp bool
	// FirstByte is when stdout said its first byte, zero if it never did.
	Started, FirstByte, Ended time.Time
	// CPU is the user and system time of the leader and of the children it waited for.
	CPU time.Duration
	// MaxRSS is the largest resident size among those, in bytes.
	MaxRSS int64
	// MemoryLimit says that the kernel killed in the tree because of its limit of
	// memory, ProcessLimit that it refused a fork because of that of processes.
	MemoryLimit, ProcessLimit bool
	// FilesLimit says that shortly before the end a process of the tree was seen with
	// all the open files that Limits allows it. The kernel keeps no note of that, so
	// one that reaches its limit and dies unseen, between two looks, is not told of.
	FilesLimit bool
}
