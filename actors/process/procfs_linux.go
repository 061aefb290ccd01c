package process

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// entry is what one process's stat file says.
type entry struct {
	pid, ppid, pgrp, session int
	start                    uint64 // ticks since boot: with the pid the process's identity
	state                    byte
	threads                  int
	ticks                    int64 // of CPU, with those of children it waited for
}

// dead says that all of the process has ended. A first thread that ended alone
// looks like a zombie while the others live on, or are still being torn down.
func (e *entry) dead() bool {
	return (e.state == 'Z' || e.state == 'X' || e.state == 'x') && e.threads <= 1
}

// stat reads one process; false if there is none.
func stat(pid int) (entry, bool) {
	var buf [512]byte // the name is at most 64 bytes; the fields we want come early
	n := readProc("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	return parseStat(buf[:n])
}

func parseStat(p []byte) (e entry, ok bool) {
	open, end := bytes.IndexByte(p, '('), bytes.LastIndexByte(p, ')')
	if open < 1 || end < open {
		return e, false
	}
	if e.pid, ok = number(bytes.TrimSpace(p[:open])); !ok {
		return e, false
	}
	// Behind the name: 3 state, 4 ppid, 5 pgrp, 6 session, 14 to 17 CPU times,
	// 20 threads, 22 starttime.
	rest := p[end+1:]
	for field := 3; field <= 22; field++ {
		rest = bytes.TrimLeft(rest, " ")
		word, after, _ := bytes.Cut(rest, []byte{' '})
		rest = after
		ok := len(word) > 0
		switch field {
		case 3:
			if ok {
				e.state = word[0]
			}
		case 4:
			e.ppid, ok = number(word)
		case 5:
			e.pgrp, ok = number(word)
		case 6:
			e.session, ok = number(word)
		case 14, 15, 16, 17:
			n, _ := number(word) // a child's may be negative in old kernels
			e.ticks += int64(n)
		case 20:
			e.threads, ok = number(word)
		case 22:
			var n int
			n, ok = number(word)
			e.start = uint64(n)
		}
		if !ok {
			return e, false
		}
	}
	return e, true
}

func number(p []byte) (n int, ok bool) {
	if len(p) == 0 || len(p) > 18 {
		return 0, false
	}
	for _, c := range p {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// scan reads every process that can be seen. It is no snapshot: moved says that
// one was gone before it could be read, and so may have left a child that began
// too late to be listed.
func scan() (list []entry, moved bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	list = make([]entry, 0, len(names))
	for _, name := range names {
		pid, ok := number([]byte(name))
		if !ok {
			continue
		}
		e, ok := stat(pid)
		if !ok {
			moved = true
			continue
		}
		list = append(list, e)
	}
	return list, moved
}

// marker reads the owner out of a process's environment. Empty: it has none, or
// may not be asked, or is dead.
func marker(pid int) string {
	value, _ := variable(pid, MarkerVar)
	return value
}

// variable reads one variable of a process's environment.
func variable(pid int, name string) (value string, ok bool) {
	file := "/proc/" + strconv.Itoa(pid) + "/environ"
	env := readAll(file)
	if len(env) == 0 {
		if of := environOfThreads(pid); of != nil {
			env = of
		}
	}
	// Nil is one that may not be asked, or has no memory any more.
	for tries, none := 0, 0; env != nil && len(env) == 0 && none < 3 && tries < execTries; tries++ {
		state := program(pid)
		if state == leaving {
			break
		}
		if none++; state != bare {
			none = 0
		}
		if tries > 0 {
			time.Sleep(time.Millisecond)
		}
		env = readAll(file)
	}
	key := []byte(name + "=")
	for len(env) > 0 {
		var kv []byte
		kv, env, _ = bytes.Cut(env, []byte{0})
		if bytes.HasPrefix(kv, key) {
			return string(kv[len(key):]), true
		}
	}
	return "", false
}

// execTries bounds the wait, in milliseconds, for a process that is between two
// programs: on a busy machine it waits for its turn there, or for the disk.
const execTries = 250

// What a process whose environment was read as empty is about.
const (
	bare    = iota // it has none, or is about to get it
	changes        // it has left one program and not begun the next, or has just begun it
	leaving        // it exits, is dead, or never had a program
)

// Flags of a process.
const (
	isExiting      = 0x4
	isKernelThread = 0x200000
)

// program tells a process that shows an empty environment because it is between two
// programs, as if it were nobody's, from one that has none: by the place of the
// environment, which is not set yet, or which is there and has room.
func program(pid int) int {
	data := readAll("/proc/" + strconv.Itoa(pid) + "/stat")
	e, ok := parseStat(data)
	if !ok || e.dead() {
		return leaving
	}
	const flags, envStart, envEnd, first = 9, 50, 51, 3 // numbers of fields; the state is the first behind the name
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(f) <= envEnd-first {
		return bare
	}
	if word, _ := number(f[flags-first]); word&(isKernelThread|isExiting) != 0 {
		return leaving
	}
	if start, end := f[envStart-first], f[envEnd-first]; string(end) != "0" && bytes.Equal(start, end) {
		return bare // for a moment, one that begins is
	}
	return changes
}

// environOfThreads asks the threads of a process whose first one has ended.
func environOfThreads(pid int) []byte {
	if e, ok := stat(pid); !ok || e.threads <= 1 {
		return nil
	}
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	dir, err := os.Open(tasks)
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	for _, name := range names {
		if env := readAll(tasks + name + "/environ"); len(env) > 0 {
			return env
		}
	}
	return nil
}

// adopted lists children of our main thread, which is where the kernel puts
// orphans: it takes the first living thread of the subreaper, and a Go program's
// main thread never ends. The list may miss one if another one ends meanwhile.
func adopted() ([]int, bool) {
	return childrenOf(os.Getpid())
}

// childrenOf lists the children of a process's main thread; false if the kernel
// does not tell.
func childrenOf(pid int) (list []int, ok bool) {
	self := strconv.Itoa(pid)
	data := readAll("/proc/" + self + "/task/" + self + "/children")
	for _, word := range bytes.Fields(data) {
		if pid, ok := number(word); ok {
			list = append(list, pid)
		}
	}
	return list, data != nil
}

// readProc fills buf from a file. Plain calls: the poller has no business with
// files of /proc, and a scan reads hundreds.
func readProc(path string, buf []byte) int {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	n, err := read(fd, buf)
	_ = unix.Close(fd)
	if err != nil {
		return 0
	}
	return n
}

// readAll reads a whole file; nil if there is none, not nil if it is empty.
func readAll(path string) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	buf := make([]byte, 4<<10)
	used := 0
	for {
		if used == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		n, err := read(fd, buf[used:])
		if n <= 0 || err != nil {
			return buf[:used]
		}
		used += n
	}
}
