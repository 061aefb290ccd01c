package server

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/server/audit"
	"github.com/agenthost/agenthost/wires/apierr"
)

// with is the context of a request's calls of the host.
func (s *Server) with(c *caller) context.Context {
	return context.WithValue(s.base, callerKey{}, c)
}

// called makes the caller of a request.
func (s *Server) called(who *holder, may *policy.Subject, operation string) *caller {
	c := &caller{holder: who, operation: operation}
	if may != nil && len(may.Groups) > 0 {
		c.shared = func(owner string) bool { return slices.Contains(s.cfg.Policy.Peers(who.id), owner) }
	}
	return c
}

// refused audits what somebody who is known may not do.
func (s *Server) refused(ctx *fasthttp.RequestCtx, row *route, who *holder, statement string, err error) {
	f := apierr.Refusal(err)
	rec := s.record(ctx, who)
	rec.Decision, rec.Statement = audit.Deny, statement
	rec.Status, rec.Code = apierr.Of(f.Code).Status, string(f.Code)
	named(ctx, row, &rec)
	s.cfg.Audit.Add(rec)
}

// acted audits what was done: everything that is more than looking, each look at what
// is another's, and what was refused behind the gate, such as an adapter.
func (s *Server) acted(ctx *fasthttp.RequestCtx, r *request) {
	c := r.asks
	c.mu.Lock()
	owner, session, agent := c.owner, c.session, c.agent
	c.mu.Unlock()
	status := ctx.Response.StatusCode()
	forbidden := status == fasthttp.StatusForbidden
	if owner == "" && !forbidden && (ctx.IsGet() || ctx.IsHead()) {
		return
	}
	rec := s.record(ctx, c.holder)
	rec.Decision, rec.Statement = audit.Allow, r.statement
	if forbidden {
		rec.Decision, rec.Statement, rec.Detail = audit.Deny, "", r.param
	}
	rec.Status, rec.Code, rec.Owner = status, string(r.code), owner
	named(ctx, r.row, &rec)
	rec.Session, rec.Agent = cmp.Or(rec.Session, session), cmp.Or(rec.Agent, agent)
	s.cfg.Audit.Add(rec)
}

func (s *Server) record(ctx *fasthttp.RequestCtx, who *holder) audit.Record {
	r := requestOf(ctx)
	return audit.Record{Request: r.id, Principal: who.id, Address: addressText(ctx), Operation: r.operation}
}

// addressText is the peer's whole address.
func addressText(ctx *fasthttp.RequestCtx) string {
	if ip := ctx.RemoteIP(); !ip.IsUnspecified() {
		return ip.String()
	}
	return ""
}

// maxNamed bounds an id of a path in a record: what is longer is none of ours.
const maxNamed = 64

// named puts the ids of the path into the record.
func named(ctx *fasthttp.RequestCtx, row *route, rec *audit.Record) {
	for name := range params(row.path) {
		value, _ := ctx.UserValue(name).(string)
		if value == "" || len(value) > maxNamed || strings.ContainsFunc(value, odd) {
			continue
		}
		value = strings.Clone(value)
		switch name {
		case "session_id", "conversation_id":
			rec.Session = value
		case "agent_id":
			rec.Agent = value
		default: // the innermost one
			rec.Object = value
		}
	}
}

// odd says that no id and no name of an adapter has the character.
func odd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
}

// params yields the names in a path of the table, from left to right.
func params(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			_, rest, ok := strings.Cut(path, "{")
			if !ok {
				return
			}
			name, after, _ := strings.Cut(rest, "}")
			if !yield(name) {
				return
			}
			path = after
		}
	}
}
