package acp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agenthost/agenthost/fakes/mind"
)

// Agent is one process of the stand-in.
type Agent struct {
	// Home is where conversations are kept.
	Home string
	// Modes are the session modes; the first is the one a session begins with. In one
	// called ask or plan no command runs, in yolo each does, in the others each is
	// asked for.
	Modes []string
	// Log is the file that turns of events are noted in, and End what such a turn says
	// last; "" for none.
	Log, End string

	out      io.Writer
	mu       sync.Mutex
	sessions map[string]*session
	answers  map[int]chan message
	last     int
}

type session struct {
	id, cwd, mode string
	cancel        chan struct{}
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Session string `json:"sessionId"`
		Cwd     string `json:"cwd"`
		Mode    string `json:"modeId"`
		Prompt  []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
	Result struct {
		Outcome struct {
			Option string `json:"optionId"`
		} `json:"outcome"`
	} `json:"result"`
}

// Serve speaks with one client until its input ends.
func (a *Agent) Serve(in io.Reader, out io.Writer) error {
	a.out, a.sessions, a.answers = out, map[string]*session{}, map[int]chan message{}
	var turns sync.WaitGroup
	defer turns.Wait()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			continue
		}
		switch s := a.sessions[m.Params.Session]; m.Method {
		case "initialize":
			a.reply(m.ID, map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{"loadSession": true}})
		case "authenticate":
			a.reply(m.ID, struct{}{})
		case "session/new":
			id := fmt.Sprintf("s-%d-%d", os.Getpid(), len(a.sessions)+1)
			a.open(id, &m, map[string]any{"sessionId": id})
		case "session/load":
			if _, err := os.Stat(a.file(m.Params.Session)); err != nil {
				a.refuse(m.ID, -32002, "no session "+m.Params.Session)
				continue
			}
			a.open(m.Params.Session, &m, map[string]any{})
		case "session/set_mode":
			if s == nil {
				a.refuse(m.ID, -32602, "no session")
				continue
			}
			s.mode = m.Params.Mode
			a.reply(m.ID, struct{}{})
		case "session/prompt":
			if s == nil || len(m.Params.Prompt) == 0 {
				a.refuse(m.ID, -32602, "no session, or no prompt")
				continue
			}
			s.cancel = make(chan struct{})
			turns.Go(func() { a.turn(s, m.ID, m.Params.Prompt[0].Text) })
		case "session/cancel":
			if s != nil && s.cancel != nil {
				close(s.cancel)
				s.cancel = nil
			}
		case "":
			a.answered(m)
		default:
			a.refuse(m.ID, -32601, "Method not found")
		}
	}
	a.mu.Lock()
	for _, c := range a.answers {
		close(c)
	}
	a.answers = nil
	a.mu.Unlock()
	return lines.Err()
}

func (a *Agent) file(session string) string {
	return filepath.Join(a.Home, filepath.Base(session)+".txt")
}

func (a *Agent) open(id string, m *message, result map[string]any) {
	list := make([]any, len(a.Modes))
	for i, mode := range a.Modes {
		list[i] = map[string]any{"id": mode}
	}
	a.sessions[id] = &session{id: id, cwd: m.Params.Cwd, mode: a.Modes[0]}
	result["modes"] = map[string]any{"currentModeId": a.Modes[0], "availableModes": list}
	a.reply(m.ID, result)
}

// turn plays a prompt.
func (a *Agent) turn(s *session, id json.RawMessage, prompt string) {
	cancel := s.cancel
	before, _ := os.ReadFile(a.file(s.id)) // of the turns before
	if err := os.WriteFile(a.file(s.id), append(before, prompt+"\n"...), 0o600); err != nil {
		a.refuse(id, -32603, err.Error())
		return
	}
	if events(a, s, prompt) {
		a.reply(id, map[string]any{"stopReason": "end_turn"})
		return
	}
	plain, list := mind.Directives(prompt)
	said := false
	for n, d := range list {
		switch d.Name {
		case "say":
			a.say(s, d.Arg)
		case "error":
			a.refuse(id, -32603, d.Arg+" refused by the stand-in")
			return
		case "shell":
			if !a.shell(s, fmt.Sprintf("call-%s-%d-%d", s.id, len(before), n), d.Arg, cancel) {
				a.reply(id, map[string]any{"stopReason": "cancelled"})
				return
			}
		}
		said = said || d.Name == "say"
	}
	switch {
	case strings.Contains(plain, "remember?"):
		a.say(s, "You said: "+string(before))
	case !said:
		a.say(s, "I heard: "+plain)
	}
	a.reply(id, map[string]any{"stopReason": "end_turn"})
}

func (a *Agent) say(s *session, text string) {
	for _, piece := range strings.SplitAfter(text, " ") {
		a.chunk(s, piece)
	}
}

func (a *Agent) chunk(s *session, text string) {
	a.update(s, map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": text}})
}

func (a *Agent) update(s *session, u map[string]any) {
	a.write(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{"sessionId": s.id, "update": u}})
}

// shell runs a command if it may; false says that the turn was cancelled.
func (a *Agent) shell(s *session, id, command string, cancel chan struct{}) bool {
	call := map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": command, "kind": "execute", "status": "pending", "rawInput": map[string]any{"command": command}}
	a.update(s, call)
	end := func(status, output string, exit int) {
		u := map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": []any{map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": output}}}}
		if status == "completed" {
			u["rawOutput"] = map[string]any{"exitCode": exit}
		}
		a.update(s, u)
	}
	if s.mode == "ask" || s.mode == "plan" {
		end("failed", "this mode runs nothing", 0)
		return true
	}
	if s.mode != "yolo" {
		delete(call, "sessionUpdate")
		switch a.ask(s, call, cancel) {
		case "allow-once":
		case "":
			return false
		default:
			end("failed", "denied", 0)
			return true
		}
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = s.cwd
	done := make(chan struct{})
	go func() {
		select {
		case <-cancel:
			_ = cmd.Process.Kill()
		case <-done:
		}
	}()
	output, err := cmd.CombinedOutput()
	close(done)
	exit := 0
	if err != nil {
		exit = cmd.ProcessState.ExitCode()
	}
	end("completed", string(output), exit)
	select {
	case <-cancel:
		return false
	default:
		return true
	}
}

// ask asks the client for permission; "" is a question that was withdrawn.
func (a *Agent) ask(s *session, call map[string]any, cancel chan struct{}) string {
	answer := make(chan message, 1)
	a.mu.Lock()
	a.last++
	id := a.last
	if a.answers == nil {
		a.mu.Unlock()
		return ""
	}
	a.answers[id] = answer
	a.mu.Unlock()
	option := func(id, kind string) any { return map[string]any{"optionId": id, "name": id, "kind": kind} }
	a.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": map[string]any{
		"sessionId": s.id, "toolCall": call, "options": []any{option("allow-always", "allow_always"), option("allow-once", "allow_once"), option("reject-once", "reject_once")},
	}})
	select {
	case m := <-answer:
		return m.Result.Outcome.Option
	case <-cancel:
		return ""
	}
}

func (a *Agent) answered(m message) {
	var id int
	if json.Unmarshal(m.ID, &id) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.answers[id]; c != nil {
		c <- m
		delete(a.answers, id)
	}
}

func (a *Agent) reply(id json.RawMessage, result any) {
	a.write(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (a *Agent) refuse(id json.RawMessage, code int, text string) {
	if id != nil {
		a.write(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	}
}

func (a *Agent) write(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return // only strings and numbers come here
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = a.out.Write(append(b, '\n')) // a client that is gone has its own end
}
