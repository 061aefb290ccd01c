package policy

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agenthost/agenthost/actors/spec"
)

// reference answers as the rules in doc.go read, slowly and without a table: patterns
// are regular expressions, scopes are asked one by one.
type reference struct {
	statements []Statement
	id         string
	roles      []string
}

func (r *reference) matches(patterns []string, op string) bool {
	for _, p := range patterns {
		text := regexp.QuoteMeta(p)
		switch {
		case p == "*" || p == "**":
			return true
		case strings.HasSuffix(text, `\.\*\*`):
			text = strings.TrimSuffix(text, `\.\*\*`) + `\..*`
		}
		text = strings.ReplaceAll(strings.TrimSuffix(text, `\..*`), `\*`, `[^.]*`) + map[bool]string{true: `\..*`}[strings.HasSuffix(p, ".**")]
		if expression(`(?s)^` + text + `$`).MatchString(op) {
			return true
		}
	}
	return false
}

var expressions sync.Map

// expression compiles once.
func expression(text string) *regexp.Regexp {
	if e, ok := expressions.Load(text); ok {
		return e.(*regexp.Regexp)
	}
	e := regexp.MustCompile(text)
	expressions.Store(text, e)
	return e
}

func (r *reference) me(s *Statement) bool {
	for _, p := range s.Principals {
		if p == "*" || p == r.id || strings.HasPrefix(p, "role:") && slices.Contains(r.roles, p[5:]) {
			return true
		}
	}
	return false
}

func (r *reference) allows(op string) bool {
	allowed := strings.HasPrefix(op, "server.")
	for i := range r.statements {
		s := &r.statements[i]
		if !r.me(s) {
			continue
		}
		if r.matches(s.Deny, op) {
			return false
		}
		allowed = allowed || r.matches(s.Allow, op)
	}
	return allowed
}

// every says that a claim holds of each scope that bounds op.
func (r *reference) every(op string, claim func(*Scope) bool) bool {
	for i := range r.statements {
		if s := &r.statements[i]; r.me(s) && r.matches(s.Allow, op) && !claim(&s.Scope) {
			return false
		}
	}
	return true
}

func (r *reference) workspace(op, dir string) bool {
	return r.every(op, func(s *Scope) bool {
		if s.Workdir == nil {
			return true
		}
		for _, root := range s.Workdir {
			if dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/") {
				return true
			}
		}
		return false
	})
}

func (r *reference) model(op, model string) bool {
	return r.every(op, func(s *Scope) bool {
		if s.Models == nil {
			return true
		}
		for _, m := range s.Models {
			if model != "" && expression(`(?s)^`+strings.ReplaceAll(regexp.QuoteMeta(m), `\*`, `.*`)+`$`).MatchString(model) {
				return true
			}
		}
		return false
	})
}

func (r *reference) permissions(op string, p spec.Permissions) bool {
	below := map[spec.Permissions][]spec.Permissions{
		"":                  {spec.ReadOnly, spec.Ask, spec.WorkspaceWrite, spec.FullAccess},
		spec.ReadOnly:       {spec.ReadOnly},
		spec.Ask:            {spec.ReadOnly, spec.Ask},
		spec.WorkspaceWrite: {spec.ReadOnly, spec.WorkspaceWrite},
		spec.FullAccess:     {spec.ReadOnly, spec.Ask, spec.WorkspaceWrite, spec.FullAccess},
	}
	return r.every(op, func(s *Scope) bool { return slices.Contains(below[s.Permissions], p) })
}

func (r *reference) least(op string, of func(*Scope) int64) (least int64) {
	r.every(op, func(s *Scope) bool {
		if v := of(s); v > 0 && (least == 0 || v < least) {
			least = v
		}
		return true
	})
	return least
}
