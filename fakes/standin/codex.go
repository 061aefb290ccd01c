package standin

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
)

// codex is the dialect of codex exec --json.
type codex struct {
	*turn
	call   codexCall
	thread string
	items  int
}

func (c *codex) item() string {
	c.items++
	return string(put(nil, "item_", c.items-1))
}

func (c *codex) print(parts ...any) {
	if c.call.json {
		c.printer.line(parts...)
	}
}

func (c *codex) begin() {
	c.print(`{"type":"thread.started","thread_id":`, str(c.thread), `}`)
	if !strings.HasPrefix(c.call.model, "gpt-") {
		c.print(`{"type":"item.completed","item":{"id":"`, c.item(), `","type":"error","message":`, str("Model metadata for `"+c.call.model+"` not found. Defaulting to fallback metadata; this can degrade performance and cause issues."), `}}`)
	}
	c.print(`{"type":"turn.started"}`)
}

func (c *codex) think(text string, slow time.Duration) {
	pieces(text, slow, func(string) {})
	c.print(`{"type":"item.completed","item":{"id":"`, c.item(), `","type":"reasoning","text":`, str(text), `}}`)
}

func (c *codex) say(text string, slow time.Duration, _ bool) {
	// There are no deltas: the pieces only take their time.
	pieces(text, slow, func(string) {})
	c.print(`{"type":"item.completed","item":{"id":"`, c.item(), `","type":"agent_message","text":`, str(text), `}}`)
	if !c.call.json {
		c.printer.line(text)
	}
}

func (c *codex) shell(command string) string {
	id, shown := c.item(), "/bin/bash -lc "+shellQuote(command)
	c.print(`{"type":"item.started","item":{"id":"`, id, `","type":"command_execution","command":`, str(shown), `,"aggregated_output":"","exit_code":null,"status":"in_progress"}}`)
	output, status := c.shells.run(command, []string{"CODEX_THREAD_ID=" + c.thread})
	word := "completed"
	if status != 0 {
		word = "failed"
	}
	c.print(`{"type":"item.completed","item":{"id":"`, id, `","type":"command_execution","command":`, str(shown), `,"aggregated_output":`, str(output), `,"exit_code":`, status, `,"status":"`, word, `"}}`)
	return output
}

// shellQuote shows a command as one word of a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (c *codex) write(path, text string) string {
	if c.call.sandbox == "read-only" {
		return c.refuse("patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return c.refuse(err.Error())
	}
	kind := "add"
	if _, err := os.Stat(absolute); err == nil {
		kind = "update"
	}
	id := c.item()
	changes := string(put(nil, `"type":"file_change","changes":[{"path":`, str(absolute), `,"kind":"`, kind, `"}]`))
	c.print(`{"type":"item.started","item":{"id":"`, id, `",`, changes, `,"status":"in_progress"}}`)
	status, result := "completed", "Success. Updated the following files:\nA "+path
	if _, _, err := writeFile(path, text); err != nil {
		status, result = "failed", err.Error()
	}
	c.print(`{"type":"item.completed","item":{"id":"`, id, `",`, changes, `,"status":"`, status, `"}}`)
	return result
}

// refuse tells of a call that never became an item: only on stderr.
func (c *codex) refuse(why string) string {
	c.complain(0, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+" ERROR codex_core::tools::router: error="+why)
	return why
}

func (c *codex) tool(call *mind.Call) string {
	if call.Kind != mind.MCP {
		return c.refuse("unsupported call: " + call.Name)
	}
	id, result := c.item(), "echo: "+call.Args
	head := string(put(nil, `"type":"mcp_tool_call","server":`, str(call.Server), `,"tool":`, str(call.Name), `,"arguments":`, call.Args))
	c.print(`{"type":"item.started","item":{"id":"`, id, `",`, head, `,"result":null,"error":null,"status":"in_progress"}}`)
	c.print(`{"type":"item.completed","item":{"id":"`, id, `",`, head, `,"result":{"content":[{"type":"text","text":`, str(result), `}],"structured_content":null},"error":null,"status":"completed"}}`)
	return result
}

func (c *codex) fault(kind string) int {
	if kind == "refusal" {
		return c.end("")
	}
	message, ok := codexFaults[kind]
	if !ok {
		message = "unexpected error: " + kind
	}
	return c.fail(message)
}

func (c *codex) fail(message string) int {
	c.print(`{"type":"error","message":`, str(message), `}`)
	c.print(`{"type":"turn.failed","error":{"message":`, str(message), `}}`)
	return 1
}

// end prints the total of the thread, not of the turn, like the real one.
func (c *codex) end(text string) int {
	if c.call.last != "" {
		if err := os.WriteFile(c.call.last, []byte(text), 0o600); err != nil {
			return c.complain(1, "Error: "+err.Error())
		}
	}
	n := c.memory.responses
	c.print(`{"type":"turn.completed","usage":{"input_tokens":`, 120*n, `,"cached_input_tokens":`, 20*n, `,"cache_write_input_tokens":0,"output_tokens":`, 30*n, `,"reasoning_output_tokens":`, 10*n, `}}`)
	return 0
}

func (c *codex) filler(text string) {
	c.print(`{"type":"item.updated","item":{"id":"item_filler","type":"todo_list","items":[{"text":`, str(text), `,"completed":false}]}}`)
}

// interrupt prints nothing: the real one ends without a terminal event.
func (c *codex) interrupt(os.Signal) int { return 1 }

func (c *codex) refused() string {
	for _, name := range c.call.envKeys {
		if os.Getenv(name) == "" {
			return "Missing environment variable: `" + name + "`."
		}
	}
	return ""
}
