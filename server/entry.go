package server

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/server/audit"
	"github.com/agenthost/agenthost/wires/apierr"
)

// Rekey puts the principals in the place of those before, and another policy in the
// place of the one before unless p is nil. Requests that run and streams that are open
// go on as who they came in. It refuses a list without a token in the place of one
// with some: that would let everyone in.
func (s *Server) Rekey(list []Principal, p *policy.Policy) error {
	old := s.keys.Load()
	k, err := newKeyring(list, old)
	if err != nil {
		return err
	}
	if old != nil && k.open() && !old.open() {
		return errors.New("server: there would be no token, and so everyone would be let in; a server is started without one, not made so")
	}
	if p != nil {
		s.cfg.Policy.Replace(p, Members(list))
	} else {
		s.cfg.Policy.Admit(Members(list))
	}
	s.keys.Store(k)
	return nil
}

// Reasons in the metric of failed entries.
const (
	entryMissing = "missing" // no token
	entryWrong   = "wrong"   // unknown or expired
	entrySlowed  = "slowed"  // not judged: too many wrong ones came from there
)

// enter finds out who sent the request. It counts what fails, and makes an address
// that guesses wait.
func (s *Server) enter(ctx *fasthttp.RequestCtx) (*holder, error) {
	keys := s.keys.Load()
	if keys.open() {
		return everyone, nil
	}
	from, now := addressOf(ctx.RemoteAddr()), keys.now()
	who, stale, err := keys.who(&ctx.Request.Header)
	if is(err, errUnauthorized) {
		s.metrics.entries.WithLabelValues(entryMissing).Inc()
		if s.unnamed.wait(from, now) == 0 {
			s.unnamed.wrong(from, now)
			s.barred(ctx, nil, err, "no token")
		}
		return nil, err
	}
	if wait := s.guesses.wait(from, now); wait > 0 && (err != nil || !who.places.has(from)) {
		s.metrics.entries.WithLabelValues(entrySlowed).Inc()
		return nil, slowed(wait)
	}
	if err == nil {
		who.places.add(from)
		return who, nil
	}
	s.metrics.entries.WithLabelValues(entryWrong).Inc()
	detail := "unknown token"
	switch {
	case is(err, errAmbiguous):
		detail = "two different valid tokens"
	case stale != nil:
		detail = "expired token"
	}
	if !is(err, errAmbiguous) && s.guesses.wrong(from, now) {
		detail += "; further ones from this address are not judged for a while"
		s.log.Warn("many wrong tokens from one address; it has to wait", "address", from)
	}
	s.barred(ctx, stale, err, detail)
	return nil, err
}

// is tells refusals apart that have the same code.
func is(err error, refusal *event.Failure) bool {
	f, ok := event.AsFailure(err)
	return ok && f == refusal
}

func slowed(wait time.Duration) error {
	seconds := int(math.Ceil(wait.Seconds()))
	f := event.Fail(apierr.RateLimitReached, fmt.Sprintf("too many wrong tokens came from this address; try again in %d seconds", seconds))
	f.RetryAfter = seconds
	return f
}

// barred audits a request that did not get in. who is whose token it would have been.
func (s *Server) barred(ctx *fasthttp.RequestCtx, who *holder, err error, detail string) {
	r := requestOf(ctx)
	f := apierr.Refusal(err)
	rec := audit.Record{
		Request: r.id, Address: addressText(ctx), Operation: r.operation, Decision: audit.Deny, Statement: "token",
		Status: apierr.Of(f.Code).Status, Code: string(f.Code), Detail: detail,
	}
	if who != nil {
		rec.Principal = who.id
	}
	s.cfg.Audit.Add(rec)
}
