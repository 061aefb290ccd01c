package calltest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/wires/call"
)

// Post answers body by handle, with path values by name.
func Post(handle call.Handler, principal string, body []byte, values ...string) *call.Call {
	ctx := new(fasthttp.RequestCtx)
	ctx.Request.Header.SetMethod(fasthttp.MethodPost)
	ctx.Request.SetRequestURI("/")
	for i := 0; i+1 < len(values); i += 2 {
		ctx.SetUserValue(values[i], values[i+1])
	}
	c := &call.Call{Ctx: ctx, Principal: principal, RequestID: "req_1", Body: body}
	handle(c)
	return c
}

// Refused holds the answer to a body that an engine took nothing of: a refusal in
// JSON that is not the host's fault.
func Refused(t testing.TB, operation string, c *call.Call) {
	t.Helper()
	status, got := c.Ctx.Response.StatusCode(), c.Ctx.Response.Body()
	if status < 400 || status >= 500 || !json.Valid(got) || !utf8.Valid(got) {
		t.Errorf("%s: %d %q", operation, status, got)
	}
}

// Sound finds text that no CLI and no store should be given in what a body was read
// as: every string, and every value that is kept as JSON.
func Sound(t testing.TB, read any) {
	t.Helper()
	if fault := unsound(reflect.ValueOf(read), 0); fault != "" {
		t.Errorf("a body was read as %T with %s", read, fault)
	}
}

var rawJSON = reflect.TypeFor[json.RawMessage]()

func unsound(v reflect.Value, depth int) string {
	if depth > 100 {
		return "endless nesting"
	}
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); !utf8.ValidString(s) {
			return fmt.Sprintf("text that is no UTF-8: %q", s)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return unsound(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if fault := unsound(v.Field(i), depth+1); fault != "" {
				return v.Type().Field(i).Name + ": " + fault
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if fault := unsound(key, depth+1) + unsound(v.MapIndex(key), depth+1); fault != "" {
				return fault
			}
		}
	case reflect.Slice:
		if v.Type() == rawJSON {
			if b := v.Bytes(); len(b) > 0 && (!json.Valid(b) || !utf8.Valid(b)) {
				return fmt.Sprintf("JSON that is none: %q", b)
			}
			return ""
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return "" // bytes are bytes
		}
		for i := range v.Len() {
			if fault := unsound(v.Index(i), depth+1); fault != "" {
				return fault
			}
		}
	}
	return ""
}
