package standin

import (
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

const replayUsage = `usage: fake [OPTIONS] replay [--exit N] [--delay DURATION] [--stderr FILE] FILE [-- IGNORED...]

Reads stdin to its end, copies FILE to stdout byte for byte and exits. With
--delay each line is a write of its own with a pause before it. --stderr copies a
file to stderr first. What stands behind -- (a CLI's own arguments) is ignored.
`

func (p *program) replay(args []string) int {
	var (
		exit                int
		delay               time.Duration
		stderrFile, content string
		err                 error
	)
	for len(args) > 0 && err == nil && args[0] != "--" {
		name, rest := args[0], args[1:]
		if !strings.HasPrefix(name, "--") {
			content, args = name, rest
			continue
		}
		if name == "--help" || len(rest) == 0 {
			return p.help([]string{"replay"})
		}
		switch name {
		case "--exit":
			exit, err = strconv.Atoi(rest[0])
		case "--delay":
			delay, err = time.ParseDuration(rest[0])
		case "--stderr":
			stderrFile = rest[0]
		default:
			return p.complain(2, "fake replay: unknown option "+name)
		}
		args = rest[1:]
	}
	if err != nil || content == "" {
		return p.complain(2, replayUsage)
	}
	if status, ended := p.early(); ended {
		return status
	}
	log := runLog{file: p.logFile, tag: tagOf(p.prompt())}
	log.note("start")
	defer log.note("end")
	if stderrFile != "" {
		b, err := os.ReadFile(stderrFile)
		if err != nil {
			return p.complain(2, "fake replay: "+err.Error())
		}
		_, _ = p.Err.Write(b)
	}
	b, err := os.ReadFile(content)
	if err != nil {
		return p.complain(2, "fake replay: "+err.Error())
	}
	if delay == 0 {
		_, _ = p.Out.Write(b)
		return exit
	}
	for line := range strings.Lines(string(b)) {
		time.Sleep(delay)
		_, _ = io.WriteString(p.Out, line)
	}
	return exit
}
