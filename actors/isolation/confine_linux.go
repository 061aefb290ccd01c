package isolation

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// StatusRefused is the exit status of a CLI that could not be confined and so was not
// run.
const StatusRefused = 126

// Main is the program of Verb; args are those behind it: a box, "--", and a command
// line whose program is an absolute path. It returns only if that could not be run.
func Main(args []string) int {
	err := confine(args)
	fmt.Fprintf(os.Stderr, "agenthost: the CLI was not run, because it cannot be confined: %v\n", err)
	return StatusRefused
}

func confine(args []string) error {
	within := len(args) > 0 && args[0] == inside
	if within {
		args = args[1:]
	}
	if within && len(args) > 0 && args[0] == forwardVerb {
		return forward(args[1:])
	}
	at := slices.Index(args, "--")
	if at != 1 || len(args) < 3 {
		return errors.New("the verb confine is for a server's own use")
	}
	var b Box
	if err := json.Unmarshal([]byte(args[0]), &b); err != nil {
		return fmt.Errorf("read the box: %w", err)
	}
	command := args[2:]
	switch {
	case b.Level == Bubblewrap && !within:
		return b.wrapped(args[0], command)
	case b.Level == Bubblewrap:
		if err := b.openPorts(); err != nil {
			return err
		}
		heedful()
		if landlockABI() > 0 {
			return b.become(command, (*Box).landlock)
		}
		return b.become(command, nil)
	case b.Level == Landlock:
		return b.become(command, (*Box).landlock)
	}
	return fmt.Errorf("level %s needs no box", b.Level)
}

// become gives up rights and is the command from then on. What confines a process is
// held by each thread, so it all happens in this one.
func (b *Box) become(command []string, hold func(*Box) error) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if hold != nil {
		if err := hold(b); err != nil {
			return err
		}
	}
	if err := syscall.Exec(command[0], command, os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	return nil
}

// quieted are the signals of a kill ladder: bwrap must not die of them before the CLI
// has ended by itself.
var quieted = []os.Signal{syscall.SIGINT, syscall.SIGTERM}

// wrapped becomes bwrap, which runs this program again inside.
func (b *Box) wrapped(text string, command []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if _, err := os.Stat(self); err != nil { // bwrap starts it again, by its path
		return fmt.Errorf("this program was replaced or moved since the server was started; start the server again: %w", err)
	}
	signal.Ignore(quieted...)
	argv := append(b.Bubblewrap(self, text), command...)
	if err := syscall.Exec(b.Program, argv, os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", b.Program, err)
	}
	return nil
}

// heedful makes the signals that were ignored for bwrap what they are for any program:
// a handled one is reset by the start of another program.
func heedful() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, quieted...)
}
