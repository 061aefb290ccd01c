package standin

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// maxOutput is how much of a command's output is kept.
const maxOutput = 1 << 20

// shells runs commands, each in a session of its own like the real CLIs do.
type shells struct {
	mu      sync.Mutex
	running int // process group of the command that runs, 0 without one
}

// run runs a command to its end. What it leaves in the background is left.
func (s *shells) run(command string, env []string) (output string, status int) {
	var buf bytes.Buffer
	c := exec.Command("/bin/bash", "-lc", command)
	if _, err := os.Stat(c.Path); err != nil {
		c = exec.Command("/bin/sh", "-c", command)
	}
	c.Env = append(os.Environ(), env...)
	c.Stdout, c.Stderr = &buf, &buf
	c.SysProcAttr = ownSession()
	// A background child that holds our pipe must not hold the turn.
	c.WaitDelay = 200 * time.Millisecond
	s.mu.Lock()
	err := c.Start()
	if err == nil {
		s.running = c.Process.Pid
	}
	s.mu.Unlock()
	if err != nil {
		return err.Error(), 127
	}
	_ = c.Wait() // the state says how it ended
	s.mu.Lock()
	s.running = 0
	s.mu.Unlock()
	out := buf.Bytes()
	return string(out[:min(len(out), maxOutput)]), c.ProcessState.ExitCode()
}

// kill ends the running command and what it started in its group.
func (s *shells) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running > 0 {
		_ = syscall.Kill(-s.running, syscall.SIGKILL)
	}
}

// leave starts a process that outlives us. What it does is sleep; with inherit
// it holds our stdout and stderr. The log gets its pid.
func (t *turn) leave(d time.Duration, inherit bool) {
	c, err := t.again("sleep", d.String())
	if err != nil {
		return
	}
	if inherit {
		c.Stdout, c.Stderr = t.Out, t.Err
	} else {
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := c.Start(); err == nil {
		t.log.add("left", c.Process.Pid)
	}
}

// again is a command that runs a stand-in.
func (p *program) again(args ...string) (*exec.Cmd, error) {
	if len(p.Self) > 0 {
		return exec.Command(p.Self[0], append(p.Self[1:len(p.Self):len(p.Self)], args...)...), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, args...)
	c.Args[0] = "fake"
	return c, nil
}

// sleep is the program that leave starts.
func sleep(args []string) int {
	if len(args) != 1 {
		return 2
	}
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return 2
	}
	time.Sleep(d)
	return 0
}
