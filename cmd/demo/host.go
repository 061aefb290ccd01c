package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// host is the running server.
type host struct {
	cmd   *exec.Cmd
	url   string
	log   *os.File
	ended chan struct{} // closed when it has ended, with err
	err   error
}

const startLimit = 30 * time.Second

// startHost runs the server on a free port and waits until it says which.
func startHost(ctx context.Context, o *options, codex, modelURL, dir string) (*host, error) {
	if err := ctx.Err(); err != nil { // nothing to end yet
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return nil, fmt.Errorf("make the server's log: %w", err)
	}
	tools := dir
	if o.serve {
		tools = filepath.Join(o.tools, "bin") // the other CLIs may be there too
	}
	args := []string{"serve", "--listen", o.listen, "--state-dir", filepath.Join(dir, "state"), "--tools-dir", tools,
		"--agents.codex.binary", codex, "--agents.default", "codex", "--log.format", "json"}
	cmd := exec.Command(o.server, append(args, o.more...)...)
	cmd.Dir = "."
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the demo, which stops the server in order
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ABX_") && !strings.HasPrefix(kv, "AGENTHOST_") && !strings.HasPrefix(kv, "HOME=") { // the demo is the same everywhere
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+dir, "ABX_LLM_BASE_URL="+modelURL+"/v1", "ABX_LLM_API_KEY=demo-key-no-secret")
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the server: %w", err), log.Close())
	}
	h := &host{cmd: cmd, log: log, ended: make(chan struct{})}
	go func() { h.err = cmd.Wait(); close(h.ended) }() // ends with the server, which stop ends
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if h.url = listening(log.Name()); h.url != "" {
			return h, nil
		}
		select {
		case <-tick.C:
		case <-h.ended:
			return nil, errors.Join(errors.New("the server ended before it listened"), h.stop())
		case <-ctx.Done():
			text, _ := os.ReadFile(log.Name())
			return nil, errors.Join(fmt.Errorf("the server did not start: %s", text), h.stop())
		}
	}
}

// listening finds the address in the server's log.
func listening(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var entry struct {
			Msg string `json:"msg"`
			URL string `json:"url"`
		}
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
			return entry.URL
		}
	}
	return ""
}

// stopLimit is longer than the server takes to end its turns.
const stopLimit = 45 * time.Second

// stop ends the server in order, or by force if it does not end.
func (h *host) stop() error {
	defer func() { _ = h.log.Close() }()
	force := time.AfterFunc(stopLimit, func() { _ = syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL) })
	defer force.Stop()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the server: %w", err)
	}
	if <-h.ended; h.err != nil {
		err := h.err
		text, _ := os.ReadFile(h.log.Name())
		return fmt.Errorf("the server ended with %w: %s", err, text)
	}
	return nil
}
