package standin

import (
	"strconv"
	"strings"
	"time"
)

const modesUsage = `Failure modes (--mode, FAKE_MODE or [[mode: LIST]] in the prompt; several with commas):
  ignore-int          SIGINT does nothing
  ignore-term         SIGTERM does nothing
  ignore-signals      both
  silent              nothing after the start of the turn, for ever
  mute                nothing at all, for ever
  slow-start=MS       wait before the first line
  linger              the whole turn, then the process never exits
  exit=N              the whole turn, then exit status N
  exit-unread=N       stdin unread, one line on stderr, exit status N (default 3)
  close-stdin         stdin closed unread, then a turn
  crash               killed by SIGKILL in the middle of the turn
  crash-exit=N        exit status N in the middle of the turn (default 1)
  no-result           no terminal line, exit 0
  after-terminal      more lines behind the terminal one
  escape              leave a process in a session of its own behind
  hold-stdout         leave a child behind that holds stdout and stderr
  orphans             leave short-lived reparented children behind
  stderr-flood        1 MiB on stderr before each line
  stderr=TEXT         TEXT on stderr first
  huge-line=BYTES     a line of that size in the middle (default 12 MiB)
  many-lines=N        N lines of 10 KiB in the middle (default 3000)
  bytes               every byte in a write of its own
  no-final-newline    the last line is not ended
  echo                answer with argv, stdin, cwd and environment in hex
exit-unread, close-stdin, mute, slow-start and stderr come before the prompt is
read, so a prompt cannot ask for them.
`

// modes are failure modes by name, with their arguments.
type modes map[string]string

func (m modes) add(list string) {
	for entry := range strings.SplitSeq(list, ",") {
		name, arg, _ := strings.Cut(strings.TrimSpace(entry), "=")
		if name == "ignore-signals" {
			m["ignore-int"], m["ignore-term"] = "", ""
		} else if name != "" {
			m[name] = arg
		}
	}
}

func (m modes) has(name string) bool { _, ok := m[name]; return ok }

// number is a mode's argument, or what is usual.
func (m modes) number(name string, usual int) int {
	if n, err := strconv.Atoi(m[name]); err == nil {
		return n
	}
	return usual
}

// forever outlasts any test.
const forever = 10 * time.Minute

// unknown names the modes that do not exist.
func (m modes) unknown() (names []string) {
	for name := range m {
		if !strings.Contains(modesUsage, "\n  "+name+" ") && !strings.Contains(modesUsage, "\n  "+name+"=") {
			names = append(names, name)
		}
	}
	return names
}
