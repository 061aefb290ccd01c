package apierr

import (
	"context"
	"errors"
	"strconv"

	jsoniter "github.com/json-iterator/go"
	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// Names of headers that every answer or every refusal carries.
const (
	HeaderRequestID   = "x-request-id"
	HeaderShouldRetry = "x-should-retry"
)

type envelope struct {
	Error detail `json:"error"`
}

type detail struct {
	Message string  `json:"message"`
	Type    string  `json:"type" enum:"invalid_request_error,authentication_error,permission_error,rate_limit_error,server_error"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
	// Oldest is the oldest event id kept, when a cursor was trimmed away.
	Oldest string `json:"oldest,omitempty"`
}

// Refusal finds what err tells a stranger. What is not a Failure is an internal
// error without detail; its text is for the log.
func Refusal(err error) *event.Failure {
	if f, ok := event.AsFailure(err); ok {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &event.Failure{Code: Internal, Cause: err, Message: "the host did not answer in time; the request may have been carried out"}
	}
	return &event.Failure{Code: Internal, Cause: err, Message: "internal error; the server's log has the request id and the cause"}
}

// Write answers with err's envelope and headers. Headers that are already set
// (Allow, WWW-Authenticate) stay.
func Write(ctx *fasthttp.RequestCtx, requestID string, err error) {
	f := Refusal(err)
	row := Of(f.Code)
	code := f.Code
	if _, ok := table[code]; !ok {
		code = Internal
	}
	d := detail{Message: f.Message, Type: row.Type, Code: string(code), Oldest: f.Oldest}
	if f.Param != "" {
		d.Param = &f.Param
	}
	var beside *Disabled
	var body []byte
	var merr error
	if errors.As(err, &beside) {
		body, merr = json.Marshal(disabledEnvelope{d, string(code), beside.Endpoint, beside.Rule})
	} else {
		body, merr = json.Marshal(envelope{d})
	}
	if merr != nil { // only strings are in it
		body = []byte(`{"error":{"message":"internal error","type":"server_error","param":null,"code":"internal_error"}}`)
	}
	h := &ctx.Response.Header
	if requestID != "" {
		h.Set(HeaderRequestID, requestID)
	}
	switch {
	case row.Retry == No && (row.Status == 408 || row.Status == 409 || row.Status == 429 || row.Status >= 500):
		h.Set(HeaderShouldRetry, "false")
	case row.Retry == Later && (row.Status == 429 || row.Status == 503):
		after := row.RetryAfter
		if f.RetryAfter > 0 {
			after = f.RetryAfter
		}
		h.Set("Retry-After", strconv.Itoa(after))
	}
	ctx.Response.SetStatusCode(row.Status)
	h.SetContentType("application/json")
	ctx.Response.SetBody(body)
}

// Disabled is the refusal of a route that the configuration switched off. Existing
// deployments read its fields beside the envelope.
type Disabled struct{ Endpoint, Rule string }

type disabledEnvelope struct {
	Error    detail `json:"error"`
	Code     string `json:"code"`
	Endpoint string `json:"endpoint"`
	Rule     string `json:"rule"`
}

func (d *Disabled) Error() string { return d.Unwrap().Error() }

// Unwrap is the failure that the envelope shows.
func (d *Disabled) Unwrap() error {
	return event.FailParam(EndpointDisabled, "", "this endpoint is switched off by "+d.Rule)
}
