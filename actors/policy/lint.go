package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Lint says what a valid document most likely does not mean: patterns that match
// nothing, which are faults, and doubts. who are the principals with a token.
func (d *Document) Lint(t Table, who []Principal) Faults {
	l := &linter{d: d, all: t.All(), who: who}
	l.patterns()
	l.principals()
	l.shadowed()
	if p, err := Compile(d, t); err == nil {
		l.holes(p, t)
	}
	return l.found
}

type linter struct {
	d     *Document
	all   []string
	who   []Principal
	found Faults
}

func (l *linter) doubt(path, value, what, remedy string) {
	l.found = append(l.found, Fault{Path: path, Value: clip(value), What: what, Remedy: remedy, Doubt: true})
}

// MatchesNothing is what Lint says of a pattern without an operation.
const MatchesNothing = "matches no operation"

func (l *linter) patterns() {
	for i := range l.d.Statements {
		s := &l.d.Statements[i]
		for _, list := range []struct {
			key      string
			patterns []string
		}{{"allow", s.Allow}, {"deny", s.Deny}} {
			for j, p := range list.patterns {
				if len(l.ops([]string{p})) == 0 {
					l.found.add(fmt.Sprintf("[%d].%s[%d]", i, list.key, j), p, MatchesNothing, "docs/policy.md lists them; those of adapters are agents.<adapter>.sessions.create, .sessions.send_event, .install and .certify, by the adapter's name and not an alias")
				}
			}
		}
	}
}

// ops are the operations that patterns take.
func (l *linter) ops(patterns []string) (out []string) {
	for _, op := range l.all {
		if anyMatches(patterns, op) {
			out = append(out, op)
		}
	}
	return out
}

// has are the principals that a statement names.
func (l *linter) has(s *Statement) (out []string) {
	for _, p := range l.who {
		if names(s.Principals, p.ID, p.Roles) {
			out = append(out, p.ID)
		}
	}
	return out
}

func (l *linter) principals() {
	for i := range l.d.Statements {
		s := &l.d.Statements[i]
		for j, p := range s.Principals {
			if p != Everyone && len(l.has(&Statement{Principals: []string{p}})) == 0 {
				what := "no token has this id"
				if strings.HasPrefix(p, rolePrefix) {
					what = "no token has this role"
				}
				l.doubt(fmt.Sprintf("[%d].principals[%d]", i, j), p, what, "")
			}
		}
	}
}

// shadowed names allows that others make useless.
func (l *linter) shadowed() {
	for i := range l.d.Statements {
		s := &l.d.Statements[i]
		if len(s.Allow) == 0 {
			continue
		}
		mine, ops := l.has(s), l.ops(s.Allow)
		if len(mine) == 0 || len(ops) == 0 {
			continue
		}
		if by := l.denied(mine, ops); by != nil {
			l.doubt(fmt.Sprintf("[%d]", i), "", "never allows anything: "+strings.Join(by, ", ")+" denies all of it, and a deny wins", "remove one of them")
			continue
		}
		for j := range l.d.Statements {
			o := &l.d.Statements[j]
			if j == i || len(o.Allow) == 0 || !subset(mine, l.has(o)) || !subset(ops, l.ops(o.Allow)) {
				continue
			}
			switch twin := subset(l.has(o), mine) && subset(l.ops(o.Allow), ops); {
			case s.Scope.isZero() && s.Limits == (Limits{}) && o.Scope.isZero() && o.Limits == (Limits{}) && (!twin || j < i):
				l.doubt(fmt.Sprintf("[%d]", i), "", "allows nothing that "+o.Name(j)+" does not", "remove it")
			case s.Scope.isZero() && !o.Scope.isZero():
				l.doubt(fmt.Sprintf("[%d]", i), "", "does not lift the scope of "+o.Name(j)+", which holds for the same operations", "scopes only narrow: put the wider one into that statement, or name fewer operations there")
			default:
				continue
			}
			break
		}
	}
}

// denied are the statements that deny all of ops to each of ids, nil when some of it
// is left.
func (l *linter) denied(ids, ops []string) (by []string) {
	left := map[string]bool{}
	for _, id := range ids {
		for _, op := range ops {
			left[id+" "+op] = true
		}
	}
	for i := range l.d.Statements {
		s, used := &l.d.Statements[i], false
		has := l.has(s)
		for _, id := range ids {
			for _, op := range ops {
				if key := id + " " + op; left[key] && slices.Contains(has, id) && anyMatches(s.Deny, op) {
					delete(left, key)
					used = true
				}
			}
		}
		if used {
			by = append(by, s.Name(i))
		}
	}
	if len(left) > 0 {
		return nil
	}
	return by
}

func subset(some, of []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(of, s) })
}

// holes names what principals can begin and not end, and what everybody may change.
func (l *linter) holes(p *Policy, t Table) {
	for _, who := range l.who {
		s := p.For(who.ID, who.Roles...)
		if !slices.ContainsFunc(l.d.Statements, func(st Statement) bool { return names(st.Principals, who.ID, who.Roles) }) {
			l.doubt("", who.ID, "is named by no statement: this principal may do nothing", "name it, or a role of it, in one")
			continue
		}
		starts := slices.ContainsFunc(runs, func(op string) bool { return slices.Contains(t.Operations, op) && s.Decide(op).Allowed })
		uses := slices.ContainsFunc(t.Adapters, s.Uses)
		switch {
		case starts && !uses && len(t.Adapters) > 0:
			l.doubt("", who.ID, "may ask for turns but start no adapter, so every turn is refused", "allow agents.<adapter>.sessions.* or agents.*.sessions.*")
		case uses && !starts:
			l.doubt("", who.ID, "may start an adapter but ask for no turn, so it cannot be used", "allow responses.create or agents.sessions.create")
		}
		if len(l.who) > 1 && !slices.Contains(who.Roles, "admin") && slices.Contains(t.Operations, "agents.runtimes.install") && s.Decide("agents.runtimes.install").Allowed &&
			slices.ContainsFunc(t.Adapters, func(a string) bool { return s.Adapter(a).Decide(Install).Allowed }) {
			l.doubt("", who.ID, "is no admin and may install programs on this machine", `deny agents.*.install to it, if it should not`)
		}
	}
}

// Explanation is why a principal may do an operation, or not.
type Explanation struct {
	Decision
	// Statement is the text of the one that decided, "" for none.
	Statement string
	// Others are further ones that match, by name.
	Others []string
	// Scope are the texts of those that bound a turn with the operation's adapter.
	Scope []string
}

// Explain says what decides.
func (p *Policy) Explain(id string, roles []string, op string) Explanation {
	mine := p.of(id, roles)
	e := Explanation{Decision: *p.decide(mine, id, op)}
	for i := range mine {
		s := &mine[i]
		switch {
		case !anyMatches(s.Allow, op) && !anyMatches(s.Deny, op):
		case s.name() == e.By && s.at == e.At:
			e.Statement = s.String()
		default:
			e.Others = append(e.Others, s.name())
		}
		if e.Allowed && anyMatches(s.Allow, op) && !s.Scope.isZero() {
			e.Scope = append(e.Scope, s.name()+" "+(&Statement{Scope: s.Scope}).String())
		}
	}
	return e
}
