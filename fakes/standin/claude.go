package standin

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
)

// claude is the dialect of claude -p --output-format stream-json.
type claude struct {
	*turn
	call    claudeCall
	session string
	started time.Time
	// before is how many responses the session had before this turn.
	before int
	// message is the id of the open message, "" between messages; block counts
	// its blocks.
	message string
	block   int
	running string // id of the tool that runs; guarded by the printer
	denials []byte
	// flowing is the text of a burst's open block of inBlock deltas, deltaTail the
	// end of each delta's line.
	flowing   []byte
	inBlock   int
	deltaTail string
}

// tail ends a line that belongs to the session.
func (c *claude) tail() string {
	return `,"session_id":"` + c.session + `","parent_tool_use_id":null,"uuid":"` + uuid(4) + `"}`
}

func (c *claude) model() string {
	if m := c.call.values["--model"]; m != "" {
		return m
	}
	return "claude-sonnet-4-5"
}

func (c *claude) mode() string {
	if m := c.call.values["--permission-mode"]; m != "" {
		return m
	}
	return "default"
}

func (c *claude) begin() {
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	tools := `"Bash","Edit","Read","Write"`
	if list, ok := c.call.values["--tools"]; ok {
		tools = `"` + strings.ReplaceAll(list, ",", `","`) + `"`
	}
	c.printer.line(`{"type":"system","subtype":"init","cwd":`, str(dir), `,"session_id":"`, c.session, `","tools":[`, tools, `],"mcp_servers":[],"model":`, str(c.model()), `,"permissionMode":`, str(c.mode()), `,"apiKeySource":"`, apiKeySource(), `","claude_code_version":"`, claudeVersion, `","output_style":"default","uuid":"`, uuid(4), `"}`)
}

func apiKeySource() string {
	if os.Getenv("ANTHROPIC_API_KEY") != "" {
		return "ANTHROPIC_API_KEY"
	}
	return "none"
}

// partial prints a provider event if partial messages were asked for.
func (c *claude) partial(parts ...any) {
	if c.call.has("--include-partial-messages") {
		c.printer.line(`{"type":"stream_event","event":`, string(put(nil, parts...)), c.tail())
	}
}

// respond opens a message if none is open.
func (c *claude) respond() {
	if c.message != "" {
		return
	}
	c.message, c.block = "msg_scripted_"+uuid(4), 0
	c.printer.line(`{"type":"system","subtype":"status","status":"requesting"`, c.tail())
	c.partial(`{"type":"message_start","message":{"id":"`, c.message, `","type":"message","role":"assistant","model":`, str(c.model()), `,"content":[],"stop_reason":null,"stop_sequence":null,`, startUsage, `}}`)
}

const startUsage = `"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":20,"output_tokens":1}`

func (c *claude) start(block string) {
	c.respond()
	c.partial(`{"type":"content_block_start","index":`, c.block, `,"content_block":`, block, `}`)
}

func (c *claude) delta(kind, field, text string) {
	c.partial(`{"type":"content_block_delta","index":`, c.block, `,"delta":{"type":"`, kind, `","`, field, `":`, str(text), `}}`)
}

// stop prints the whole block, which comes before its end, and its end.
func (c *claude) stop(content string) {
	c.printer.line(`{"type":"assistant","message":{"id":"`, c.message, `","type":"message","role":"assistant","model":`, str(c.model()), `,"content":[`, content, `],"stop_reason":null,"stop_sequence":null,`, startUsage, `,"context_management":null}`, c.tail())
	c.partial(`{"type":"content_block_stop","index":`, c.block, `}`)
	c.block++
}

func (c *claude) close(reason string) {
	c.partial(`{"type":"message_delta","delta":{"stop_reason":"`, reason, `","stop_sequence":null},"usage":{"output_tokens":30}}`)
	c.partial(`{"type":"message_stop"}`)
	c.message = ""
}

func (c *claude) think(text string, slow time.Duration) {
	c.start(`{"type":"thinking","thinking":"","signature":""}`)
	pieces(text, slow, func(p string) {
		c.printer.line(`{"type":"system","subtype":"thinking_tokens","estimated_tokens":`, len(p)/4+1, c.tail())
		c.delta("thinking_delta", "thinking", p)
	})
	c.delta("signature_delta", "signature", "c2NyaXB0ZWQ=")
	c.stop(string(put(nil, `{"type":"thinking","thinking":`, str(text), `,"signature":"c2NyaXB0ZWQ="}`)))
}

func (c *claude) say(text string, slow time.Duration, more bool) {
	c.start(`{"type":"text","text":""}`)
	pieces(text, slow, func(p string) { c.delta("text_delta", "text", p) })
	c.stop(string(put(nil, `{"type":"text","text":`, str(text), `}`)))
	if !more {
		c.close("end_turn")
	}
}

// use prints a tool call and returns its id.
func (c *claude) use(name, input string) string {
	id := "toolu_scripted_" + uuid(4)
	c.start(string(put(nil, `{"type":"tool_use","id":"`, id, `","name":`, str(name), `,"input":{}}`)))
	c.delta("input_json_delta", "partial_json", input)
	c.stop(string(put(nil, `{"type":"tool_use","id":"`, id, `","name":`, str(name), `,"input":`, input, `}`)))
	c.close("tool_use")
	c.runs(id)
	return id
}

func (c *claude) runs(id string) {
	c.printer.Lock()
	defer c.printer.Unlock()
	c.running = id
}

// result prints a tool's result.
func (c *claude) result(id, text string, failed bool) string {
	flag := "false"
	if failed {
		flag = "true"
	}
	c.printer.line(`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"`, id, `","type":"tool_result","content":`, str(text), `,"is_error":`, flag, `}]}`, c.tail())
	c.runs("")
	return text
}

// denied says whether the permission mode refuses a tool, and tells so.
func (c *claude) denied(id, name, input string) (text string, denied bool) {
	allowed := c.mode() == "bypassPermissions" || c.mode() == "acceptEdits" && name == "Write"
	for tool := range strings.SplitSeq(c.call.values["--allowedTools"], ",") {
		allowed = allowed || strings.TrimSpace(tool) == name
	}
	if list, ok := c.call.values["--tools"]; ok && !strings.Contains(","+list+",", ","+name+",") {
		allowed = false
	}
	if allowed {
		return "", false
	}
	text = "Permission to use " + name + " has been denied because Claude Code is running in " + c.mode() + " mode."
	c.printer.line(`{"type":"system","subtype":"permission_denied","tool_name":"`, name, `","tool_use_id":"`, id, `","decision_reason_type":"mode","message":`, str(text), c.tail())
	if len(c.denials) > 0 {
		c.denials = append(c.denials, ',')
	}
	c.denials = put(c.denials, `{"tool_name":"`, name, `","tool_use_id":"`, id, `","tool_input":`, input, `}`)
	return c.result(id, text, true), true
}

func (c *claude) shell(command string) string {
	input := string(put(nil, `{"command":`, str(command), `,"description":"Run the command of the prompt"}`))
	id := c.use("Bash", input)
	if text, denied := c.denied(id, "Bash", input); denied {
		return text
	}
	output, status := c.shells.run(command, []string{"CLAUDECODE=1"})
	output = strings.TrimRight(output, "\n")
	if status != 0 {
		return c.result(id, string(put(nil, "Exit code ", status, "\n", output)), true)
	}
	if output == "" {
		output = "(Bash completed with no output)"
	}
	return c.result(id, output, false)
}

func (c *claude) write(path, text string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		absolute = path
	}
	input := string(put(nil, `{"file_path":`, str(absolute), `,"content":`, str(text), `}`))
	id := c.use("Write", input)
	if text, denied := c.denied(id, "Write", input); denied {
		return text
	}
	_, made, err := writeFile(path, text)
	if err != nil {
		return c.result(id, err.Error(), true)
	}
	if made {
		return c.result(id, "File created successfully at: "+absolute, false)
	}
	return c.result(id, "The file "+absolute+" has been updated.", false)
}

func (c *claude) tool(call *mind.Call) string {
	name := call.Name
	if call.Kind == mind.MCP {
		name = "mcp__" + call.Server + "__" + call.Name
	}
	id := c.use(name, call.Args)
	if call.Kind != mind.MCP {
		return c.result(id, "<tool_use_error>Error: No such tool available: "+name+"</tool_use_error>", true)
	}
	return c.result(id, "echo: "+call.Args, false)
}

func (c *claude) fault(kind string) int {
	if kind == "max-turns" {
		c.finished(`"is_error":true,"subtype":"error_max_turns","errors":["Reached maximum number of turns (`, c.maxResponses, `)"],"terminal_reason":"max_turns"`)
		return 1
	}
	f, ok := claudeFaults[kind]
	if !ok {
		f = claudeFault{"unknown", "null", "API Error: " + kind, "api_error"}
	}
	return c.failed(f)
}

// refused never says why: a CLI that is not signed in fails like a provider.
func (c *claude) refused() string { return "" }

func (c *claude) fail(message string) int {
	return c.failed(claudeFault{"unknown", "null", message, "api_error"})
}

func (c *claude) failed(f claudeFault) int {
	c.printer.line(`{"type":"assistant","message":{"id":"`, uuid(4), `","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","stop_sequence":"","type":"message",`, usageOf(0), `,"content":[{"type":"text","text":`, str(f.text), `}],"context_management":null},"error":"`, f.error, `","is_api_error_message":true,"api_error_status":`, f.status, c.tail())
	c.finished(`"is_error":true,"subtype":"success","api_error_status":`, f.status, `,"result":`, str(f.text), `,"terminal_reason":"`, f.reason, `"`)
	return 1
}

func (c *claude) end(text string) int {
	c.finished(`"is_error":false,"subtype":"success","api_error_status":null,"result":`, str(text), `,"terminal_reason":"completed"`)
	return 0
}

// finished prints the result. Like the real one's, its type comes late.
func (c *claude) finished(parts ...any) {
	c.printer.Lock()
	defer c.printer.Unlock()
	c.last(parts...)
}

// last is finished for a caller that holds the printer.
func (c *claude) last(parts ...any) {
	n := c.memory.responses - c.before
	micros := 756 * c.memory.responses
	cost := string(put(nil, micros/1_000_000, ".", string(put(nil, 1_000_000+micros%1_000_000)[1:])))
	c.printer.print(`{"duration_api_ms":1,"stop_reason":"end_turn","session_id":"`, c.session, `","total_cost_usd":`, cost, `,`, usageOf(n), `,"modelUsage":{},"permission_denials":[`, string(c.denials), `],"num_turns":`, n, `,`, string(put(nil, parts...)), `,"type":"result","duration_ms":`, int(time.Since(c.started).Milliseconds()), `,"uuid":"`, uuid(4), `","result_index":0}`)
}

// usageOf is the usage of n responses.
func usageOf(n int) string {
	return string(put(nil, `"usage":{"input_tokens":`, 100*n, `,"cache_creation_input_tokens":0,"cache_read_input_tokens":`, 20*n, `,"output_tokens":`, 30*n, `,"service_tier":"standard"}`))
}

func (c *claude) filler(text string) {
	c.printer.line(`{"type":"system","subtype":"informational","content":`, str(text), c.tail())
}

// interrupt tells of an interrupt and exits 0; a SIGTERM is silent.
func (c *claude) interrupt(s os.Signal) int {
	if s != syscall.SIGINT {
		return 143
	}
	reason := "aborted_streaming"
	if c.running != "" {
		reason = "aborted_tools"
		c.printer.print(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"The user doesn't want to proceed with this tool use.","is_error":true,"tool_use_id":"`, c.running, `"}]}`, c.tail())
	}
	c.printer.print(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}`, c.tail())
	c.last(`"is_error":true,"subtype":"error_during_execution","errors":["[ede_diagnostic] interrupted"],"terminal_reason":"`, reason, `"`)
	return 0
}
