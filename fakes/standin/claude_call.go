package standin

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const claudeUsage = `usage: fake [OPTIONS] claude -p --output-format stream-json --verbose [CLAUDE OPTIONS] [PROMPT]
       fake claude --version

Speaks the JSON lines of claude -p 2.1.328, with text deltas if asked by
--include-partial-messages. Sessions are kept under CLAUDE_CONFIG_DIR (else
HOME/.claude), so --resume UUID recalls what was said. Understood: --session-id,
--resume, --model, --permission-mode, --allowedTools, --tools, --max-turns; other
options of the real CLI are accepted, unknown ones refused with status 1.
`

const claudeVersion = "2.1.328"

// claudeOwnVersion is what it calls itself: it speaks for one turn only, so nobody may
// take it for a CLI that was found fit for more.
const claudeOwnVersion = claudeVersion + "-standin (Claude Code)"

// Options of claude, and whether they take a value.
var claudeOptions = map[string]bool{
	"-p": false, "--print": false, "--verbose": false, "--include-partial-messages": false, "--strict-mcp-config": false,
	"--dangerously-skip-permissions": false, "--no-session-persistence": false, "--fork-session": false, "--bare": false, "--safe-mode": false,
	"--output-format": true, "--input-format": true, "--model": true, "--permission-mode": true, "--session-id": true, "--resume": true, "-r": true,
	"--append-system-prompt": true, "--append-system-prompt-file": true, "--system-prompt": true, "--system-prompt-file": true,
	"--mcp-config": true, "--tools": true, "--allowedTools": true, "--allowed-tools": true, "--disallowedTools": true, "--disallowed-tools": true,
	"--max-turns": true, "--max-budget-usd": true, "--json-schema": true, "--effort": true, "--setting-sources": true, "--settings": true,
	"--add-dir": true, "--fallback-model": true, "--system-prompt-snapshot": true, "--permission-prompt-tool": true,
}

// claudeCall is a parsed command line.
type claudeCall struct {
	values map[string]string
	prompt string
}

func (c claudeCall) has(name string) bool { _, ok := c.values[name]; return ok }

func parseClaude(args []string) (c claudeCall, problem string) {
	c.values = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "-") {
			c.prompt = args[i]
			continue
		}
		valued, known := claudeOptions[name]
		if !known {
			return c, "error: unknown option '" + name + "'"
		}
		if valued && !joined {
			if i++; i == len(args) {
				return c, "error: option '" + name + "' argument missing"
			}
			value = args[i]
		}
		switch name {
		case "-r":
			name = "--resume"
		case "--allowed-tools":
			name = "--allowedTools"
		case "--dangerously-skip-permissions":
			name, value = "--permission-mode", "bypassPermissions"
		}
		c.values[name] = value
	}
	return c, ""
}

// claude runs the stand-in of claude.
func (p *program) claude(args []string) int {
	if len(args) > 0 && (args[0] == "--version" || args[0] == "-v") {
		_, _ = p.Out.WriteString(claudeOwnVersion + "\n")
		return 0
	}
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		return p.help([]string{"claude"})
	}
	if status, ended := p.early(); ended {
		return status
	}
	call, problem := parseClaude(args)
	switch {
	case problem != "":
	case call.values["--output-format"] != "stream-json":
		problem = "error: the stand-in only has --output-format stream-json"
	case call.values["--input-format"] == "stream-json":
		problem = "error: the stand-in has no --input-format stream-json"
	case !call.has("--verbose"):
		problem = "Error: When using --print, --output-format=stream-json requires --verbose"
	case call.values["--permission-mode"] == "bypassPermissions" && os.Getuid() == 0 && os.Getenv("IS_SANDBOX") != "1":
		problem = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"
	}
	if problem != "" {
		return p.complain(1, problem)
	}
	prompt := call.prompt
	if !p.modes.has("close-stdin") {
		// Both given, both are sent.
		if in := p.prompt(); prompt == "" || in == "" {
			prompt += in
		} else {
			prompt = in + "\n" + prompt
		}
		if strings.TrimSpace(prompt) == "" {
			return p.complain(1, "Error: Input must be provided either through stdin or as a prompt argument when using --print")
		}
	}
	home := os.Getenv("CLAUDE_CONFIG_DIR")
	if home == "" {
		home = filepath.Join(os.Getenv("HOME"), ".claude")
	}
	d := &claude{call: call, started: time.Now()}
	t := &turn{program: p, dialect: d, printer: &printer{out: p.Out, err: p.Err, modes: p.modes}}
	d.turn = t
	if problem := d.open(home); problem != "" {
		return p.complain(1, problem)
	}
	t.maxResponses = modes(call.values).number("--max-turns", 0)
	t.watch(syscall.SIGINT, syscall.SIGTERM)
	return t.run(prompt)
}

// open finds the session that the command line names.
func (c *claude) open(home string) (problem string) {
	c.session = uuid(4)
	if id, ok := c.call.values["--resume"]; ok {
		m, found := recall(home, id)
		problem := ""
		if !isUUID(id) {
			problem = "Error: --resume requires a valid session ID or session title when used with --print. Provided value \"" + id + "\" is not a UUID and does not match any session title."
		} else if !found {
			problem = "No conversation found with session ID: " + id
		}
		if problem != "" {
			c.printer.line(`{"type":"result","subtype":"error_during_execution","duration_ms":0,"duration_api_ms":0,"is_error":true,"num_turns":0,"stop_reason":null,"session_id":"`, uuid(4), `","total_cost_usd":0,`, usageOf(0), `,"modelUsage":{},"permission_denials":[],"uuid":"`, uuid(4), `","errors":[`, str(problem), `],"result_index":0}`)
			return problem
		}
		c.memory, c.before = m, m.responses
		if !c.call.has("--fork-session") {
			c.session = id
			return ""
		}
		m.file = sessionFile(home, c.session)
		return ""
	}
	if id, ok := c.call.values["--session-id"]; ok {
		if !isUUID(id) {
			return "Error: Invalid session ID. Must be a valid UUID."
		}
		if _, taken := recall(home, id); taken {
			return "Error: Session ID " + id + " is already in use."
		}
		c.session = id
	}
	c.memory = &memory{file: sessionFile(home, c.session), faults: map[string]int{}}
	if c.call.has("--no-session-persistence") {
		c.memory.file = ""
	}
	return ""
}
