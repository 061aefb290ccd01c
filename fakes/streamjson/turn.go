package streamjson

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/agenthost/agenthost/fakes/errand"
	"github.com/agenthost/agenthost/fakes/mind"
	"github.com/agenthost/agenthost/fakes/standin"
)

// childMark is in the environment of every command.
const childMark = "CLAUDE_CODE_CHILD_SESSION=1"

// turn is what one message of the host's makes.
type turn struct {
	*server
	message, prompt string
	stop            chan struct{} // closed by an interrupt
	once            sync.Once
	said            string // last
}

func (t *turn) interrupt() { t.once.Do(func() { close(t.stop) }) }

func (t *turn) errand() *errand.Errand {
	return &errand.Errand{Env: append(os.Environ(), childMark), ServerEnv: os.Environ(), Server: t.Tools, Stop: t.stop}
}

// run plays the turn to its end.
func (t *turn) run() {
	standin.Note(t.Log, t.prompt, "start")
	t.became(t.message, "started")
	t.system("init", object{"model": "claude-standin", "tools": []string{"Bash"}, "mcp_servers": []string{}, "permissionMode": "default", "claude_code_version": "2.1.328"})
	end, state := t.play(), "completed"
	standin.Note(t.Log, t.prompt, "end")
	result := object{"type": "result", "num_turns": 1, "stop_reason": "end_turn", "usage": object{"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 30}}
	switch end {
	case "completed":
		result["subtype"], result["is_error"], result["result"] = "success", false, t.said
	case "interrupted":
		state = "cancelled"
		result["subtype"], result["is_error"], result["errors"] = "error_during_execution", true, []string{"[ede_diagnostic] interrupted"}
	default:
		result["subtype"], result["is_error"], result["result"] = "success", true, "API Error: the scripted model failed"
	}
	t.tell(result)
	t.became(t.message, state)
}

// maxResponses bounds a turn whose prompt never ends.
const maxResponses = 1000

// play lets the mind decide until it has nothing more to do.
func (t *turn) play() (end string) {
	e := t.errand()
	talk := []mind.Message{{From: mind.User, Text: t.prompt}}
	t.modes(e)
	for range maxResponses {
		m := mind.Next(talk, nil)
		if !e.Pause(m.Wait) {
			return "interrupted"
		}
		if m.Fault != nil {
			return "failed"
		}
		if m.Say != "" && !t.answer(e, m.Say, m.Slow) {
			return "interrupted"
		}
		if len(m.Calls) == 0 {
			return "completed"
		}
		for _, c := range m.Calls {
			result, on := t.call(e, c)
			if !on {
				return "interrupted"
			}
			talk = append(talk, mind.Message{From: mind.Tool, Text: result})
		}
	}
	return "failed"
}

// modes carries out those of the standin's modes that a turn of a runner can have. What
// is left behind was started by a command, as everything that this CLI leaves is.
func (t *turn) modes(e *errand.Errand) {
	_, directives := mind.Directives(t.prompt)
	for _, d := range directives {
		if d.Name == "mode" && strings.Contains(d.Arg, "escape") {
			id := t.use("Bash", object{"command": "sleep 10m &"})
			e.Leave(append(append([]string{}, t.Leave...), "10m")...)
			t.used(id, "", false)
		}
	}
}

// partial prints an event of the provider's.
func (t *turn) partial(event object) {
	t.tell(object{"type": "stream_event", "event": event, "parent_tool_use_id": nil})
}

// respond prints a message of one block, which comes in pieces.
func (t *turn) respond(open, whole object, pieces func() bool, reason string) bool {
	id := "msg_" + newID()
	message := func(content []object) object {
		return object{"id": id, "type": "message", "role": "assistant", "model": "claude-standin", "content": content, "stop_reason": nil, "usage": object{"input_tokens": 100, "output_tokens": 1}}
	}
	t.partial(object{"type": "message_start", "message": message([]object{})})
	t.partial(object{"type": "content_block_start", "index": 0, "content_block": open})
	if !pieces() {
		return false
	}
	t.tell(object{"type": "assistant", "message": message([]object{whole}), "parent_tool_use_id": nil})
	t.partial(object{"type": "content_block_stop", "index": 0})
	t.partial(object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 30}})
	t.partial(object{"type": "message_stop"})
	return true
}

func (t *turn) answer(e *errand.Errand, text string, slow time.Duration) bool {
	t.said = text
	return t.respond(object{"type": "text", "text": ""}, object{"type": "text", "text": text}, func() bool {
		for _, p := range mind.Pieces(text) {
			if !e.Pause(slow) {
				return false
			}
			t.partial(object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": p}})
		}
		return true
	}, "end_turn")
}

// use prints a tool's call, used its result.
func (t *turn) use(name string, input any) (id string) {
	id = "toolu_" + newID()
	t.respond(object{"type": "tool_use", "id": id, "name": name, "input": object{}}, object{"type": "tool_use", "id": id, "name": name, "input": input},
		func() bool { return true }, "tool_use")
	return id
}

func (t *turn) used(id, text string, failed bool) {
	t.tell(object{"type": "user", "parent_tool_use_id": nil, "message": object{"role": "user", "content": []object{
		{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed},
	}}})
}

func (t *turn) call(e *errand.Errand, c *mind.Call) (result string, on bool) {
	switch c.Kind {
	case mind.Shell:
		id := t.use("Bash", object{"command": c.Args})
		output, code, on := e.Shell(c.Args)
		if code != 0 {
			output = fmt.Sprintf("Exit code %d\n%s", code, output)
		}
		t.used(id, output, code != 0)
		return output, on
	case mind.MCP:
		id := t.use("mcp__"+c.Server+"__"+c.Name, json.RawMessage(c.Args))
		result, on, err := e.Tool(c)
		if err != nil {
			result = err.Error()
		}
		t.used(id, result, err != nil)
		return result, on
	}
	id := t.use(c.Name, json.RawMessage(c.Args))
	t.used(id, "there is no such tool", true)
	return "there is no such tool", true
}
