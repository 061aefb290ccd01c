package call

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strconv"
	"strings"

	jsoniter "github.com/json-iterator/go"
	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/sse"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// Call is one request. The server fills it in; a handler must not keep it.
type Call struct {
	Ctx       *fasthttp.RequestCtx
	Principal string // the owner of what the call touches
	Admin     bool
	Operation string // the operation id of the route
	RequestID string
	// Body is the decoded body, nil without one.
	Body []byte
	// Subject is what the principal may do; nil, everything.
	Subject *policy.Subject
	// Base bounds calls of the host; nil means Background.
	Base context.Context //nolint:containedctx // a Call is the edge: it lives as long as its request
	// Streams carries event streams.
	Streams *sse.Hub
	// Log hears of answers of 500 and above; nil is silent.
	Log *slog.Logger
	// Refused is what Fail answered with, for the access log; nil otherwise.
	Refused *event.Failure
}

// Handler answers a call.
type Handler func(*Call)

// Context is for calls of the host.
func (c *Call) Context() context.Context {
	if c.Base == nil {
		return context.Background()
	}
	return c.Base
}

// Param is a value of the path, as it was written there (not unescaped); "" when
// the route has none of that name.
func (c *Call) Param(name string) string {
	s, _ := c.Ctx.UserValue(name).(string)
	return strings.Clone(s)
}

// ID reads a path value as an id with one of prefixes. A false result is answered
// as not found: no other spelling can name anything.
func (c *Call) ID(name string, prefixes ...string) (event.ID, bool) {
	return event.Parse(c.Param(name), prefixes...)
}

// Query is a value of the query, and whether it is there.
func (c *Call) Query(name string) (string, bool) {
	args := c.Ctx.QueryArgs()
	if !args.Has(name) {
		return "", false
	}
	return string(args.Peek(name)), true
}

// Flag is a boolean of the query; false when it is absent.
func (c *Call) Flag(name string) (bool, error) {
	v, ok := c.Query(name)
	switch {
	case !ok, v == "false", v == "0":
		return false, nil
	case v == "true", v == "1":
		return true, nil
	}
	return false, event.FailParam(event.InvalidRequest, name, name+" must be true or false")
}

// Header is a request header.
func (c *Call) Header(name string) string { return string(c.Ctx.Request.Header.Peek(name)) }

// Bounds of a page.
const (
	defaultLimit = 20
	maxLimit     = 100
)

// PageQuery describes what Page reads.
type PageQuery struct {
	After string `json:"after" doc:"the id of the last element of the page before"`
	Limit int    `json:"limit" min:"1" max:"100" doc:"20 when missing"`
	Order string `json:"order" enum:"asc,desc" doc:"of creation; desc when missing"`
}

// Page reads limit, order and after. What after means is up to the resource: it
// comes back as it is, and Page.After stays zero.
func (c *Call) Page() (p spec.Page, after string, err error) {
	p = spec.Page{Limit: defaultLimit, Desc: true}
	if v, ok := c.Query("limit"); ok {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxLimit {
			return p, "", event.FailParam(event.InvalidRequest, "limit", "limit must be a number from 1 to 100")
		}
		p.Limit = n
	}
	if v, ok := c.Query("order"); ok {
		if v != "asc" && v != "desc" {
			return p, "", event.FailParam(event.InvalidRequest, "order", "order must be asc or desc")
		}
		p.Desc = v == "desc"
	}
	after, _ = c.Query("after")
	return p, after, nil
}

// maxKey is the longest Idempotency-Key kept as it is.
const maxKey = 255

// KeyHeader describes what Key reads.
type KeyHeader struct {
	Key string `json:"Idempotency-Key" doc:"the same key and body give the first answer again"`
}

// Key is the call's Idempotency-Key, nil without one.
func (c *Call) Key() *spec.Key { return c.KeyOf(c.Body) }

// KeyOf is Key where content, and not the body as it came, is what a repeat has to
// have in common with the first request.
func (c *Call) KeyOf(content []byte) *spec.Key {
	value := c.Header("Idempotency-Key")
	if value == "" {
		return nil
	}
	if len(value) > maxKey {
		sum := sha256.Sum256([]byte(value))
		value = "sha256:" + hex.EncodeToString(sum[:])
	}
	h := sha256.New()
	for _, part := range [][]byte{c.Ctx.Method(), c.Ctx.Path(), content} {
		h.Write(strconv.AppendInt(nil, int64(len(part)), 10))
		h.Write([]byte{':'})
		h.Write(part)
	}
	return &spec.Key{Value: value, Hash: hex.EncodeToString(h.Sum(nil))}
}
