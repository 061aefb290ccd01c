package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Bounds are the scopes of several allows together: each of them holds. The zero
// value, and nil, bound nothing. Bounds are not changed once they are made.
type Bounds struct {
	// MaxTurns, Timeout and MaxOutput are 0 without a bound.
	MaxTurns  int
	Timeout   time.Duration
	MaxOutput int64

	// A value must be in every one of a field's lists.
	workdir, commands, models, llmHosts, mcp, env [][]string
	// ceilings are what permissions has to be below of.
	ceilings   []spec.Permissions
	unconfined bool // it is refused
}

// boundsOf joins scopes; nil when none of them bounds anything.
func boundsOf(scopes []*Scope) *Bounds {
	var b Bounds
	any := false
	for _, s := range scopes {
		if s.isZero() {
			continue
		}
		any = true
		b.MaxTurns = int(stricter(int64(b.MaxTurns), int64(s.MaxTurns)))
		b.Timeout = time.Duration(stricter(int64(b.Timeout), int64(s.Timeout)))
		b.MaxOutput = stricter(b.MaxOutput, s.MaxOutput)
		for _, l := range []struct {
			to   *[][]string
			list []string
		}{{&b.workdir, s.Workdir}, {&b.commands, s.Commands}, {&b.models, s.Models}, {&b.llmHosts, s.LLMHosts}, {&b.mcp, s.MCP}, {&b.env, s.Env}} {
			if l.list != nil {
				*l.to = append(*l.to, l.list)
			}
		}
		if s.Permissions != "" && !slices.Contains(b.ceilings, s.Permissions) {
			b.ceilings = append(b.ceilings, s.Permissions)
		}
		b.unconfined = b.unconfined || s.UnconfinedOK != nil && !*s.UnconfinedOK
	}
	if !any {
		return nil
	}
	slices.Sort(b.ceilings)
	return &b
}

// stricter is the smaller of two bounds, of which 0 is none.
func stricter(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// within reports whether p may be had below the ceiling: read_only below all, and
// full_access only below itself. An agent that asks may be let do anything, so ask
// is not below workspace_write; nor is that below ask, which lets nothing pass
// unasked.
func within(ceiling, p spec.Permissions) bool {
	return ceiling == spec.FullAccess || ceiling == p || p == spec.ReadOnly
}

// refused is the refusal of one field of a request.
func refused(param, format string, args ...any) error {
	return event.FailParam(event.PermissionDenied, param, fmt.Sprintf(format, args...))
}

// shown lists what would be allowed.
func shown(lists [][]string) string {
	var parts []string
	for _, l := range lists {
		if len(l) == 0 {
			return "none"
		}
		cut := l
		if len(cut) > 16 {
			cut = append(slices.Clone(l[:16]), "...")
		}
		parts = append(parts, strings.Join(cut, ", "))
	}
	return strings.Join(parts, "; and of these ")
}

func inAll(lists [][]string, is func(string) bool) bool {
	for _, l := range lists {
		if !slices.ContainsFunc(l, is) {
			return false
		}
	}
	return true
}

// Workspace refuses a directory outside scope.workdir. dir is clean and absolute.
func (b *Bounds) Workspace(param, dir string) error {
	if b == nil || inAll(b.workdir, func(root string) bool { return root == "/" || dir == root || strings.HasPrefix(dir, root+"/") }) {
		return nil
	}
	return refused(param, "the policy lets you work in %s only (scope.workdir)", shown(b.workdir))
}

// Workdirs are the lists that a workspace has to be in one directory each of.
func (b *Bounds) Workdirs() [][]string {
	if b == nil {
		return nil
	}
	return b.workdir
}

// Ceiling is the most that an agent may have of what was configured for it: p if the
// bounds take it, else less.
func (b *Bounds) Ceiling(p spec.Permissions) spec.Permissions {
	for _, less := range []spec.Permissions{p, spec.WorkspaceWrite} {
		if (less == p || p == spec.FullAccess) && b.permits(less) {
			return less
		}
	}
	return spec.ReadOnly
}

func (b *Bounds) permits(p spec.Permissions) bool {
	return b == nil || !slices.ContainsFunc(b.ceilings, func(c spec.Permissions) bool { return !within(c, p) })
}

// Permissions refuses those that somebody asked for and the bounds do not take.
func (b *Bounds) Permissions(param string, p spec.Permissions) error {
	if b.permits(p) {
		return nil
	}
	most := make([]string, len(b.ceilings))
	for i, c := range b.ceilings {
		most[i] = string(c)
	}
	return refused(param, "the policy gives you no permissions %s; the most is %s (scope.permissions)", p, strings.Join(most, " and "))
}

// Unconfined refuses a turn that nothing confines.
func (b *Bounds) Unconfined(adapter string, p spec.Permissions) error {
	if b == nil || !b.unconfined {
		return nil
	}
	return refused("permissions", "adapter %s does not confine %s, which the policy asks for (scope.unconfined_ok: false); use read_only or an agent whose CLI confines it", adapter, p)
}

// Command refuses a program that an adapter of one's own would start.
func (b *Bounds) Command(program string) error {
	if b == nil || inAll(b.commands, func(c string) bool { return c == program || !strings.Contains(c, "/") && c == path.Base(program) }) {
		return nil
	}
	return refused("model", "the policy does not let you run the command %s (scope.commands); allowed: %s", path.Base(program), shown(b.commands))
}

// Model refuses a model. "" is the CLI's own choice, which nothing is known of.
func (b *Bounds) Model(param, model string) error {
	if b == nil || len(b.models) == 0 || model != "" && inAll(b.models, func(m string) bool { return glob(m, model) }) {
		return nil
	}
	if model == "" {
		return refused(param, "the policy lets you use certain models only, so name one: %s (scope.models)", shown(b.models))
	}
	return refused(param, "the policy does not let you use the model %.100s (scope.models); allowed: %s", model, shown(b.models))
}

// LLMHost refuses a provider that a caller names. Without a list none may be named.
func (b *Bounds) LLMHost(param, host string) error {
	if b != nil && len(b.llmHosts) > 0 && inAll(b.llmHosts, func(p string) bool { return spec.MatchHost(p, host) }) {
		return nil
	}
	return refused(param, "the policy does not let you name the provider %.100s; its operator lists the allowed ones (scope.llm_hosts)", host)
}

// MCP are the scopes that a caller's MCP server has to be in each of; has is false
// when no statement says anything of them.
func (b *Bounds) MCP() (lists [][]string, has bool) {
	if b == nil {
		return nil, false
	}
	return b.mcp, len(b.mcp) > 0
}

// Env refuses a variable that a caller sets.
func (b *Bounds) Env(param, name string) error {
	if b == nil || inAll(b.env, func(p string) bool { return glob(p, name) }) {
		return nil
	}
	return refused(param, "the policy does not let you set the variable %.100s (scope.env); allowed: %s", name, shown(b.env))
}

// Limits are l below the bounds.
func (b *Bounds) Limits(l spec.Limits) spec.Limits {
	if b == nil {
		return l
	}
	l.MaxTurns = int(stricter(int64(l.MaxTurns), int64(b.MaxTurns)))
	l.TurnTimeout = time.Duration(stricter(int64(l.TurnTimeout), int64(b.Timeout)))
	l.OutputBytes = stricter(l.OutputBytes, b.MaxOutput)
	return l
}
