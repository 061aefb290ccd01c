package server

import (
	"errors"
	"net"
	"runtime/debug"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
)

// request is what the server notes about a request for its log and metrics.
type request struct {
	id        string
	operation string
	principal string
	code      event.Code
	// statement is the rule that decided, param what a handler refused for.
	statement, param string
	// row and asks are set when the gate let the request pass.
	row  *route
	asks *caller
}

// requestKey finds the request of a context; a private type cannot be a path
// parameter's name.
type requestKey struct{}

func requestOf(ctx *fasthttp.RequestCtx) *request {
	if r, ok := ctx.UserValue(requestKey{}).(*request); ok {
		return r
	}
	r := &request{id: event.NewID().With(event.PrefixRequest), operation: "none"}
	ctx.SetUserValue(requestKey{}, r)
	ctx.Response.Header.Set(apierr.HeaderRequestID, r.id)
	return r
}

// serve is the handler of every request.
func (s *Server) serve(next interface{ Handler(*fasthttp.RequestCtx) }) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		defer crash.Guard()
		start := time.Now()
		r := requestOf(ctx)
		_ = s.arrivals.end(&ctx.Request.Header) // it is here
		s.guardHeaders(ctx)
		if err := s.visitors.hurried(ctx.RemoteAddr()); err != nil {
			s.refuse(ctx, err)
		} else if ambiguous(&ctx.Request.Header) {
			s.refuse(ctx, errFraming)
			ctx.SetConnectionClose()
			answersEarly(ctx)
		} else {
			next.Handler(ctx)
		}
		s.done(ctx, r, time.Since(start))
	}
}

// done counts and logs a finished answer: never a query, a header or a body.
func (s *Server) done(ctx *fasthttp.RequestCtx, r *request, took time.Duration) {
	status := ctx.Response.StatusCode()
	s.metrics.answered(r.operation, status, took)
	if r.asks != nil {
		s.acted(ctx, r)
	}
	s.log.Debug("request", "request", r.id, "method", string(ctx.Method()), "path", string(ctx.Request.URI().PathOriginal()),
		"operation", r.operation, "principal", r.principal, "status", status, "code", string(r.code), "took", took)
}

// refuse answers with err.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, err error) {
	r := requestOf(ctx)
	f := apierr.Refusal(err)
	r.code = f.Code
	switch f.Code {
	case apierr.Unauthorized:
		ctx.Response.Header.Set(fasthttp.HeaderWWWAuthenticate, `Bearer realm="agenthost"`)
	case apierr.Internal:
		s.log.Error("request failed", "request", r.id, "operation", r.operation, "err", err)
	}
	apierr.Write(ctx, r.id, err)
}

// answer is the handler of one row.
func (s *Server) answer(row *route) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		r := requestOf(ctx)
		r.operation = row.operation
		who, may, err := s.gate(ctx, row)
		if err != nil {
			if who != nil {
				s.refused(ctx, row, who, r.statement, err)
			}
			s.refuse(ctx, err)
			return
		}
		r.principal = who.id
		if row.handler == nil {
			s.refuse(ctx, event.FailParam(event.OperationUnavailable, row.operation, "this host does not offer "+row.operation+" yet"))
			return
		}
		asks := s.called(who, may, row.operation)
		r.row, r.asks = row, asks
		c := &call.Call{
			Ctx: ctx, Principal: who.id, Admin: who.admin, Operation: row.operation, RequestID: r.id,
			Base: policy.With(s.with(asks), may), Streams: s.hub, Log: s.log, Subject: may,
		}
		if ctx.IsHead() {
			ctx.QueryArgs().Del("stream") // HEAD never opens a stream
		}
		if err := c.Load(s.cfg.MaxBody); err != nil {
			s.refuse(ctx, err)
			return
		}
		row.handler(c)
		if c.Refused != nil {
			r.code, r.param = c.Refused.Code, c.Refused.Param
		}
	}
}

var errStopping = event.Fail(event.ShuttingDown, "the host is shutting down; try again later")

// nobody is who asks what is open.
var nobody = &holder{}

// gate decides whether the request may reach the row's handler, and says what else
// its principal may do: on the adapter that the request turns out to be about, the
// engine decides, or the handler. With a refusal by the policy comes who was refused,
// for the audit.
func (s *Server) gate(ctx *fasthttp.RequestCtx, row *route) (*holder, *policy.Subject, error) {
	if err := s.foreign(&ctx.Request.Header); err != nil && !row.probe() {
		return nil, nil, err
	}
	if row.group == groupOpen {
		return nobody, nil, nil
	}
	who, err := s.enter(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case !s.groups[row.group]:
		return nil, nil, &apierr.Disabled{Endpoint: row.id(), Rule: "groups"}
	}
	may := s.cfg.Policy.Of(who.id)
	d := may.Decide(row.operation)
	requestOf(ctx).statement = d.By
	switch {
	case !d.Allowed:
		return who, nil, d.Err()
	case s.stopping.Load():
		return nil, nil, errStopping
	case row.group == groupAgents:
		err = s.hurried(who, d)
	}
	if err != nil {
		return nil, nil, err
	}
	return who, may, nil
}

// probe says that the row tells whether the server lives and nothing else.
func (r *route) probe() bool {
	switch r.operation {
	case "server.check_live", "server.check_ready", "server.check_health":
		return true
	}
	return false
}

// id is what documents of existing deployments call the route, else the
// operation id.
func (r *route) id() string {
	if r.old != "" {
		return r.old
	}
	return r.operation
}

// expect decides before the body of a request with Expect: 100-continue is sent.
// Writing the answer here is what makes it a refusal with a body; a test holds
// the library to that.
func (s *Server) expect(ctx *fasthttp.RequestCtx) int {
	defer crash.Guard()
	r := requestOf(ctx)
	s.guardHeaders(ctx)
	var err error
	if _, err = s.enter(ctx); err == nil {
		switch {
		case s.stopping.Load():
			err = errStopping
		case ctx.Request.Header.ContentLength() > s.cfg.MaxBody:
			err = s.tooLarge()
		default:
			return fasthttp.StatusContinue
		}
	}
	_ = s.arrivals.end(&ctx.Request.Header) // it is not asked for
	s.refuse(ctx, err)
	s.metrics.answered(r.operation, ctx.Response.StatusCode(), 0)
	answersEarly(ctx)
	return ctx.Response.StatusCode()
}

func answersEarly(ctx *fasthttp.RequestCtx) {
	if c, ok := connOf(ctx.Conn()); ok {
		c.answersEarly()
	}
}

// malformed answers what never became a request.
func (s *Server) malformed(ctx *fasthttp.RequestCtx, err error) {
	defer crash.Guard()
	var small *fasthttp.ErrSmallBuffer
	var network net.Error
	refused := s.arrivals.end(&ctx.Request.Header)
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge) && refused != nil:
		if err = refused; event.CodeOf(err) != event.HostBusy { // who sends it was not let in: it counts, and may have to wait
			if _, now := s.enter(ctx); now != nil {
				err = now
			}
		}
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		err = s.tooLarge()
	case errors.As(err, &small):
		err = event.Fail(apierr.HeaderTooLarge, "the request's header is larger than the limit of 16384 bytes")
	case errors.As(err, &network) && network.Timeout():
		err = event.Fail(apierr.RequestTimeout, "the request did not arrive in time")
	default: // the library's text quotes the request, tokens included
		err = event.Fail(event.InvalidRequest, "the request is not valid HTTP")
	}
	r := requestOf(ctx)
	s.guardHeaders(ctx)
	s.refuse(ctx, err)
	s.metrics.answered(r.operation, ctx.Response.StatusCode(), 0)
	answersEarly(ctx)
}

func (s *Server) tooLarge() error {
	return event.Fail(apierr.BodyTooLarge, "the request body is larger than the limit of "+size(s.cfg.MaxBody))
}

func (s *Server) notFound(ctx *fasthttp.RequestCtx) {
	s.refuse(ctx, event.Fail(apierr.RouteNotFound, "there is no such route; paths begin with "+v1+" and are exact, without a trailing slash; GET /openapi.json lists them"))
}

func (s *Server) methodNotAllowed(ctx *fasthttp.RequestCtx) {
	message := "this route does not take this method; it takes " + string(ctx.Response.Header.Peek(fasthttp.HeaderAllow))
	if ctx.IsGet() && string(ctx.Path()) == v1+"/conversations" { // which one might look for
		message = "there is no list of conversations; GET /v1/agents/sessions lists them, as the sessions that they are"
	}
	s.refuse(ctx, event.Fail(apierr.MethodNotAllowed, message))
}

// options answers without a token: a browser sends none before it knows that it may.
func (s *Server) options(ctx *fasthttp.RequestCtx) {
	s.preflight(ctx)
	ctx.Response.SetStatusCode(fasthttp.StatusNoContent)
	ctx.Response.Header.SetNoDefaultContentType(true)
}

// panicked answers for a handler that panicked: a bug, but of one request.
func (s *Server) panicked(ctx *fasthttp.RequestCtx, what any) {
	r := requestOf(ctx)
	s.log.Error("panic in a request", "request", r.id, "operation", r.operation, "panic", what, "stack", string(debug.Stack()))
	ctx.Response.ResetBody()
	r.code = apierr.Internal
	apierr.Write(ctx, r.id, event.Fail(apierr.Internal, "internal error; the server's log has the request id and the cause"))
}
