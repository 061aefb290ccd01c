package call

import (
	"errors"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/sse"
)

// JSON answers with v.
func (c *Call) JSON(status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		c.Fail(fmt.Errorf("encode the answer of %s: %w", c.Operation, err))
		return
	}
	c.Raw(status, body)
}

// Raw answers with a finished JSON body, which must not change afterwards.
func (c *Call) Raw(status int, body []byte) {
	c.Ctx.Response.Header.Set(apierr.HeaderRequestID, c.RequestID)
	c.Ctx.Response.SetStatusCode(status)
	c.Ctx.Response.Header.SetContentType("application/json")
	c.Ctx.Response.SetBodyRaw(body)
}

// Empty answers without a body.
func (c *Call) Empty(status int) {
	c.Ctx.Response.Header.Set(apierr.HeaderRequestID, c.RequestID)
	c.Ctx.Response.SetStatusCode(status)
	c.Ctx.Response.Header.SetNoDefaultContentType(true)
	c.Ctx.Response.ResetBody()
}

// Fail answers with err's refusal.
func (c *Call) Fail(err error) {
	c.Refused = apierr.Refusal(err)
	if c.Log != nil && apierr.Of(c.Refused.Code).Status >= 500 && c.Refused.Code != event.OperationUnavailable {
		c.Log.Error("request failed", "operation", c.Operation, "request", c.RequestID, "code", c.Refused.Code, "err", err)
	}
	apierr.Write(c.Ctx, c.RequestID, err)
}

// Hijack answers with an event stream, which starts after the handler returned
// and closes src at its end. Response headers that are set go along.
func (c *Call) Hijack(src sse.Source) {
	c.Ctx.Response.Header.Set(apierr.HeaderRequestID, c.RequestID)
	if err := c.Streams.Serve(c.Ctx, src); errors.Is(err, sse.ErrClosed) {
		c.Fail(event.Fail(event.ShuttingDown, "the host is shutting down; try again later"))
	} else if err != nil {
		c.Fail(err)
	}
}
