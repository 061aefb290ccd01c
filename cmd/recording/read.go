package recording

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
)

// Piece is what passed through a pipe at once.
type Piece struct {
	At      time.Duration
	Through actors.Pipe
	Bytes   []byte
}

// Stream is what passed through the pipes of one process.
type Stream struct {
	Driver string
	Pieces []Piece
	Exit   agent.Exit
}

// Recording is a recording as it was written.
type Recording struct {
	About
	Streams []*Stream
	Events  [][]byte
}

// Read reads a recording.
func Read(dir string) (*Recording, error) {
	r := &Recording{}
	text, err := os.ReadFile(filepath.Join(dir, aboutFile))
	if err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	if err := json.Unmarshal(text, &r.About); err != nil {
		return nil, fmt.Errorf("read the recording: %s: %w", aboutFile, err)
	}
	for _, p := range r.Processes {
		if p.Stream != filepath.Base(p.Stream) {
			return nil, fmt.Errorf("read the recording: %q is no file of it", p.Stream)
		}
		text, err := os.ReadFile(filepath.Join(dir, p.Stream))
		if err != nil {
			return nil, fmt.Errorf("read the recording: %w", err)
		}
		s, err := ParseStream(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("read the recording: %s: %w", p.Stream, err)
		}
		r.Streams = append(r.Streams, s)
	}
	if text, err = os.ReadFile(filepath.Join(dir, eventsFile)); err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	if text = bytes.TrimSuffix(text, []byte("\n")); len(text) > 0 {
		r.Events = bytes.Split(text, []byte("\n"))
	}
	return r, nil
}

var pipes = map[string]actors.Pipe{"stdin": actors.Stdin, "stdout": actors.Stdout, "stderr": actors.Stderr}

// ParseStream reads a stream to its end.
func ParseStream(from io.Reader) (*Stream, error) {
	in := bufio.NewReader(from)
	s := &Stream{}
	head, err := in.ReadString('\n')
	if n, _ := fmt.Sscanf(head, "agenthost-recording 1 %s\n", &s.Driver); n != 1 || err != nil {
		return nil, fmt.Errorf("it does not begin as a recording of format 1: %.60q", head)
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("it ends without an exit after %d pieces", len(s.Pieces))
		}
		words := strings.Fields(line)
		var ms float64
		if len(words) < 3 {
			return nil, fmt.Errorf("no piece begins with %.60q", line)
		}
		if _, err := fmt.Sscan(words[0], &ms); err != nil {
			return nil, fmt.Errorf("no time: %.60q", line)
		}
		if words[1] == "exit" && len(words) == 4 {
			if _, err := fmt.Sscan(words[2], &s.Exit.Code); err != nil {
				return nil, fmt.Errorf("no exit: %.60q", line)
			}
			if words[3] != "-" {
				s.Exit.Signal = words[3]
			}
			return s, nil
		}
		var size int
		through := pipes[words[1]]
		if _, err := fmt.Sscan(words[2], &size); err != nil || through == 0 || size < 0 || size > maxPiece {
			return nil, fmt.Errorf("no piece: %.60q", line)
		}
		var p bytes.Buffer // grows with what is there, whatever is said
		if _, err := io.CopyN(&p, in, int64(size)+1); err != nil || p.Bytes()[size] != '\n' {
			return nil, fmt.Errorf("a piece of %d bytes is cut", size)
		}
		s.Pieces = append(s.Pieces, Piece{time.Duration(ms * float64(time.Millisecond)), through, p.Bytes()[:size]})
	}
}

// maxPiece bounds what is believed of a size.
const maxPiece = 1 << 30
