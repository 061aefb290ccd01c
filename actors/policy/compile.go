package policy

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// Builtin is what every policy begins with.
var Builtin = Statement{ID: "built-in", Allow: []string{"server.**"}, Principals: []string{Everyone}}

// Default is what holds where nobody wrote a policy.
var Default = Statement{ID: "default", Allow: []string{"**"}, Principals: []string{"role:admin", "role:dev"}}

// Table is what there is to decide about.
type Table struct {
	// Operations are the ids of routes, Adapters the names of mounted adapters.
	Operations, Adapters []string
}

// All are the operations of routes and of adapters.
func (t Table) All() []string {
	out := slices.Clone(t.Operations)
	for _, a := range t.Adapters {
		for v := range verbs {
			out = append(out, v.Operation(a))
		}
	}
	return out
}

// Policy is a compiled document. It is not changed.
type Policy struct {
	// Configured is false for what holds where nobody wrote one.
	Configured bool

	statements []Statement // Builtin first
	table      Table
}

// Compile joins a document with what there is; nil is no document, and Default holds.
// The error is Faults.
func Compile(d *Document, t Table) (*Policy, error) {
	if d == nil {
		return &Policy{statements: []Statement{Builtin, Default}, table: t}, nil
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return &Policy{Configured: true, statements: append([]Statement{Builtin}, d.Statements...), table: t}, nil
}

// Decision is the answer for one principal and one operation.
type Decision struct {
	Allowed   bool
	Operation string
	// By is the name of the statement that decided, At its place in the document: the
	// first deny that matches, else the first allow. "" and -1 when none matches, and
	// At is -1 for the built-in one.
	By string
	At int
	// Bounds are the scopes of all allows that match; nil bounds nothing.
	Bounds *Bounds
	// Rates bound the requests, each by itself.
	Rates []Rate

	refusal error
}

// Rate is a bound of requests. The key is of the principal and the statement.
type Rate struct {
	Key       string
	PerMinute int
}

// Err is the refusal, nil when it is allowed.
func (d *Decision) Err() error {
	if d.Allowed {
		return nil
	}
	return d.refusal
}

// Grant is what a principal may do with one adapter.
type Grant struct {
	adapter string
	by      [verbs]*Decision
	// Bounds are those of the principal's turns with the adapter.
	Bounds *Bounds
}

// Decide is the decision on a verb.
func (g *Grant) Decide(v Verb) *Decision { return g.by[v] }

// Subject is what one principal may do. A nil one may do everything: there is no
// policy. It is not changed, and may be used from many goroutines.
type Subject struct {
	ID    string
	Roles []string
	// Concurrency bounds its turns, 0 for no bound.
	Concurrency int
	// Groups are those that it shares sessions in (scope.share_sessions).
	Groups []string

	policy   *Policy
	by       map[string]*Decision
	adapters []*Grant
}

// For compiles what a principal may do.
func (p *Policy) For(id string, roles ...string) *Subject {
	s := &Subject{ID: id, Roles: roles, policy: p, by: map[string]*Decision{}}
	mine := p.of(id, roles)
	for _, op := range p.table.All() {
		s.by[op] = p.decide(mine, id, op)
	}
	for _, st := range mine {
		if g := st.Scope.ShareSessions; g != "" && !slices.Contains(s.Groups, g) {
			s.Groups = append(s.Groups, g)
		}
	}
	for _, a := range p.table.Adapters {
		g := p.grant(mine, a)
		for v := range verbs {
			g.by[v] = s.by[v.Operation(a)]
		}
		s.adapters = append(s.adapters, g)
		if g.by[Start].Allowed || g.by[Feed].Allowed {
			for _, st := range running(mine, a) {
				s.Concurrency = int(stricter(int64(s.Concurrency), int64(st.Limits.Concurrency)))
			}
		}
	}
	return s
}

// placed is a statement with its place in the document.
type placed struct {
	*Statement
	at int
}

// of are the statements that hold for a principal.
func (p *Policy) of(id string, roles []string) (out []placed) {
	for i := range p.statements {
		if s := &p.statements[i]; names(s.Principals, id, roles) {
			out = append(out, placed{s, i - 1})
		}
	}
	return out
}

func (s *placed) name() string {
	if s.at < 0 {
		return s.ID
	}
	return s.Name(s.at)
}

func (p *Policy) decide(mine []placed, id, op string) *Decision {
	d := &Decision{Operation: op, At: -1}
	var scopes []*Scope
	for i := range mine {
		s := &mine[i]
		if anyMatches(s.Deny, op) {
			return &Decision{Operation: op, By: s.name(), At: s.at, refusal: p.denial(op, s.name())}
		}
		if !anyMatches(s.Allow, op) {
			continue
		}
		if !d.Allowed {
			d.Allowed, d.By, d.At = true, s.name(), s.at
		}
		scopes = append(scopes, &s.Scope)
		if n := s.Limits.RequestsPerMinute; n > 0 {
			d.Rates = append(d.Rates, Rate{Key: id + "\x00" + s.name(), PerMinute: n})
		}
	}
	if !d.Allowed {
		d.refusal = p.denial(op, "")
		return d
	}
	d.Bounds = boundsOf(scopes)
	return d
}

func (p *Policy) denial(op, by string) error {
	switch {
	case by != "":
		return event.FailParam(event.PermissionDenied, op, "the policy denies you "+op+" (statement "+by+")")
	case p.Configured:
		return event.FailParam(event.PermissionDenied, op, "the policy does not allow you "+op+"; who runs this host can look up why: agenthost policy explain")
	}
	return event.FailParam(event.PermissionDenied, op, "you have neither the role dev nor admin, which "+op+" needs as there is no policy")
}

// running are the allows that let somebody start or feed an adapter.
func running(mine []placed, adapter string) (out []placed) {
	for _, s := range mine {
		runsIt := func(op string) bool { return anyMatches(s.Allow, op) }
		if runsIt(Start.Operation(adapter)) || runsIt(Feed.Operation(adapter)) || slices.ContainsFunc(runs, runsIt) {
			out = append(out, s)
		}
	}
	return out
}

func (p *Policy) grant(mine []placed, adapter string) *Grant {
	var scopes []*Scope
	for _, s := range running(mine, adapter) {
		scopes = append(scopes, &s.Scope)
	}
	return &Grant{adapter: adapter, Bounds: boundsOf(scopes)}
}

// everything is the answer where there is no policy.
var everything = &Decision{Allowed: true, At: -1}

var everyAdapter = &Grant{by: [verbs]*Decision{everything, everything, everything, everything}}

// Decide is the decision on an operation.
func (s *Subject) Decide(operation string) *Decision {
	if s == nil {
		return everything
	}
	if d := s.by[operation]; d != nil {
		return d
	}
	return s.decide(operation)
}

// decide is for what is in no table, where nobody is in a hurry.
func (s *Subject) decide(operation string) *Decision {
	return s.policy.decide(s.policy.of(s.ID, s.Roles), s.ID, operation)
}

// Adapter is what the principal may do with an adapter.
func (s *Subject) Adapter(name string) *Grant {
	if s == nil {
		return everyAdapter
	}
	for i := range s.adapters { // few: a map takes longer
		if s.adapters[i].adapter == name {
			return s.adapters[i]
		}
	}
	return s.adapter(name)
}

func (s *Subject) adapter(name string) *Grant {
	mine := s.policy.of(s.ID, s.Roles)
	g := s.policy.grant(mine, name)
	for v := range verbs {
		g.by[v] = s.policy.decide(mine, s.ID, v.Operation(name))
	}
	return g
}

// Uses reports whether the principal may start or feed the adapter: lists show it to
// nobody else.
func (s *Subject) Uses(adapter string) bool {
	g := s.Adapter(adapter)
	return g.by[Start].Allowed || g.by[Feed].Allowed
}
