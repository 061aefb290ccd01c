package isolation

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Where things are in a file system of bwrap's.
const (
	insideProgram = "/run/agenthost/agenthost"
	insideBridge  = "/run/agenthost/ports"
)

// Bubblewrap is the command line of bwrap up to the CLI's own: a file system of what
// the box allows at the same paths, process ids of its own, and a network with nothing
// in it. self is this program, text the box as Main reads it.
func (b *Box) Bubblewrap(self, text string) []string {
	argv := []string{b.Program, "--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--proc", "/proc", "--dev", "/dev"}
	covered := func(path string) bool {
		return slices.ContainsFunc(b.Hide, func(hidden string) bool { return Within(hidden, path) })
	}
	for _, late := range []bool{false, true} {
		for _, path := range b.Read {
			if covered(path) == late && !ofKernel(path) {
				path = b.mountPoint(path)
				argv = append(argv, "--ro-bind-try", path, path)
			}
		}
		for _, path := range b.Hide {
			if !late {
				argv = append(argv, b.cover(path)...)
			}
		}
	}
	for _, path := range b.Write {
		if !ofKernel(path) {
			path = b.mountPoint(path)
			argv = append(argv, "--bind-try", path, path)
		}
	}
	argv = append(argv, "--ro-bind", self, insideProgram)
	if b.Bridge != "" {
		argv = append(argv, "--ro-bind", b.Bridge, insideBridge)
	}
	if b.Dir != "" {
		argv = append(argv, "--chdir", b.Dir)
	}
	return append(argv, "--", insideProgram, Verb, inside, text, "--")
}

// mountPoint is where bwrap can mount a path of the box: a link that a directory of the
// box shows already leads to what is mounted where the link points, and bwrap cannot
// mount through it.
func (b *Box) mountPoint(path string) string {
	target := real(path)
	if target == path {
		return path
	}
	around := func(dir string) bool { return dir != path && Within(dir, path) }
	if slices.ContainsFunc(b.Read, around) || slices.ContainsFunc(b.Write, around) {
		return target
	}
	return path
}

// real is path without links, or path itself where there is nothing.
func real(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// ofKernel says that bwrap makes its own of a path.
func ofKernel(path string) bool { return Within("/proc", path) || Within("/dev", path) }

// cover puts something empty over a path that is to be hidden. It is not needed where
// nothing around the path is shown.
func (b *Box) cover(path string) []string {
	path = real(path) // a link to it stays, and leads to what covers it
	if !slices.ContainsFunc(b.Read, func(dir string) bool { return Within(dir, path) }) {
		return nil
	}
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil
	case st.IsDir():
		return []string{"--tmpfs", path}
	}
	return []string{"--ro-bind", os.DevNull, path}
}

// socket is the name of the socket of a port.
func socket(port uint16) string { return strconv.Itoa(int(port)) }
