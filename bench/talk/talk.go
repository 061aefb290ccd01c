package talk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// Key is the model provider's, for every CLI.
const Key = "sk-scripted-bench"

// Talker speaks with a CLI that it started.
type Talker interface {
	// Turn plays one turn of one conversation.
	Turn(prompt string) error
	// Fresh plays one whose conversation is loaded for it and given up behind it, as the
	// host does for one that has other settings than the last; nil where that is no other
	// thing.
	Fresh() func(prompt string) error
	// Close ends the CLI.
	Close()
}

// Alike starts the CLI of an adapter as a host that has played a turn with it has started
// its runner, with its files in dir: the same arguments and environment, so that the
// same work is timed.
func Alike(adapter string, h *hostproc.Host, dir string) (Talker, error) {
	begin := map[string]func(*program) (Talker, error){
		"codex": newCodex, "claude-code": newClaude, "opencode": newClient(""), "qwen-code": newClient("qwen/control/session/close"),
	}[adapter]
	if begin == nil {
		return nil, fmt.Errorf("nobody here speaks the protocol of %q", adapter)
	}
	p, err := alike(h, dir)
	if err != nil {
		return nil, err
	}
	t, err := begin(p)
	if err != nil {
		p.Close()
		return nil, err
	}
	return t, nil
}

// program is a CLI that speaks JSON lines.
type program struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	last  int
	work  string // its workspace
}

// object is one line.
type object map[string]any

// alike starts the program of a host's runner once more, with a home below dir.
func alike(h *hostproc.Host, dir string) (*program, error) {
	runner, err := runnerOf(h)
	if err != nil {
		return nil, err
	}
	var text [2][]string
	for i, name := range []string{"cmdline", "environ"} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", runner.Pid, name))
		if err != nil {
			return nil, err
		}
		own := strings.ReplaceAll(strings.TrimRight(string(raw), "\x00"), filepath.Join(h.StateDir, "homes"), dir)
		text[i] = strings.Split(own, "\x00")
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", runner.Pid))
	if err != nil {
		return nil, err
	}
	p := &program{cmd: exec.Command(exe, text[0][1:]...), work: filepath.Join(dir, "workspace")}
	for _, kv := range text[1] {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == ownerVar:
		case strings.HasSuffix(name, "_FILE_DESCRIPTOR"): // the host handed its key by a pipe
			p.cmd.Env = append(p.cmd.Env, "ANTHROPIC_API_KEY="+Key)
		default:
			p.cmd.Env = append(p.cmd.Env, kv)
			if strings.HasPrefix(value, dir) {
				if err := os.MkdirAll(value, 0o700); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := os.MkdirAll(p.work, 0o700); err != nil {
		return nil, err
	}
	// A CLI may treat the directory it was started in apart, so it is the runner's here
	// too and not the workspace.
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", runner.Pid))
	if err != nil {
		return nil, err
	}
	p.cmd.Dir = strings.ReplaceAll(cwd, filepath.Join(h.StateDir, "homes"), dir)
	if err := os.MkdirAll(p.cmd.Dir, 0o700); err != nil {
		return nil, err
	}
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

// ownerVar marks the host's processes; what has it and is not the host's is ended.
const ownerVar = "AGENTHOST_OWNER"

// runnerOf is the only runner of a host.
func runnerOf(h *hostproc.Host) (hostproc.Proc, error) {
	for _, p := range h.Marked() {
		if p.Parent == h.Pid {
			return p, nil
		}
	}
	return hostproc.Proc{}, errors.New("the host has no runner")
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

func (p *program) Close() {
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
	own    string // of Fresh
}

func newCodex(p *program) (Talker, error) {
	c := &codex{program: p}
	_, err := c.call("initialize", object{"clientInfo": object{"name": "bench", "title": "bench", "version": "1"}})
	if err == nil {
		err = c.say(object{"method": "initialized"})
	}
	if err == nil {
		c.thread, err = c.load("thread/start", object{})
	}
	return c, err
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
	params["cwd"], params["sandbox"], params["approvalPolicy"] = c.work, "workspace-write", "never"
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

func (c *codex) Turn(prompt string) error { return c.play(c.thread, prompt) }

func (c *codex) Fresh() func(string) error {
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

func newClaude(p *program) (Talker, error) { return claude{p}, nil }

func (c claude) Turn(prompt string) error {
	err := c.say(object{"type": "user", "message": object{"role": "user", "content": []object{{"type": "text", "text": prompt}}}})
	if err != nil {
		return err
	}
	o, err := c.until(func(o object) bool { return o["type"] == "result" })
	if err == nil && o["is_error"] == true {
		err = errors.New("the turn failed")
	}
	if err == nil { // until then it may go on
		_, err = c.until(func(o object) bool { return o["subtype"] == "session_state_changed" && o["state"] == "idle" })
	}
	return err
}

// Fresh: the process keeps its one conversation.
func (claude) Fresh() func(string) error { return nil }
