package isolation

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors/crash"
)

// forwardVerb is the third run of the program, which stays beside the CLI.
const forwardVerb = "forward"

// openPorts makes the loopback ports of the box, in its network, lead to the host's
// Bridge. They are open when it returns; a further process serves them, and ends with
// everything else of the box's process ids.
func (b *Box) openPorts() error {
	if len(b.Ports) == 0 {
		return nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open the ports: %w", err)
	}
	defer func() { _ = null.Close() }()
	argv := []string{insideProgram, Verb, inside, forwardVerb}
	files := []*os.File{null, null, null}
	for _, port := range b.Ports {
		l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
		if err != nil {
			return fmt.Errorf("open port %d inside: %w", port, err)
		}
		f, err := l.File()
		_ = l.Close()
		if err != nil {
			return fmt.Errorf("open port %d inside: %w", port, err)
		}
		defer func() { _ = f.Close() }()
		files, argv = append(files, f), append(argv, socket(port))
	}
	var environ []string // what the host finds it by, and no key
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "AGENTHOST_") {
			environ = append(environ, kv)
		}
	}
	p, err := os.StartProcess(insideProgram, argv, &os.ProcAttr{Dir: "/", Env: environ, Files: files})
	if err != nil {
		return fmt.Errorf("open the ports: %w", err)
	}
	return p.Release()
}

// forward serves the listeners 3, 4, ... by the sockets of that name, until it is
// killed.
func forward(names []string) error {
	signal.Ignore(quieted...)
	failed := make(chan error, len(names))
	for i, name := range names {
		l, err := net.FileListener(os.NewFile(uintptr(3+i), "port "+name))
		if err != nil {
			return fmt.Errorf("serve port %s: %w", name, err)
		}
		go func() {
			defer crash.Guard()
			failed <- serve(l, nil, func() (net.Conn, error) { return net.Dial("unix", filepath.Join(insideBridge, name)) })
		}()
	}
	if len(names) == 0 {
		return errors.New("no port to serve")
	}
	return <-failed
}
