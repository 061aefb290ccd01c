package standin

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const codexUsage = `usage: fake [OPTIONS] codex exec [resume] --json [CODEX OPTIONS] [THREAD_ID] [PROMPT | -]
       fake codex --version

Speaks the JSON lines of codex exec 0.169. Threads are kept under CODEX_HOME
(else HOME/.codex), so exec resume THREAD_ID recalls what was said. Understood:
-m, -s, -C, -c sandbox_mode, -c model_providers.NAME={env_key=..} (the variable
must be set), --ephemeral, --dangerously-bypass-approvals-and-sandbox; other
options of the real CLI are accepted, unknown ones refused with status 2.
Without -m a known model is assumed. Writes are refused in the read-only sandbox,
which is the default; commands are not confined.
`

const codexVersion = "0.169.0-standin"

// Options of codex exec, and whether they take a value. Those marked - are not
// options of exec resume.
var codexOptions = map[string]string{
	"-m": "=", "--model": "=", "-c": "=", "--config": "=", "--enable": "=", "--disable": "=", "-i": "=", "--image": "=",
	"--output-schema": "=", "-o": "=", "--output-last-message": "=",
	"-s": "-=", "--sandbox": "-=", "-C": "-=", "--cd": "-=", "--add-dir": "-=", "-p": "-=", "--profile": "-=", "--color": "-=",
	"--json": "", "--skip-git-repo-check": "", "--ephemeral": "", "--ignore-user-config": "", "--ignore-rules": "", "--full-auto": "",
	"--dangerously-bypass-approvals-and-sandbox": "", "--oss": "-",
}

// codexCall is a parsed command line.
type codexCall struct {
	resume                    bool
	thread, prompt            string
	model, sandbox, dir       string
	json, ephemeral, fromArgs bool
	envKeys                   []string
	last                      string
}

// parseCodex reads the arguments of codex; a problem is what clap would print.
func parseCodex(args []string) (c codexCall, problem string) {
	if len(args) == 0 || args[0] != "exec" && args[0] != "e" {
		return c, "error: the stand-in only has codex exec"
	}
	c.sandbox, c.model = "read-only", "gpt-5.5"
	args = args[1:]
	if len(args) > 0 && args[0] == "resume" {
		c.resume, args = true, args[1:]
	}
	var rest []string
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if args[i] == "-" || !strings.HasPrefix(args[i], "-") {
			rest = append(rest, args[i])
			continue
		}
		if args[i] == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		kind, known := codexOptions[name]
		if !known || c.resume && strings.HasPrefix(kind, "-") {
			return c, "error: unexpected argument '" + args[i] + "' found\n\nUsage: codex exec [OPTIONS] [PROMPT]\n\nFor more information, try '--help'."
		}
		if strings.HasSuffix(kind, "=") && !joined {
			if i++; i == len(args) {
				return c, "error: a value is required for '" + name + "' but none was supplied"
			}
			value = args[i]
		}
		c.option(name, value)
	}
	if c.resume && len(rest) > 0 {
		c.thread, rest = rest[0], rest[1:]
	}
	if len(rest) > 0 && rest[0] != "-" {
		c.prompt, c.fromArgs = rest[0], true
	}
	return c, ""
}

func (c *codexCall) option(name, value string) {
	switch name {
	case "-m", "--model":
		c.model = value
	case "-s", "--sandbox":
		c.sandbox = value
	case "-C", "--cd":
		c.dir = value
	case "--json":
		c.json = true
	case "--ephemeral":
		c.ephemeral = true
	case "-o", "--output-last-message":
		c.last = value
	case "--dangerously-bypass-approvals-and-sandbox":
		c.sandbox = "danger-full-access"
	case "-c", "--config":
		key, v, _ := strings.Cut(value, "=")
		if key == "sandbox_mode" {
			c.sandbox = strings.Trim(v, `"`)
		}
		if _, v, ok := strings.Cut(value, "env_key="); ok && strings.HasPrefix(key, "model_providers.") {
			v, _, _ = strings.Cut(strings.TrimPrefix(v, `"`), `"`)
			c.envKeys = append(c.envKeys, v)
		}
	}
}

// codex runs the stand-in of codex.
func (p *program) codex(args []string) int {
	if len(args) > 0 && (args[0] == "--version" || args[0] == "-V") {
		_, _ = p.Out.WriteString("codex-cli " + codexVersion + "\n")
		return 0
	}
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		return p.help([]string{"codex"})
	}
	if status, ended := p.early(); ended {
		return status
	}
	call, problem := parseCodex(args)
	if problem != "" {
		return p.complain(2, problem)
	}
	home := os.Getenv("CODEX_HOME")
	if home == "" {
		home = filepath.Join(os.Getenv("HOME"), ".codex")
	} else if _, err := os.Stat(home); err != nil {
		return p.complain(1, "Error finding codex home: CODEX_HOME points to \""+home+"\", but that path does not exist")
	}
	if call.dir != "" {
		if err := os.Chdir(call.dir); err != nil {
			return p.complain(1, "Error: No such file or directory (os error 2)")
		}
	}
	prompt := call.prompt
	if !call.fromArgs && !p.modes.has("close-stdin") {
		prompt = p.prompt()
	}
	if strings.TrimSpace(prompt) == "" && !p.modes.has("close-stdin") {
		return p.complain(1, "No prompt provided via stdin.")
	}
	d := &codex{call: call, thread: call.thread}
	m, ok := recall(home, call.thread)
	switch {
	case !call.resume || !isUUID(call.thread):
		// Like the real one, an id that is no UUID quietly starts a new thread.
		d.thread = uuid(7)
		m = &memory{file: sessionFile(home, d.thread), faults: map[string]int{}}
	case !ok:
		return p.complain(1, "Error: thread/resume: thread/resume failed: no rollout found for thread id "+call.thread+" (code -32600)")
	}
	if call.ephemeral {
		m.file = ""
	}
	t := &turn{program: p, dialect: d, memory: m, printer: &printer{out: p.Out, err: p.Err, modes: p.modes}}
	d.turn = t
	t.watch(syscall.SIGINT)
	return t.run(prompt)
}
