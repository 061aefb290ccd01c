package turn

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// stderrTail is how many characters of standard error a failure shows.
const stderrTail = 1500

func (t *Turn) name() string {
	if t.cfg.Adapter == "" {
		return "the CLI"
	}
	return t.cfg.Adapter
}

func orElse(f *event.Failure, code event.Code, message string) *event.Failure {
	if f != nil {
		return f
	}
	return event.Fail(code, message)
}

func stopFailure(f *event.Failure) *event.Failure {
	return orElse(f, event.ServerStopped, "the server stopped before the turn had ended; send the input again")
}

// judged is the outcome that a verdict states; one that contradicts itself is
// read as a failure.
func (t *Turn) judged(v *agent.Verdict) (event.Outcome, *event.Failure) {
	switch {
	case v.Outcome == event.Cancelled:
		return event.Cancelled, nil
	case v.Outcome == event.Completed && v.Failure == nil:
		return event.Completed, nil
	case v.Outcome == 0 && v.Failure == nil:
		return event.Completed, nil
	case v.Failure != nil && v.Failure.Code == event.BudgetReached:
		return event.Failed, t.stoppedByItself(v)
	}
	if f := v.Failure; f != nil && f.Code == event.ProviderUnreachable && t.cfg.Provider != "" {
		told := *f
		told.Message += "; " + t.cfg.Provider
		return event.Failed, &told
	}
	return event.Failed, orElse(v.Failure, event.CLICrashed, t.name()+" said that the turn failed and gave no reason")
}

func (t *Turn) outOfTime(where string) *event.Failure {
	return event.Fail(event.TurnTimeout, fmt.Sprintf(
		"the turn ran longer than its limit of %s %s; ask for less at once or raise turn_timeout", t.cfg.TurnTimeout, where))
}

func silent(name string, limit time.Duration) *event.Failure {
	return event.Fail(event.IdleTimeout, fmt.Sprintf(
		"%s wrote nothing for %s with no tool running and was ended; raise idle_timeout if it needs longer", name, limit))
}

func outputLimit(name string, limit int64) *event.Failure {
	return event.Fail(event.OutputLimit, fmt.Sprintf(
		"%s wrote more than %d bytes in one turn and was ended; raise max_output_bytes if it needs more", name, limit))
}

func noVerdict(name string, e agent.Exit, lineLost int64) *event.Failure {
	text := name + " ended with exit status 0 and no terminal event, so whether it was done is not known; what it said is kept"
	if lineLost > 0 {
		text += fmt.Sprintf(" (a line of %d bytes was too long to read and may have been it; raise max_line_bytes)", lineLost)
	}
	return event.Fail(event.NoVerdict, text+stderrOf(e))
}

func crashed(name string, e agent.Exit) *event.Failure {
	text := stderrOf(e)
	if text == "" {
		text = "; it wrote nothing to standard error"
	}
	return event.Fail(event.CLICrashed, fmt.Sprintf("%s ended before its turn did (%s)%s", name, exitText(e), text))
}

// stderrOf shows the end of standard error, cut between characters.
func stderrOf(e agent.Exit) string {
	s := strings.TrimSpace(valid(e.Stderr))
	if s == "" {
		return ""
	}
	at := len(s)
	for range stderrTail {
		if at == 0 {
			break
		}
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	if at > 0 {
		return "; the end of its standard error:\n" + s[at:]
	}
	return "; its standard error:\n" + s
}

func exitText(e agent.Exit) string {
	switch {
	case e.Signal != "":
		return "signal: " + e.Signal
	case e.Code < 0:
		return "exit status unknown"
	default:
		return fmt.Sprintf("exit status %d", e.Code)
	}
}

func droppedLine(n int64) string {
	return fmt.Sprintf("a line of %d bytes was longer than max_line_bytes and was not read", n)
}
