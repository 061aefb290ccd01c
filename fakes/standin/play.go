package standin

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const playUsage = `usage: fake [OPTIONS] play [--pace] FILE [-- IGNORED...]

Plays a stream of a recording (agenthost run --record) as the CLI that it is of:
what it wrote to stdout and stderr, and its exit. Of a process that served one turn
stdin is read to its end first; of a dialogue each thing is said when as many lines
as then have been read. --pace keeps the times. What stands behind -- (a CLI's own
arguments) is ignored. With FAKE_PLAY=FILE in the environment every call does this.
`

func (p *program) play(args []string) int {
	pace := len(args) > 0 && args[0] == "--pace"
	if pace {
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--help" {
		return p.help([]string{"play"})
	}
	if len(args) == 0 || len(args) > 1 && args[1] != "--" {
		return p.complain(2, playUsage)
	}
	f, err := os.Open(args[0])
	if err != nil {
		return p.complain(2, "fake play: "+err.Error())
	}
	defer func() { _ = f.Close() }()
	s := stream{in: bufio.NewReader(f), began: time.Now(), pace: pace, program: p, heard: bufio.NewReader(p.In)}
	return s.play()
}

// stream is a recording that is being played.
type stream struct {
	*program
	in, heard *bufio.Reader
	began     time.Time
	pace      bool
	dialogue  bool
}

func (s *stream) play() int {
	head, err := s.in.ReadString('\n')
	driver, ok := strings.CutPrefix(strings.TrimSpace(head), "agenthost-recording 1 ")
	if err != nil || !ok {
		return s.complain(2, "fake play: the file is no recording of format 1")
	}
	if s.dialogue = driver == "persistent"; !s.dialogue {
		_, _ = io.Copy(io.Discard, s.In) // a broken pipe gives what was read
	}
	for {
		line, err := s.in.ReadString('\n')
		words := strings.Fields(line)
		if err != nil || len(words) < 3 {
			return s.complain(2, "fake play: the recording is cut")
		}
		s.wait(words[0])
		if words[1] == "exit" && len(words) == 4 {
			return s.exit(words[2], words[3])
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size < 0 {
			return s.complain(2, "fake play: no piece: "+strings.TrimSpace(line))
		}
		piece := make([]byte, size+1)
		if _, err := io.ReadFull(s.in, piece); err != nil {
			return s.complain(2, "fake play: the recording is cut")
		}
		piece = piece[:size]
		switch words[1] {
		case "stdin":
			if s.dialogue && !s.listen(piece) {
				return 0 // nobody talks to us any more
			}
		case "stdout":
			_, _ = s.Out.Write(piece)
		case "stderr":
			_, _ = s.Err.Write(piece)
		}
	}
}

// wait sleeps until a piece's time.
func (s *stream) wait(ms string) {
	if at, err := strconv.ParseFloat(ms, 64); err == nil && s.pace {
		time.Sleep(time.Until(s.began.Add(time.Duration(at * float64(time.Millisecond)))))
	}
}

// listen reads as many lines as were told then.
func (s *stream) listen(told []byte) bool {
	for _, c := range told {
		if c != '\n' {
			continue
		}
		if _, err := s.heard.ReadString('\n'); err != nil {
			return false
		}
	}
	return true
}

// exit ends like the recorded process. A dialogue goes on until nobody talks: how it
// ended then was not its own doing.
func (s *stream) exit(code, signalled string) int {
	if s.dialogue {
		_, _ = io.Copy(io.Discard, s.heard)
		return 0
	}
	if signalled != "-" {
		sig, ok := signals[signalled]
		if !ok {
			sig = syscall.SIGKILL
		}
		signal.Reset(sig)
		_ = syscall.Kill(os.Getpid(), sig)
		time.Sleep(forever)
	}
	n, err := strconv.Atoi(code)
	if err != nil {
		return s.complain(2, "fake play: no exit: "+code)
	}
	return n
}

var signals = map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "SIGSEGV": syscall.SIGSEGV, "SIGABRT": syscall.SIGABRT}
