package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/argv"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// nameable are the failures that a CLI can know of.
var nameable = []event.Code{
	event.AuthenticationError, event.RateLimited, event.UsageLimited, event.ModelNotFound, event.ContextTooLong,
	event.MaxOutputTokens, event.ProviderOverloaded, event.ProviderUnreachable, event.InvalidRequest, event.ResumeLost,
	event.TurnLimit, event.BudgetReached, event.WorkspaceUnavail, event.CLICrashed,
}

func (c *Config) checkExit(p *problems) {
	if c.Exit.Success != nil && !c.exitDecides() {
		p.add("exit.success", "the output tells of success here; this is for output.format text, and for jsonl without done_path")
	}
	for i, status := range c.Exit.Success {
		if status < 0 || status > 255 {
			p.add(fmt.Sprintf("exit.success[%d]", i), "%d is no exit status; they are 0 to 255", status)
		}
	}
	for _, status := range argv.Sorted(c.Exit.Failures) {
		key, code := "exit.failures."+status, c.Exit.Failures[status]
		n, err := strconv.Atoi(status)
		switch {
		case err != nil || n < 0 || n > 255 || strconv.Itoa(n) != status:
			p.add(key, "%q is no exit status; they are 0 to 255", status)
		case n == 0 && !c.exitDecides():
			p.add(key, "the output tells of success here, and of failure with status 0")
		case c.exitDecides() && c.success(n):
			p.add(key, "%d means success; exit.success names what does, and 0 without it", n)
		}
		if !slices.Contains(nameable, event.Code(code)) {
			p.add(key, "%q is no failure that a program can name; they are %s", code, codes())
		}
	}
}

func codes() string {
	names := make([]string, len(nameable))
	for i, c := range nameable {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

// exitDecides says that nothing in the output tells of success.
func (c *Config) exitDecides() bool {
	return c.Output.Format == formatText || c.Output.Format == formatJSONL && c.JSONL.Done == ""
}

// success says that the status is one of a turn that succeeded.
func (c *Config) success(status int) bool {
	if c.Exit.Success == nil {
		return status == 0
	}
	return slices.Contains(c.Exit.Success, status)
}

// failure is what the definition says of the status.
func (c *Config) failure(status int) (code event.Code, named bool) {
	word, named := c.Exit.Failures[strconv.Itoa(status)]
	return event.Code(word), named
}

// exiting judges the exit of a run whose output gave no verdict. What it leaves open
// is the engine's to judge: a bad exit is a crash.
type exiting struct {
	agent.Parser
	name    string
	cfg     *Config
	verdict bool
}

// Feed reads one line.
func (e *exiting) Feed(line []byte, out *agent.Batch) {
	before := len(out.Facts)
	e.Parser.Feed(line, out)
	e.look(out.Facts[before:])
}

func (e *exiting) look(facts []agent.Fact) {
	e.verdict = e.verdict || slices.ContainsFunc(facts, func(f agent.Fact) bool { return f.Kind == agent.FactVerdict })
}

// Close judges the exit: by the definition's rules, then by what was written to
// standard error.
func (e *exiting) Close(exit agent.Exit, out *agent.Batch) {
	before := len(out.Facts)
	e.Parser.Close(exit, out)
	if e.look(out.Facts[before:]); e.verdict || exit.Signal != "" {
		return
	}
	said := tail(exit.Stderr)
	code, named := e.cfg.failure(exit.Code)
	switch {
	case named:
	case exit.Code == 0 && e.cfg.exitDecides() && !e.cfg.success(0):
		code = event.CLICrashed
	case exit.Code != 0:
		if code = reason.Code(said, event.CLICrashed); code == event.CLICrashed {
			return
		}
	default:
		return
	}
	text := fmt.Sprintf("%s ended with exit status %d", e.name, exit.Code)
	if said != "" {
		text += ": " + said
	}
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Failed, Failure: reason.Failure(code, text)}})
}

// maxSaid bounds what of standard error is told, and read for a reason.
const maxSaid = 1500

func tail(stderr string) string {
	s := strings.TrimSpace(strings.ToValidUTF8(stderr, "\uFFFD"))
	if len(s) > maxSaid {
		s = "..." + strings.ToValidUTF8(s[len(s)-maxSaid:], "")
	}
	return s
}
