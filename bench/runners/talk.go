package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// program is a CLI that speaks JSON lines.
type program struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	last  int
}

// object is one line.
type object map[string]any

func start(path, dir string, env []string, args ...string) (*program, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &program{cmd: exec.Command(path, args...)}
	p.cmd.Dir, p.cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.lines = bufio.NewReaderSize(out, 1<<20)
	return p, p.cmd.Start()
}

func (p *program) say(o object) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = p.in.Write(append(text, '\n'))
	return err
}

// until reads to the line that ok takes.
func (p *program) until(ok func(object) bool) (object, error) {
	for {
		line, err := p.lines.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("the CLI alone: %w", err)
		}
		var o object
		if json.Unmarshal(line, &o) == nil && ok(o) {
			return o, nil
		}
	}
}

// closeLimit is how long a CLI may take to end by itself.
const closeLimit = 5 * time.Second

func (p *program) close() {
	_ = p.in.Close()
	force := time.AfterFunc(closeLimit, func() { _ = p.cmd.Process.Kill() })
	defer force.Stop()
	_, _ = io.Copy(io.Discard, p.lines)
	_ = p.cmd.Wait()
}

func (o object) at(path ...string) any {
	var v any = map[string]any(o)
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// codex is `codex app-server`.
type codex struct {
	*program
	thread string
	own    string // of fresh
}

func newCodex(path, url, dir string) (talker, error) {
	home := filepath.Join(dir, "bare")
	p, err := start(path, home, []string{"CODEX_HOME=" + home, "BARE_KEY=" + key}, "app-server",
		"-c", `model_provider="bare"`, "-c", fmt.Sprintf(`model_providers.bare={name="bare",base_url=%q,env_key="BARE_KEY",wire_api="responses"}`, url))
	if err != nil {
		return nil, err
	}
	c := &codex{program: p}
	if _, err = c.call("initialize", object{"clientInfo": object{"name": "bench", "title": "bench", "version": "1"}}); err == nil {
		err = c.say(object{"method": "initialized"})
	}
	if err == nil {
		c.thread, err = c.load("thread/start", object{})
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// call sends a request and waits for its response.
func (c *codex) call(method string, params object) (object, error) {
	c.last++
	id := float64(c.last)
	if err := c.say(object{"id": c.last, "method": method, "params": params}); err != nil {
		return nil, err
	}
	o, err := c.until(func(o object) bool { return o["method"] == nil && o["id"] == id })
	if err == nil && o["error"] != nil {
		err = fmt.Errorf("%s: %v", method, o["error"])
	}
	return o, err
}

func (c *codex) load(method string, params object) (string, error) {
	params["cwd"], params["sandbox"], params["approvalPolicy"] = c.cmd.Dir, "workspace-write", "never"
	o, err := c.call(method, params)
	if err != nil {
		return "", err
	}
	id, _ := o.at("result", "thread", "id").(string)
	return id, nil
}

func (c *codex) play(thread, prompt string) error {
	c.last++
	if err := c.say(object{"id": c.last, "method": "turn/start", "params": object{"threadId": thread, "input": []object{{"type": "text", "text": prompt}}}}); err != nil {
		return err
	}
	o, err := c.until(func(o object) bool { return o["method"] == "turn/completed" && o.at("params", "threadId") == thread })
	if err == nil && o.at("params", "turn", "status") != "completed" {
		err = fmt.Errorf("the turn is %v", o.at("params", "turn"))
	}
	return err
}

func (c *codex) turn(prompt string) error { return c.play(c.thread, prompt) }

func (c *codex) fresh() func(string) error {
	return func(prompt string) (err error) {
		params, method := object{"config": object{"mcp_servers": object{}}}, "thread/start"
		if c.own != "" {
			method, params["threadId"], params["excludeTurns"] = "thread/resume", c.own, true
		}
		if c.own, err = c.load(method, params); err == nil {
			err = c.play(c.own, prompt)
		}
		if err == nil {
			_, err = c.call("thread/unsubscribe", object{"threadId": c.own})
		}
		return err
	}
}

// claude is `claude --input-format stream-json`.
type claude struct{ *program }

func newClaude(path, url, dir string) (talker, error) {
	home := filepath.Join(dir, "bare")
	p, err := start(path, home, []string{"CLAUDE_CONFIG_DIR=" + home, "ANTHROPIC_BASE_URL=" + trimVersion(url), "ANTHROPIC_API_KEY=" + key, "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
	if err != nil {
		return nil, err
	}
	return claude{p}, nil
}

// trimVersion leaves the version to the CLI, which adds its own.
func trimVersion(url string) string { return url[:len(url)-len("/v1")] }

func (c claude) turn(prompt string) error {
	err := c.say(object{"type": "user", "message": object{"role": "user", "content": []object{{"type": "text", "text": prompt}}}})
	if err != nil {
		return err
	}
	o, err := c.until(func(o object) bool { return o["type"] == "result" })
	if err == nil && o["is_error"] == true {
		err = errors.New("the turn failed")
	}
	return err
}

// fresh: the process keeps its one conversation.
func (claude) fresh() func(string) error { return nil }
