package appserver

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agenthost/agenthost/fakes/errand"
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

// errand is how the turn's tools run.
func (t *turn) errand() *errand.Errand {
	env := append(os.Environ(), "CODEX_THREAD_ID="+t.thread)
	return &errand.Errand{Dir: t.dir, Env: env, ServerEnv: env, Server: t.Tools, Stop: t.stop}
}

func (t *turn) pause(d time.Duration) bool { return t.errand().Pause(d) }

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
			t.errand().Leave(append(slices.Clone(t.Leave), "10m")...)
		}
	}
}

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
