package standin

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// World is what a stand-in may touch of its process.
type World struct {
	In       *os.File
	Out, Err *os.File
	// Self is the command line that runs Main anew, for a program that does other
	// things too; nil for this program without arguments.
	Self []string
}

const usage = `usage: fake [OPTIONS] codex ARGS...    speak codex exec --json, as the real CLI is called
       fake [OPTIONS] claude ARGS...   speak claude -p --output-format stream-json
       fake [OPTIONS] replay FILE      print a file of output and exit
       fake [OPTIONS] play FILE        be the CLI of a recording
       fake [OPTIONS] events           print numbered, timestamped events
       fake help [COMMAND]

Called by the name codex or claude (a link to this program), it is that CLI.
Options may stand before or right behind the command, of codex and claude anywhere
among the arguments; FAKE_MODE and FAKE_LOG in the environment mean the same:
  --mode LIST   failure modes, comma separated (fake help modes)
  --log FILE    append "TAG start|end|left UNIXNANOS PID" lines; TAG is what
                follows "tag:" in the prompt, left names a process left behind
A prompt says what the scripted model does: [[say: TEXT]] [[shell: CMD]]
[[write: PATH TEXT]] [[mcp: SERVER TOOL JSON]] [[think: TEXT]] [[count: N]]
[[big: BYTES]] [[slow: MS]] [[wait: MS]] [[error: KIND]], and only here
[[mode: LIST]] [[events: N SIZE RATE]].
`

// Main runs a stand-in and returns its exit status. args are os.Args.
func Main(args []string, w World) int {
	// A parent-death signal is tied to the thread that started the child.
	runtime.LockOSThread()
	p := &program{World: w, modes: modes{}}
	if file := os.Getenv("FAKE_PLAY"); file != "" {
		return p.play([]string{file})
	}
	p.modes.add(os.Getenv("FAKE_MODE"))
	p.logFile = os.Getenv("FAKE_LOG")
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if name != "codex" && name != "claude" {
		var rest []string
		if rest = p.options(args[1:]); len(rest) == 0 {
			_, _ = io.WriteString(w.Err, usage)
			return 2
		}
		name, args = rest[0], rest
	}
	return p.command(name, p.options(args[1:]))
}

// program is one run.
type program struct {
	World
	modes   modes
	logFile string
}

// options takes our own options off the front of args.
func (p *program) options(args []string) []string {
	for len(args) > 1 {
		switch args[0] {
		case "--mode":
			p.modes.add(args[1])
		case "--log":
			p.logFile = args[1]
		default:
			return args
		}
		args = args[2:]
	}
	return args
}

// anywhere takes our own options out of a CLI's arguments, for a host that only
// lets arguments be added to its own.
func (p *program) anywhere(args []string) (rest []string) {
	for len(args) > 0 {
		if left := p.options(args); len(left) < len(args) {
			args = left
			continue
		}
		if args[0] == "--" {
			break
		}
		rest, args = append(rest, args[0]), args[1:]
	}
	return append(rest, args...)
}

func (p *program) command(name string, args []string) int {
	switch name {
	case "codex":
		return p.codex(p.anywhere(args))
	case "claude":
		return p.claude(p.anywhere(args))
	case "replay":
		return p.replay(args)
	case "play":
		return p.play(args)
	case "events":
		return p.events(args)
	case "sleep":
		return sleep(args)
	case "help", "--help", "-h":
		return p.help(args)
	}
	_, _ = io.WriteString(p.Err, "fake: unknown command "+name+"\n\n"+usage)
	return 2
}

func (p *program) help(args []string) int {
	text := usage
	if len(args) > 0 {
		switch args[0] {
		case "codex":
			text = codexUsage
		case "claude":
			text = claudeUsage
		case "replay":
			text = replayUsage
		case "play":
			text = playUsage
		case "events":
			text = eventsUsage
		case "modes":
			text = modesUsage
		}
	}
	_, _ = io.WriteString(p.Out, text)
	return 0
}

// prompt reads all of stdin.
func (p *program) prompt() string {
	// A broken pipe gives what was read, as with the real CLIs.
	b, _ := io.ReadAll(p.In)
	return string(b)
}

// complain writes a line to stderr and returns the exit status of the caller.
func (p *program) complain(status int, line string) int {
	_, _ = io.WriteString(p.Err, line+"\n")
	return status
}
