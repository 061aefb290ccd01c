package appserver

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
	"github.com/agenthost/agenthost/fakes/standin"
)

// turn is one turn of a thread; without an id it has not begun.
type turn struct {
	*server
	thread, dir, id, prompt string
	stop                    chan struct{} // closed by an interrupt
	once                    sync.Once
	items                   int
}

func (t *turn) interrupt() {
	if t.stop != nil {
		t.once.Do(func() { close(t.stop) })
	}
}

// pause waits, and says whether the turn goes on.
func (t *turn) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.stop:
		return false
	case <-timer.C:
		return true
	}
}

func (t *turn) tell(method string, params object) {
	params["threadId"], params["turnId"] = t.thread, t.id
	t.send(object{"method": method, "params": params})
}

func (t *turn) item(method string, item object) { t.tell(method, object{"item": item}) }

func (t *turn) newItem() string {
	t.items++
	return fmt.Sprintf("item-%d", t.items)
}

// run plays the turn to its end.
func (t *turn) run() {
	standin.Note(t.Log, t.prompt, "start")
	t.tell("turn/started", object{"turn": object{"id": t.id}})
	status := t.play()
	t.tell("thread/tokenUsage/updated", object{"tokenUsage": object{"total": object{"inputTokens": 120, "outputTokens": 30}}})
	standin.Note(t.Log, t.prompt, "end")
	end := object{"id": t.id, "status": status}
	if status == "failed" {
		end["error"] = object{"message": "the scripted model failed"}
	}
	t.over()
	t.tell("turn/completed", object{"turn": end})
}

// over makes place for the thread's next turn; it may be asked for as soon as this one
// is told to be done.
func (t *turn) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turns[t.thread] == t {
		t.turns[t.thread] = &turn{server: t.server, thread: t.thread, dir: t.dir}
	}
}

// maxResponses bounds a turn whose prompt never ends.
const maxResponses = 1000

// play lets the mind decide until it has nothing more to do.
func (t *turn) play() (status string) {
	t.modes()
	talk := []mind.Message{{From: mind.User, Text: t.prompt}}
	for range maxResponses {
		m := mind.Next(talk, nil)
		if !t.pause(m.Wait) {
			return "interrupted"
		}
		if m.Fault != nil {
			return "failed"
		}
		if m.Say != "" && !t.say(m.Say, m.Slow) {
			return "interrupted"
		}
		if len(m.Calls) == 0 {
			return "completed"
		}
		for _, c := range m.Calls {
			result, on := t.call(c)
			if !on {
				return "interrupted"
			}
			talk = append(talk, mind.Message{From: mind.Tool, Text: result})
		}
	}
	return "failed"
}

// modes carries out those of the standin's modes that a turn of a runner can have.
func (t *turn) modes() {
	_, directives := mind.Directives(t.prompt)
	for _, d := range directives {
		if d.Name == "mode" && strings.Contains(d.Arg, "escape") {
			c := exec.Command(t.Leave[0], append(t.Leave[1:], "10m")...)
			c.Env, c.SysProcAttr = t.environ(), ownSession()
			if c.Start() == nil {
				go func() { _ = c.Wait() }() // it ends with the process or ours
			}
		}
	}
}

func (t *turn) environ() []string { return append(os.Environ(), "CODEX_THREAD_ID="+t.thread) }

func (t *turn) say(text string, slow time.Duration) bool {
	id := t.newItem()
	t.item("item/started", object{"type": "agentMessage", "id": id, "text": ""})
	for _, p := range mind.Pieces(text) {
		if !t.pause(slow) {
			return false
		}
		t.tell("item/agentMessage/delta", object{"itemId": id, "delta": p})
	}
	t.item("item/completed", object{"type": "agentMessage", "id": id, "text": text})
	return true
}

func (t *turn) call(c *mind.Call) (result string, on bool) {
	switch c.Kind {
	case mind.Shell:
		return t.shell(c.Args)
	case mind.MCP:
		return t.tool(c)
	}
	return "there is no such tool", true
}

func (t *turn) shell(command string) (string, bool) {
	id := t.newItem()
	item := object{"type": "commandExecution", "id": id, "command": command, "status": "inProgress"}
	t.item("item/started", item)
	var out bytes.Buffer
	c := exec.Command("/bin/sh", "-c", command)
	c.Env, c.Dir, c.SysProcAttr = t.environ(), t.dir, ownSession()
	c.Stdout, c.Stderr, c.WaitDelay = &out, &out, 200*time.Millisecond
	on := t.await(c, func() error { return c.Wait() })
	item["status"], item["aggregatedOutput"], item["exitCode"] = "completed", out.String(), c.ProcessState.ExitCode()
	if c.ProcessState.ExitCode() != 0 {
		item["status"] = "failed"
	}
	t.item("item/completed", item)
	return out.String(), on
}

// await starts a command and waits for done, which waits for it; an interrupt kills it.
func (t *turn) await(c *exec.Cmd, done func() error) bool {
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
	case <-t.stop:
		killGroup(c)
		<-ended
		return false
	}
}
