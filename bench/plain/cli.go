package plain

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// CLI says which program runs a turn and how it is called.
type CLI struct {
	Path    string
	Dialect string // codex or claude
	Dir     string
	// Log, when set, is the file that the stand-in notes its runs in.
	Log string
}

func (c CLI) args(native string) []string {
	args := c.call(native)
	if c.Log != "" {
		args = append([]string{"--log", c.Log}, args...)
	}
	return args
}

func (c CLI) call(native string) []string {
	if c.Dialect == "claude" {
		args := []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"}
		if native != "" {
			args = append(args, "--resume", native)
		}
		return args
	}
	if native != "" {
		return []string{"exec", "resume", "--json", "--skip-git-repo-check", native, "-"}
	}
	return []string{"exec", "--json", "--skip-git-repo-check", "-"}
}

// line is the part of both dialects that this host shows.
type line struct {
	Type      string `json:"type"`
	ThreadID  string `json:"thread_id"`
	SessionID string `json:"session_id"`
	Item      struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Event struct {
		Type  string `json:"type"`
		Delta struct {
			Text string `json:"text"`
		} `json:"delta"`
	} `json:"event"`
	IsError bool `json:"is_error"`
}

// run runs one turn and says how it ended.
func (c CLI) run(ctx context.Context, s *session, p prompt) (status string) {
	cmd := exec.CommandContext(ctx, c.Path, c.args(s.native)...)
	cmd.Dir = c.Dir
	cmd.Stdin = strings.NewReader(p.text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "failed"
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "failed"
	}
	if err := cmd.Start(); err != nil {
		return "failed"
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, stderr)
	}()
	status = "failed"
	r := bufio.NewReaderSize(stdout, 64<<10)
	for {
		text, err := r.ReadBytes('\n')
		if len(text) > 1 {
			var l line
			if json.Unmarshal(text, &l) == nil {
				if end := s.show(p, &l); end != "" {
					status = end
				}
			}
		}
		if err != nil {
			break
		}
	}
	<-drained
	if cmd.Wait() != nil || ctx.Err() != nil {
		status = "failed"
	}
	return status
}

// show adds what a line says; it returns how the turn ends by it, "" when it does not.
func (s *session) show(p prompt, l *line) string {
	switch {
	case l.ThreadID != "":
		s.native = l.ThreadID
	case l.Type == "system" && l.SessionID != "":
		s.native = l.SessionID
	case l.Type == "item.completed" && l.Item.Type == "agent_message":
		s.add(body{Type: "message", Turn: p.turn, Text: l.Item.Text})
	case l.Type == "stream_event" && l.Event.Type == "content_block_delta":
		s.add(body{Type: "message", Turn: p.turn, Text: l.Event.Delta.Text})
	case l.Type == "turn.completed", l.Type == "result" && !l.IsError:
		return "completed"
	}
	return ""
}
