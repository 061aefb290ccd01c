package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// child is what spawn needs to know.
type child struct {
	path string
	argv []string
	env  []string
	dir  string
	ends childEnds
}

// childEnds are the descriptors that become the child's 0, 1 and 2, and HandedFD unless
// it is below 0. They are plain numbers: the child wants them blocking and the poller
// must not know them.
type childEnds [HandedFD + 1]int

// files are the child's descriptors in their order.
func (c *childEnds) files() []uintptr {
	list := make([]uintptr, 0, len(c))
	for _, fd := range c {
		if fd >= 0 {
			list = append(list, uintptr(fd))
		}
	}
	return list
}

func (c *childEnds) close() {
	for i, fd := range c {
		if fd >= 0 {
			_ = syscall.Close(fd)
			c[i] = -1
		}
	}
}

// openPipes opens stdin, stdout and stderr, and what is handed. After an error both sides may be open
// in part.
func (p *Process) openPipes() (ends childEnds, err error) {
	ends = childEnds{-1, -1, -1, -1}
	if ends[0], err = p.openStdin(); err != nil {
		return ends, err
	}
	var r int
	if r, ends[1], err = pipe(); err != nil {
		return ends, err
	}
	p.stdout = file(r, "stdout")
	if r, ends[2], err = pipe(); err != nil {
		return ends, err
	}
	p.stderr = file(r, "stderr")
	if len(p.spec.Handed) > 0 {
		ends[HandedFD], err = hand(p.spec.Handed)
	}
	return ends, err
}

// hand makes a pipe that holds what is to be read from it.
func hand(what []byte) (fd int, err error) {
	if len(what) > MaxHanded { // more could wait for a reader for ever
		return -1, fmt.Errorf("%d bytes cannot be handed to a process: at most %d", len(what), MaxHanded)
	}
	r, w, err := pipe()
	if err != nil {
		return -1, err
	}
	n, err := syscall.Write(w, what)
	_ = syscall.Close(w)
	if err == nil && n < len(what) {
		err = fmt.Errorf("a pipe took %d of %d bytes", n, len(what))
	}
	return r, err
}

// openStdin gives the child's end. What fits into the pipe is written now, which
// spares most processes the writing goroutine.
func (p *Process) openStdin() (fd int, err error) {
	if len(p.spec.Stdin) == 0 && !p.spec.Talk {
		return syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	}
	r, w, err := pipe()
	if err != nil {
		return -1, err
	}
	if err := syscall.SetNonblock(w, true); err != nil {
		_ = syscall.Close(w)
		return r, err
	}
	if p.spec.Talk {
		p.stdin, p.outbox = os.NewFile(uintptr(w), "stdin"), newOutbox()
		return r, nil
	}
	n, err := syscall.Write(w, p.spec.Stdin)
	if err == nil && n == len(p.spec.Stdin) {
		_ = syscall.Close(w)
		return r, nil
	}
	p.spec.Stdin = p.spec.Stdin[max(n, 0):]
	p.stdin = os.NewFile(uintptr(w), "stdin")
	return r, nil
}

// closePipes closes our ends after a start that failed.
func (p *Process) closePipes() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// file makes our end of a pipe one that the runtime's poller waits for.
func file(fd int, name string) *os.File {
	_ = syscall.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

// resolve makes path absolute: a relative one would be looked up from the child's
// working directory.
func resolve(path string) (string, error) {
	if !strings.Contains(path, "/") {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("start %s: %w: %w", path, ErrNotFound, err)
		}
		path = found
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("start %s: %w: %w", path, ErrStart, err)
	}
	return abs, nil
}

// wrappable says, for a program that another one is to become, what its own start
// would have said.
func wrappable(spec *Spec, path string) error {
	if len(spec.Wrap) == 0 {
		return nil
	}
	switch st, err := os.Stat(path); {
	case err != nil:
		return startError(path, spec.Dir, err)
	case !st.Mode().IsRegular() || st.Mode()&0o111 == 0:
		return startError(path, spec.Dir, syscall.EACCES)
	}
	return nil
}

// environment is env with our marker in the place of any other.
func environment(env []string, marker string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, MarkerVar+"=") {
			out = append(out, kv)
		}
	}
	if marker != "" {
		out = append(out, MarkerVar+"="+marker)
	}
	return out
}

// spawnRetries are tried when a binary is still open for writing in a process
// that another goroutine is just forking (golang.org/issue/22315).
const spawnRetries = 4
