package floor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// CLI is a program that reads a prompt from standard input.
type CLI struct {
	Path string
	Args []string
	Dir  string
	Env  []string // the whole environment
}

func (c CLI) command(prompt string) (*exec.Cmd, io.ReadCloser, error) {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdin = strings.NewReader(prompt)
	cmd.Stderr = new(bytes.Buffer)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	return cmd, out, err
}

// Spawn runs the CLI once and gives what it printed to see, as it comes, with the
// time it was read. The CLI's exit status other than 0 is an error.
func (c CLI) Spawn(prompt string, see func(at time.Time, b []byte)) error {
	cmd, out, err := c.command(prompt)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := out.Read(buf)
		if n > 0 {
			see(time.Now(), buf[:n])
		}
		if err != nil {
			break
		}
	}
	return cmd.Wait()
}

// Environ is the environment of a CLI with a home of its own.
func Environ(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "CODEX_HOME=" + home + "/codex", "CLAUDE_CONFIG_DIR=" + home + "/claude"}
}

var errShort = errors.New("floor: the request is no line of a reader count and a prompt")
