package apierr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
)

// codesOf reads the constants of type typ from a source file: a code that is added
// there must get its row here.
func codesOf(t *testing.T, file, typ string) []event.Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []event.Code
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		switch x := spec.Type.(type) {
		case *ast.Ident:
			ok = x.Name == typ
		case *ast.SelectorExpr:
			ok = x.Sel.Name == typ
		default:
			ok = false
		}
		if !ok {
			return true
		}
		for _, v := range spec.Values {
			lit, isLit := v.(*ast.BasicLit)
			if !isLit {
				continue
			}
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, event.Code(s))
		}
		return true
	})
	return codes
}

// The closed sets of the SDKs.
var (
	turnCodes = []string{
		"context_length_exceeded", "max_output_tokens", "session_budget_exceeded", "usage_limit_exceeded",
		"project_spend_limit_exceeded", "organization_spend_limit_exceeded", "organization_usage_limit_exceeded",
		"billing_not_active", "credit_balance_exhausted", "rate_limit_exceeded", "flex_unavailable", "server_overloaded",
		"cyber_policy", "misalignment_policy_violation", "connection_failed", "server_error", "authentication_error",
		"invalid_request", "resource_not_found", "sandbox_error", "executor_version_incompatible",
		"active_turn_not_steerable", "request_timeout", "internal_error",
	}
	responseCodes = []string{"server_error", "rate_limit_exceeded", "invalid_prompt"}
)

func TestEveryCodeHasARow(t *testing.T) {
	t.Parallel()
	engine := codesOf(t, "../../actors/event/failure.go", "Code")
	own := codesOf(t, "table.go", "Code")
	if len(engine) < 49 || len(own) < 12 {
		t.Fatalf("found only %d and %d codes", len(engine), len(own))
	}
	internal := apierr.Of(apierr.Internal)
	for _, code := range append(engine, own...) {
		row := apierr.Of(code)
		if row == internal && code != apierr.Internal && !slices.Contains([]event.Code{event.CLICrashed, event.NoVerdict}, code) {
			t.Errorf("%s has no row of its own", code)
		}
		if row.Status < 400 || row.Status > 599 || row.Type == "" {
			t.Errorf("%s: %+v", code, row)
		}
		if !slices.Contains(turnCodes, row.Turn) {
			t.Errorf("%s: the Agents wire has no turn error %q", code, row.Turn)
		}
		if !slices.Contains(responseCodes, row.Response) {
			t.Errorf("%s: the Responses wire has no error %q", code, row.Response)
		}
		if row.Retry == apierr.Later && row.RetryAfter == 0 {
			t.Errorf("%s says later, but not when", code)
		}
	}
	if apierr.Of("of_a_newer_writer") != internal {
		t.Error("an unknown code is not an internal error")
	}
}

func write(err error) *fasthttp.Response {
	ctx := new(fasthttp.RequestCtx)
	ctx.Response.Header.Set("Allow", "GET")
	apierr.Write(ctx, "req_1", err)
	return &ctx.Response
}

func TestRefusalsCarryEnvelopeAndRetryHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		err               error
		status            int
		body, retry, wait string
	}{
		{"bad field", event.FailParam(event.InvalidRequest, "input", "no"), 400,
			`{"error":{"message":"no","type":"invalid_request_error","param":"input","code":"invalid_request"}}`, "", ""},
		{"wrapped", fmt.Errorf("post: %w", event.Fail(event.IdempotencyMismatch, "other body")), 409,
			`{"error":{"message":"other body","type":"invalid_request_error","param":null,"code":"idempotency.mismatch"}}`, "false", ""},
		{"queue full", event.Fail(event.QueueFull, "full"), 429,
			`{"error":{"message":"full","type":"rate_limit_error","param":null,"code":"queue_full"}}`, "", "5"},
		{"own wait", &event.Failure{Code: event.QueueFull, Message: "full", RetryAfter: 17}, 429,
			`{"error":{"message":"full","type":"rate_limit_error","param":null,"code":"queue_full"}}`, "", "17"},
		{"shutting down", event.Fail(event.ShuttingDown, "bye"), 503,
			`{"error":{"message":"bye","type":"server_error","param":null,"code":"shutting_down"}}`, "", "5"},
		{"not built", event.FailParam(event.OperationUnavailable, "responses.compact", "no"), 501,
			`{"error":{"message":"no","type":"invalid_request_error","param":"responses.compact","code":"operation_unavailable"}}`, "false", ""},
		{"trimmed", &event.Failure{Code: event.CursorEvicted, Message: "gone", Oldest: "evt_7"}, 410,
			`{"error":{"message":"gone","type":"invalid_request_error","param":null,"code":"cursor_evicted","oldest":"evt_7"}}`, "", ""},
		{"a stranger's error", errors.New("open /var/lib/secret: permission denied"), 500,
			`{"error":{"message":"internal error; the server's log has the request id and the cause","type":"server_error","param":null,"code":"internal_error"}}`, "false", ""},
		{"too late", fmt.Errorf("ask: %w", context.DeadlineExceeded), 500,
			`{"error":{"message":"the host did not answer in time; the request may have been carried out","type":"server_error","param":null,"code":"internal_error"}}`, "false", ""},
		{"newer code", event.Fail("invented", "what"), 500,
			`{"error":{"message":"what","type":"server_error","param":null,"code":"internal_error"}}`, "false", ""},
		{"switched off", &apierr.Disabled{Endpoint: "agents_sessions_create", Rule: "groups"}, 404,
			`{"error":{"message":"this endpoint is switched off by groups","type":"invalid_request_error","param":null,"code":"endpoint_disabled"},` +
				`"code":"endpoint_disabled","endpoint":"agents_sessions_create","rule":"groups"}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res := write(c.err)
			if res.StatusCode() != c.status || string(res.Body()) != c.body {
				t.Errorf("got %d %s", res.StatusCode(), res.Body())
			}
			h := &res.Header
			if got := string(h.Peek("x-should-retry")); got != c.retry {
				t.Errorf("x-should-retry %q, want %q", got, c.retry)
			}
			if got := string(h.Peek("Retry-After")); got != c.wait {
				t.Errorf("Retry-After %q, want %q", got, c.wait)
			}
			if string(h.ContentType()) != "application/json" || string(h.Peek("x-request-id")) != "req_1" || string(h.Peek("Allow")) != "GET" {
				t.Errorf("headers %s", h)
			}
			if !json.Valid(res.Body()) {
				t.Error("not JSON")
			}
		})
	}
}

func TestEveryPermanentRefusalThatSDKsWouldRepeatSaysSo(t *testing.T) {
	t.Parallel()
	for _, code := range append(codesOf(t, "../../actors/event/failure.go", "Code"), codesOf(t, "table.go", "Code")...) {
		row := apierr.Of(code)
		res := write(event.Fail(code, "x"))
		repeats := row.Status == 408 || row.Status == 409 || row.Status == 429 || row.Status >= 500
		said := string(res.Header.Peek("x-should-retry"))
		if want := map[bool]string{true: "false"}[repeats && row.Retry == apierr.No]; said != want {
			t.Errorf("%s (%d): x-should-retry %q, want %q", code, row.Status, said, want)
		}
		if row.Retry == apierr.Later && res.Header.Peek("Retry-After") == nil {
			t.Errorf("%s (%d): no Retry-After", code, row.Status)
		}
	}
}

func TestEndedTurnsNameTheirErrorOnBothWires(t *testing.T) {
	t.Parallel()
	f := event.Fail(event.UsageLimited, "the plan is used up")
	if code, message := apierr.TurnError(f); code != "usage_limit_exceeded" || message != f.Message {
		t.Errorf("turn error %s: %s", code, message)
	}
	if code, message := apierr.ResponseError(f); code != "rate_limit_exceeded" || message != f.Message {
		t.Errorf("response error %s: %s", code, message)
	}
	if code, message := apierr.TurnError(nil); code != "internal_error" || message == "" {
		t.Errorf("no failure: %s: %q", code, message)
	}
	if code, message := apierr.ResponseError(event.Fail(event.CLICrashed, "")); code != "server_error" || message == "" {
		t.Errorf("no message: %s: %q", code, message)
	}
	if code, message := apierr.ResponseError(nil); code != "server_error" || message == "" {
		t.Errorf("no failure: %s: %q", code, message)
	}
	for code, want := range map[event.Code]string{
		event.MaxOutputTokens: "max_output_tokens", event.TurnLimit: "max_messages", event.CLICrashed: "",
	} {
		if got := apierr.Incomplete(event.Fail(code, "x")); got != want {
			t.Errorf("%s is incomplete by %q, want %q", code, got, want)
		}
	}
	if apierr.Incomplete(nil) != "" {
		t.Error("nothing is incomplete")
	}
}
