package errand

import (
	"bytes"
	"errors"
	"os/exec"
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
)

// Errand is where and how the tools of one turn run.
type Errand struct {
	Dir string
	// Env is that of commands, ServerEnv that of tool servers.
	Env, ServerEnv []string
	// Server is the command line of a tool server.
	Server []string
	// Stop, when closed, kills what runs.
	Stop <-chan struct{}
}

// Pause waits, and says whether the turn goes on.
func (e *Errand) Pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-e.Stop:
		return false
	case <-timer.C:
		return true
	}
}

// Shell runs a command and says whether the turn goes on.
func (e *Errand) Shell(command string) (output string, code int, on bool) {
	var out bytes.Buffer
	c := exec.Command("/bin/sh", "-c", command)
	c.Env, c.Dir, c.SysProcAttr = e.Env, e.Dir, ownSession()
	c.Stdout, c.Stderr, c.WaitDelay = &out, &out, 200*time.Millisecond
	on = e.await(c, c.Wait)
	return out.String(), c.ProcessState.ExitCode(), on
}

// Leave starts a process that nobody waits for: it ends with itself or with us.
func (e *Errand) Leave(argv ...string) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Env, c.SysProcAttr = e.Env, ownSession()
	if c.Start() == nil {
		go func() { _ = c.Wait() }()
	}
}

// Tool asks a tool server that is started for this one call.
func (e *Errand) Tool(c *mind.Call) (result string, on bool, err error) {
	cmd := exec.Command(e.Server[0], e.Server[1:]...)
	cmd.Env, cmd.SysProcAttr = e.ServerEnv, ownSession()
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", true, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", true, err
	}
	failed := errors.New("the tool server did not start")
	on = e.await(cmd, func() error {
		result, failed = ask(in, out, c)
		_ = in.Close() // it ends with its input
		return cmd.Wait()
	})
	return result, on, failed
}

// await starts a command and waits for done, which waits for it; a stop kills it.
func (e *Errand) await(c *exec.Cmd, done func() error) bool {
	if err := c.Start(); err != nil {
		return true
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = done() // the state tells
	}()
	select {
	case <-ended:
		return true
	case <-e.Stop:
		killGroup(c)
		<-ended
		return false
	}
}
