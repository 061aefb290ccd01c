package policy

import (
	"context"
	"slices"
	"sync/atomic"
)

// Roster knows what each principal may do. It is what the server and the engine
// share; Replace changes it under both. The zero value, and nil, know no policy.
type Roster struct {
	now atomic.Pointer[roster]
}

type roster struct {
	policy   *Policy
	subjects map[string]*Subject
	stranger *Subject // whom the policy does not name
}

// Principal is somebody with a token.
type Principal struct {
	ID    string
	Roles []string
}

// NewRoster compiles what each of the principals may do; p nil is no policy.
func NewRoster(p *Policy, list []Principal) *Roster {
	r := new(Roster)
	r.Replace(p, list)
	return r
}

// Replace puts another policy and other principals in the place of those there are.
func (r *Roster) Replace(p *Policy, list []Principal) {
	if p == nil {
		r.now.Store(nil)
		return
	}
	next := &roster{policy: p, subjects: make(map[string]*Subject, len(list)), stranger: p.For("")}
	for _, one := range list {
		next.subjects[one.ID] = p.For(one.ID, one.Roles...)
	}
	r.now.Store(next)
}

// Admit puts other principals in the place of those there are, under the same policy.
func (r *Roster) Admit(list []Principal) {
	if now := r.load(); now != nil {
		r.Replace(now.policy, list)
	}
}

func (r *Roster) load() *roster {
	if r == nil {
		return nil
	}
	return r.now.Load()
}

// Of is what a principal may do, nil without a policy. One that is not known, such
// as the owner of an old session whose token is gone, may what everyone may.
func (r *Roster) Of(id string) *Subject {
	now := r.load()
	if now == nil {
		return nil
	}
	if s := now.subjects[id]; s != nil {
		return s
	}
	return now.stranger
}

// Configured reports whether somebody wrote a policy.
func (r *Roster) Configured() bool {
	now := r.load()
	return now != nil && now.policy.Configured
}

// Peers are the other principals whose sessions the principal sees, and who see its
// own (scope.share_sessions), sorted.
func (r *Roster) Peers(id string) (out []string) {
	now := r.load()
	if now == nil || now.subjects[id] == nil {
		return nil
	}
	mine := now.subjects[id].Groups
	for other, s := range now.subjects {
		if other != id && slices.ContainsFunc(s.Groups, func(g string) bool { return slices.Contains(mine, g) }) {
			out = append(out, other)
		}
	}
	slices.Sort(out)
	return out
}

type subjectKey struct{}

// With says on whose behalf the engine is called.
func With(ctx context.Context, s *Subject) context.Context {
	return context.WithValue(ctx, subjectKey{}, s)
}

// From is on whose behalf the engine is called, nil when that was not said.
func From(ctx context.Context) *Subject {
	s, _ := ctx.Value(subjectKey{}).(*Subject)
	return s
}
