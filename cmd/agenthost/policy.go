package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/server"
)

type policyVerbs struct {
	Check   policyCheckVerb   `cmd:"" help:"Say what is wrong with the policy, and what it most likely does not mean: exit code 0 or 1."`
	Explain policyExplainVerb `cmd:"" help:"Say which statement decides whether a principal may do an operation, and why."`
}

// compiled is the configured policy for the adapters that there are.
func compiled(cfg *config.Config) (*policy.Policy, error) {
	p, err := policy.Compile(cfg.PolicyDocument(), server.PolicyTable(cfg.AdapterNames()))
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return p, nil
}

// rosterOf is what every principal of the configuration may do.
func rosterOf(cfg *config.Config) (*policy.Roster, error) {
	p, err := compiled(cfg)
	if err != nil {
		return nil, err
	}
	return policy.NewRoster(p, members(cfg)), nil
}

// members are the principals that there are; without a token there is one.
func members(cfg *config.Config) []policy.Principal {
	return server.Members(principals(cfg.Auth.Tokens))
}

// shares are what the tokens and the policy give principals of the slots.
func shares(cfg *config.Config, r *policy.Roster) map[string]actors.Share {
	out := map[string]actors.Share{}
	for _, t := range cfg.Auth.Tokens {
		out[t.ID] = actors.Share{Weight: t.Weight, Turns: t.Concurrency}
	}
	for _, m := range members(cfg) {
		s := out[m.ID]
		if most := r.Of(m.ID).Concurrency; most > 0 && (s.Turns == 0 || most < s.Turns) {
			s.Turns = most
		}
		out[m.ID] = s
	}
	return out
}

type policyCheckVerb struct {
	settings
}

// Run prints OK, the doubts, or every problem.
func (v *policyCheckVerb) Run(c *console) error {
	cfg, warnings, err := v.load(nil)
	for _, w := range warnings {
		say(c.err, "warning: %s", w)
	}
	if err != nil {
		code := fail(c.out, exitFailed, err)
		return exit(code, nil)
	}
	d := cfg.PolicyDocument()
	if d == nil {
		say(c.out, "OK (no policy: who has the role dev or admin may do everything, others nothing)")
		return nil
	}
	noun := "statements"
	if len(d.Statements) == 1 {
		noun = "statement"
	}
	say(c.out, "OK (%d %s)", len(d.Statements), noun)
	return nil
}

type policyExplainVerb struct {
	settings
	As   string   `required:"" placeholder:"ID" help:"The principal: the id of a token."`
	Role []string `placeholder:"ROLE" help:"Ask for a principal with these roles instead of those of its token."`
	Op   string   `arg:"" name:"operation" help:"The operation's id, such as responses.create or agents.codex.sessions.create."`
}

// Run prints the decision; that it is a denial is no failure.
func (v *policyExplainVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return exit(exitUsage, err)
	}
	roles, err := v.roles(cfg)
	if err != nil {
		return exit(exitUsage, err)
	}
	p, err := compiled(cfg)
	if err != nil {
		return exit(exitUsage, err)
	}
	if all := server.PolicyTable(cfg.AdapterNames()).All(); !slices.Contains(all, v.Op) {
		return exit(exitUsage, fmt.Errorf("%q is no operation%s; docs/policy.md lists them", v.Op, config.DidYouMean(v.Op, all)))
	}
	e := p.Explain(v.As, roles, v.Op)
	verdict := "denied"
	if e.Allowed {
		verdict = "allowed"
	}
	say(c.out, "%s: %s to %s (%s)", verdict, v.Op, v.As, or(strings.Join(roles, ", "), "no role"))
	switch {
	case e.By == "" && !p.Configured:
		say(c.out, "  there is no policy, and neither the role dev nor admin")
	case e.By == "":
		say(c.out, "  no statement allows it")
	case e.By == policy.Default.ID && !p.Configured:
		say(c.out, "  there is no policy: the roles dev and admin may do everything")
	case !e.Allowed:
		say(c.out, "  by %s, which denies it: %s", e.By, e.Statement)
	default:
		say(c.out, "  by %s: %s", e.By, e.Statement)
	}
	if len(e.Others) > 0 {
		say(c.out, "  also matching: %s", strings.Join(e.Others, ", "))
	}
	for _, r := range e.Rates {
		say(c.out, "  at most %d requests a minute by %s", r.PerMinute, r.Key[strings.IndexByte(r.Key, 0)+1:])
	}
	for _, s := range e.Scope {
		say(c.out, "  within %s", s)
	}
	return nil
}

// roles are those of the principal.
func (v *policyExplainVerb) roles(cfg *config.Config) ([]string, error) {
	if len(v.Role) > 0 {
		return v.Role, nil
	}
	var ids []string
	for _, m := range members(cfg) {
		if m.ID == v.As {
			return m.Roles, nil
		}
		ids = append(ids, m.ID)
	}
	return nil, fmt.Errorf("no token has the id %q; there are %s, and --role says what another would have", v.As, strings.Join(ids, ", "))
}
