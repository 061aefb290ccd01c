package config

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
)

// Policy is who may do what: a list of statements, the name of a preset, or a map of
// both and a file of more.
type Policy struct {
	Preset     string      `yaml:"preset" help:"statements that come with the program"`
	File       string      `yaml:"file" help:"further statements; in a file a relative path counts from the directory of that file"`
	Statements []Statement `yaml:"statements"`
}

// Statement is one statement of the policy.
type Statement struct {
	ID         string          `yaml:"id"`
	Allow      Words           `yaml:"allow"`
	Deny       Words           `yaml:"deny"`
	Principals Words           `yaml:"principals"`
	Limits     StatementLimits `yaml:"limits"`
	Scope      Scope           `yaml:"scope"`
}

// StatementLimits bound what a statement allows.
type StatementLimits struct {
	Concurrency       int `yaml:"concurrency"`
	RequestsPerMinute int `yaml:"requests_per_minute"`
}

// Scope narrows the agents that a statement allows.
type Scope struct {
	Workdir       Words         `yaml:"workdir"`
	Permissions   string        `yaml:"permissions" enum:"read_only,workspace_write,full_access,ask"`
	Commands      Words         `yaml:"commands"`
	Models        Words         `yaml:"models"`
	MaxTurns      int           `yaml:"max_turns"`
	Timeout       time.Duration `yaml:"timeout"`
	MaxOutput     Size          `yaml:"max_output"`
	LLMHosts      Words         `yaml:"llm_hosts"`
	MCP           Words         `yaml:"mcp"`
	Env           Words         `yaml:"env"`
	ShareSessions string        `yaml:"share_sessions"`
	UnconfinedOK  *bool         `yaml:"unconfined_ok"`
}

// Words is a list of texts, of which one may stand alone.
type Words []string

func (w *Words) short() reflect.Value {
	*w = make(Words, 1)
	return reflect.ValueOf(w).Elem().Index(0)
}

func (p *Policy) listed() reflect.Value { return structOf(&p.Statements) }
func (p *Policy) short() reflect.Value  { return structOf(&p.Preset) }

// statement is s as it is evaluated.
func (s *Statement) statement() policy.Statement {
	c := &s.Scope
	return policy.Statement{
		ID: s.ID, Allow: s.Allow, Deny: s.Deny, Principals: s.Principals,
		Limits: policy.Limits{Concurrency: s.Limits.Concurrency, RequestsPerMinute: s.Limits.RequestsPerMinute},
		Scope: policy.Scope{
			Workdir: c.Workdir, Permissions: spec.Permissions(c.Permissions), Commands: c.Commands, Models: c.Models, MaxTurns: c.MaxTurns,
			Timeout: c.Timeout, MaxOutput: int64(c.MaxOutput), LLMHosts: c.LLMHosts, MCP: c.MCP, Env: c.Env,
			ShareSessions: c.ShareSessions, UnconfinedOK: c.UnconfinedOK,
		},
	}
}

// PolicyDocument is the policy that was configured, nil without one.
func (c *Config) PolicyDocument() *policy.Document { return c.document }

// Members are the principals with a token, as a policy knows them.
func (c *Config) Members() []policy.Principal {
	out := make([]policy.Principal, len(c.Auth.Tokens))
	for i, t := range c.Auth.Tokens {
		out[i] = policy.Principal{ID: t.ID, Roles: t.Roles}
	}
	return out
}

// AdapterNames are those of all adapters.
func (c *Config) AdapterNames() []string { return c.Agents.names() }

// policed says that there is a policy, which decides what roles mean.
func (l *loader) policed() bool {
	p := &l.cfg.Policy
	return p.Preset != "" || p.File != "" || len(p.Statements) > 0 || l.cfg.document != nil
}

// whence is where a statement of the whole document was written.
type whence struct {
	key     string
	origins map[string]origin
	preset  bool // it came with the program
}

func (w *whence) problem(f policy.Fault, rest string) Problem {
	at := loader{origins: w.origins}
	o := at.origin(w.key + rest)
	return Problem{Source: o.source, Line: o.line, Key: w.key + rest, Value: f.Value, What: f.What, Remedy: f.Remedy}
}

// checkPolicy joins what the configuration, its file and its preset say, and judges
// that.
func (l *loader) checkPolicy() {
	p := &l.cfg.Policy
	if !l.policed() {
		return
	}
	var from []whence
	whole := whence{key: "policy", origins: l.origins}
	doc := l.cfg.document // of ABX_SERVER_POLICY
	switch {
	case doc != nil && (p.Preset != "" || p.File != "" || len(p.Statements) > 0):
		l.fault("policy", "", "stands beside the policy of ABX_SERVER_POLICY or ABX_SERVER_POLICY_FILE", "keep one of both")
		return
	case doc != nil:
		whole = whence{key: "endpoints", origins: map[string]origin{"endpoints": {source: l.policySource()}}}
		for range doc.Statements {
			from = append(from, whole)
		}
	default:
		doc = &policy.Document{}
		inline := "policy"
		if _, mapped := l.origins["policy.statements"]; mapped {
			inline = "policy.statements"
		}
		for i := range p.Statements {
			doc.Statements = append(doc.Statements, p.Statements[i].statement())
			from = append(from, whence{key: fmt.Sprintf("%s[%d]", inline, i), origins: l.origins})
		}
		if p.File != "" {
			from = append(from, l.policyFile(doc)...)
		}
		if p.Preset != "" {
			preset, ok := policy.Preset(p.Preset)
			if !ok {
				l.fault("policy.preset", p.Preset, "is no preset", suggest(p.Preset, policy.Presets()))
			}
			for range preset.Statements {
				from = append(from, whence{key: "policy", origins: l.origins, preset: true})
			}
			doc.Statements = append(doc.Statements, preset.Statements...)
		}
	}
	place := func(f policy.Fault) (*whence, Problem) {
		i, rest := placeOf(f.Path)
		w := &whole
		if i >= 0 && i < len(from) {
			w = &from[i]
		}
		return w, w.problem(f, rest)
	}
	if err := doc.Validate(); err != nil {
		for _, f := range faults(err) {
			_, one := place(f)
			l.problems.add(one)
		}
		return
	}
	l.cfg.document = doc
	if len(l.src.Operations) == 0 {
		return
	}
	table := l.policyTable()
	for _, f := range doc.Lint(table, l.cfg.Members()) {
		if f.What == policy.MatchesNothing {
			f.Remedy = cmp.Or(l.meant(f.Value, table), f.Remedy)
		}
		w, one := place(f)
		switch {
		case w.preset: // it is right wherever there is less than it knows of
		case !f.Doubt:
			l.problems.add(one)
		case len(l.cfg.Auth.Tokens) > 0: // without a token, nothing is known of who comes
			l.warn(one.String())
		}
	}
}

func faults(err error) policy.Faults {
	f, ok := err.(policy.Faults) //nolint:errorlint // Validate's own
	if !ok {
		f = policy.Faults{{What: err.Error()}}
	}
	return f
}

// placeOf cuts "[3].allow[0]" into the number and the rest.
func placeOf(path string) (i int, rest string) {
	number, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	i, err := strconv.Atoi(number)
	if !ok || err != nil {
		return -1, path
	}
	return i, rest
}

func (l *loader) policyTable() policy.Table {
	t := policy.Table{Adapters: l.cfg.Agents.names()}
	for _, o := range l.src.Operations {
		t.Operations = append(t.Operations, o.ID)
	}
	return t
}

// meant is what a pattern that matches nothing was to be, "" when that is not known.
func (l *loader) meant(pattern string, t policy.Table) string {
	words := strings.Split(pattern, ".")
	if len(words) > 1 {
		if real := l.src.Aliases[words[1]]; real != "" {
			words[1] = real
			return fmt.Sprintf("an alias means nothing here; write %q", strings.Join(words, "."))
		}
	}
	tail := ""
	if strings.HasSuffix(pattern, ".**") {
		pattern, tail = strings.TrimSuffix(pattern, ".**"), ".**"
	}
	var known []string
	for _, op := range t.All() {
		known = append(known, op)
		if tail != "" {
			known[len(known)-1] = op[:strings.LastIndexByte(op, '.')]
		}
	}
	if near := nearest(pattern, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near+tail)
	}
	return ""
}

// policyFile adds the statements of policy.file.
func (l *loader) policyFile(doc *policy.Document) (from []whence) {
	l.cfg.Policy.File = l.directory("policy.file", l.cfg.Policy.File)
	path := l.cfg.Policy.File
	data, err := os.ReadFile(path)
	if err != nil {
		o := l.origin("policy.file")
		p := unreadable(o.source, path, err)
		p.Line, p.Key = o.line, "policy.file"
		l.problems.add(p)
		return nil
	}
	var list []Statement
	d := &decoder{file: path, env: l.lookup, origins: map[string]origin{}}
	d.decode(data, structOf(&list))
	l.problems = append(l.problems, d.problems...)
	for i := range list {
		s := list[i].statement()
		s.ID = cmp.Or(s.ID, fmt.Sprintf("file[%d]", i))
		doc.Statements = append(doc.Statements, s)
		from = append(from, whence{key: fmt.Sprintf("[%d]", i), origins: d.origins})
	}
	return from
}
