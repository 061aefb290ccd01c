package call_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/sse"
)

func newCall(method, uri, body string, headers ...string) *call.Call {
	ctx := new(fasthttp.RequestCtx)
	ctx.Request.Header.SetMethod(method)
	ctx.Request.SetRequestURI(uri)
	ctx.Request.SetBodyString(body)
	for i := 0; i+1 < len(headers); i += 2 {
		ctx.Request.Header.Set(headers[i], headers[i+1])
	}
	return &call.Call{Ctx: ctx, Operation: "responses.create", RequestID: "req_1", Body: []byte(body)}
}

const limit = 64 << 10

func pack(t testing.TB, encoding, body string) string {
	t.Helper()
	var b bytes.Buffer
	switch encoding {
	case "gzip":
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(body))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	case "zstd":
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(body))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestBodiesAreDecodedUpToTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, encoding, body, want string
		code                       event.Code
	}{
		{"plain", "", `{"a":1}`, `{"a":1}`, ""},
		{"identity", "identity", `{"a":1}`, `{"a":1}`, ""},
		{"gzip", "gzip", pack(t, "gzip", `{"a":1}`), `{"a":1}`, ""},
		{"GZIP", " GZIP ", pack(t, "gzip", `{"a":1}`), `{"a":1}`, ""},
		{"zstd", "zstd", pack(t, "zstd", `{"a":1}`), `{"a":1}`, ""},
		{"none", "gzip", "", "", ""},
		{"plain said to be gzip", "gzip", `{"a":1}`, "", event.InvalidRequest},
		{"plain said to be zstd", "zstd", `{"a":1}`, "", event.InvalidRequest},
		{"cut gzip", "gzip", pack(t, "gzip", `{"a":1}`)[:20], "", event.InvalidRequest},
		{"unknown", "foo", `{"a":1}`, "", apierr.UnsupportedEncoding},
		{"too large", "", strings.Repeat("x", limit+1), "", apierr.BodyTooLarge},
		{"gzip bomb", "gzip", pack(t, "gzip", strings.Repeat("x", 40*limit)), "", apierr.BodyTooLarge},
		{"zstd bomb", "zstd", pack(t, "zstd", strings.Repeat("x", 40*limit)), "", apierr.BodyTooLarge},
		{"exactly the limit", "gzip", pack(t, "gzip", strings.Repeat("x", limit)), strings.Repeat("x", limit), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second one reuses a decoder
				k := newCall("POST", "/v1/responses", c.body, "Content-Encoding", c.encoding)
				k.Body = nil
				err := k.Load(limit)
				if event.CodeOf(err) != c.code || c.code == "" && string(k.Body) != c.want {
					t.Fatalf("body %.40q, err %v", k.Body, err)
				}
				if c.code == "" && c.want != "" {
					copy(k.Ctx.Request.Body(), "XXXXXXXX")
					if string(k.Body) != c.want {
						t.Error("the body shares the server's memory")
					}
				}
			}
		})
	}
}

type thing struct {
	Model string            `json:"model"`
	Count int               `json:"count"`
	Meta  map[string]string `json:"metadata"`
	Inner struct {
		List []int `json:"list"`
		On   bool  `json:"on"`
		embedded
	} `json:"inner"`
}

type embedded struct {
	Deep int `json:"deep"`
}

func deep(n int) string {
	return `{"metadata":` + strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) + `}`
}

func TestOddJSONIsReadAsDocumentedOrRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, model, param, message string }{
		{"plain", `{"model":"codex"}`, "codex", "", ""},
		{"spaces", " {\n \"model\" :\r\n\t\"codex\" } \n", "codex", "", ""},
		{"byte order mark", "\xef\xbb\xbf{\"model\":\"codex\"}", "codex", "", ""},
		{"last of equal keys", `{"model":"nope","model":"codex"}`, "codex", "", ""},
		{"lone surrogate", `{"model":"cut \ud83d end"}`, "cut \uFFFD end", "", ""},
		{"invalid UTF-8", "{\"model\":\"bad \xff byte\"}", "bad \uFFFD byte", "", ""},
		{"unknown fields", `{"model":"codex","zz":{"x":[1]}}`, "codex", "", ""},
		{"brackets in strings", `{"model":"` + strings.Repeat("[", 2000) + `\"{"}`, strings.Repeat("[", 2000) + `"{`, "", ""},
		{"nothing", "", "", "", "needs a JSON body"},
		{"blank", "  \n", "", "", "needs a JSON body"},
		{"only the mark", "\xef\xbb\xbf", "", "", "needs a JSON body"},
		{"trailing value", `{"model":"codex"} {"model":"x"}`, "", "", "not valid JSON (at byte 19 of"},
		{"truncated", `{"model":"codex","input":"hi`, "", "", "not valid JSON"},
		{"NaN", `{"model":NaN}`, "", "", "not valid JSON"},
		{"UTF-16", "\xff\xfe{\x00\"\x00m\x00\"\x00:\x001\x00}\x00", "", "", "not valid JSON"},
		{"too deep", deep(12000), "", "", "nested deeper than 1000"},
		{"deep and cut", strings.Repeat("[", 5000), "", "", "nested deeper than 1000"},
		{"control character", "{\"model\":\"a\nb\"}", "", "", "not valid JSON"},
		{"wrong type", `{"model":5}`, "", "model", "model does not have the right shape: expected a string, got number"},
		{"wrong inner type", `{"inner":{"on":"secret-value"}}`, "", "inner.on", "expected true or false, got string"},
		{"wrong map value", `{"metadata":{"k":1}}`, "", "metadata", "expected a string, got number"},
		{"list for object", `[1]`, "", "", "the request body does not have the right shape: expected an object, got array"},
		{"fraction for integer", `{"count":1.5}`, "", "count", "expected an integer, got number"},
		{"text for list", `{"inner":{"list":"x"}}`, "", "inner.list", "expected a list, got string"},
		{"of an embedded struct", `{"inner":{"deep":"x"}}`, "", "inner.deep", "inner.deep does not have the right shape: expected an integer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var v thing
			err := newCall("POST", "/", c.body).Decode(&v)
			if c.message == "" {
				if err != nil || v.Model != c.model {
					t.Fatalf("model %q, err %v", v.Model, err)
				}
				return
			}
			f, ok := event.AsFailure(err)
			if !ok || f.Code != event.InvalidRequest || !strings.Contains(f.Message, c.message) || !strings.HasPrefix(f.Param, c.param) {
				t.Fatalf("err %v", err)
			}
			if strings.Contains(f.Message, "secret-value") || strings.Contains(f.Message, "codex") {
				t.Errorf("the message quotes the body: %s", f.Message)
			}
		})
	}
}

func TestBodyMayBeMissingWhereItIsOptional(t *testing.T) {
	t.Parallel()
	var v thing
	if there, err := newCall("POST", "/", "").DecodeOptional(&v); there || err != nil {
		t.Errorf("no body: %v, %v", there, err)
	}
	if there, err := newCall("POST", "/", `{"model":"m"}`).DecodeOptional(&v); !there || err != nil || v.Model != "m" {
		t.Errorf("body: %v, %v", there, err)
	}
	if _, err := newCall("POST", "/", `{`).DecodeOptional(&v); event.CodeOf(err) != event.InvalidRequest {
		t.Errorf("cut body: %v", err)
	}
}

func TestObjectKeepsValuesCompactAndPrecise(t *testing.T) {
	t.Parallel()
	o, err := newCall("POST", "/", "{ \"a\" : { \"n\" : 9007199254740993 ,\n\"x\": [ 1 ] }, \"z\": null }").Object()
	if err != nil || string(o["z"]) != "null" || string(o["a"]) != `{"n":9007199254740993,"x":[1]}` {
		t.Errorf("%s, %v", o["a"], err)
	}
	for _, body := range []string{`null`, `[]`, `"x"`, `5`, ``} {
		if _, err := newCall("POST", "/", body).Object(); event.CodeOf(err) != event.InvalidRequest {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestPathAndQueryValuesAreCopies(t *testing.T) {
	t.Parallel()
	id := event.NewID()
	c := newCall("GET", "/v1/x?stream=true&q=a%20b&bad=maybe&zero=0", "")
	c.Ctx.SetUserValue("response_id", id.With(event.PrefixResponse))
	if got, ok := c.ID("response_id", event.PrefixResponse); !ok || got != id {
		t.Errorf("id %v %v", got, ok)
	}
	for _, bad := range []string{"resp_", "turn_" + id.Hex(), "resp_..%2f", "resp_" + id.Hex() + "0", "resp_" + strings.ToUpper(event.NewID().Hex()) + "G"} {
		c.Ctx.SetUserValue("bad", bad)
		if _, ok := c.ID("bad", event.PrefixResponse); ok {
			t.Errorf("%q reads as an id", bad)
		}
	}
	if c.Param("missing") != "" {
		t.Error("a missing value is not empty")
	}
	if v, ok := c.Query("q"); !ok || v != "a b" {
		t.Errorf("query %q %v", v, ok)
	}
	if _, ok := c.Query("none"); ok {
		t.Error("a missing query value is there")
	}
	for name, want := range map[string]bool{"stream": true, "zero": false, "none": false} {
		if got, err := c.Flag(name); got != want || err != nil {
			t.Errorf("flag %s: %v %v", name, got, err)
		}
	}
	if _, err := c.Flag("bad"); event.CodeOf(err) != event.InvalidRequest {
		t.Errorf("bad flag: %v", err)
	}
	if c.Context() == nil {
		t.Error("no context")
	}
	c.Base = t.Context()
	if c.Context() != c.Base {
		t.Error("not the server's context")
	}
}

func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query string
		want  spec.Page
		after string
		param string
	}{
		{"", spec.Page{Limit: 20, Desc: true}, "", ""},
		{"limit=100&order=asc&after=item_1", spec.Page{Limit: 100}, "item_1", ""},
		{"limit=1&order=desc", spec.Page{Limit: 1, Desc: true}, "", ""},
		{"limit=0", spec.Page{}, "", "limit"},
		{"limit=101", spec.Page{}, "", "limit"},
		{"limit=abc", spec.Page{}, "", "limit"},
		{"limit=", spec.Page{}, "", "limit"},
		{"order=up", spec.Page{}, "", "order"},
	} {
		p, after, err := newCall("GET", "/x?"+c.query, "").Page()
		if c.param != "" {
			if f, ok := event.AsFailure(err); !ok || f.Code != event.InvalidRequest || f.Param != c.param {
				t.Errorf("%s: %v", c.query, err)
			}
			continue
		}
		if err != nil || p != c.want || after != c.after {
			t.Errorf("%s: %+v %q %v", c.query, p, after, err)
		}
	}
}

func TestKeyTellsRequestsApart(t *testing.T) {
	t.Parallel()
	key := func(method, uri, body, value string) *spec.Key {
		return newCall(method, uri, body, "Idempotency-Key", value).Key()
	}
	if newCall("POST", "/a", "x").Key() != nil {
		t.Error("a key without the header")
	}
	base := key("POST", "/a", "x", "k")
	if same := key("POST", "/a", "x", "k"); *same != *base || base.Value != "k" {
		t.Errorf("%v and %v differ", same, base)
	}
	for _, other := range []*spec.Key{key("PUT", "/a", "x", "k"), key("POST", "/ax", "", "k"), key("POST", "/a", "y", "k")} {
		if other.Hash == base.Hash {
			t.Errorf("%v has the same hash", other)
		}
	}
	long := key("POST", "/a", "x", strings.Repeat("k", 4000))
	if len(long.Value) > 80 || long.Value == key("POST", "/a", "x", strings.Repeat("k", 4001)).Value {
		t.Errorf("a long key became %q", long.Value)
	}
}

func TestAnswersCarryTheRequestID(t *testing.T) {
	t.Parallel()
	c := newCall("GET", "/", "")
	c.JSON(201, map[string]int{"a": 1})
	if r := &c.Ctx.Response; r.StatusCode() != 201 || string(r.Body()) != `{"a":1}` ||
		string(r.Header.ContentType()) != "application/json" || string(r.Header.Peek("x-request-id")) != "req_1" {
		t.Errorf("%s", r)
	}
	c = newCall("GET", "/", "")
	c.Empty(202)
	if r := &c.Ctx.Response; r.StatusCode() != 202 || len(r.Body()) != 0 || len(r.Header.ContentType()) != 0 || string(r.Header.Peek("x-request-id")) != "req_1" {
		t.Errorf("%s", r)
	}
	var log bytes.Buffer
	c = newCall("GET", "/", "")
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	c.JSON(200, func() {})
	if r := &c.Ctx.Response; r.StatusCode() != 500 || c.Refused == nil || c.Refused.Code != apierr.Internal || !strings.Contains(log.String(), "req_1") {
		t.Errorf("%s; log %q", r, log.String())
	}
	log.Reset()
	c.Fail(event.Fail(event.QueueFull, "full"))
	if c.Ctx.Response.StatusCode() != 429 || log.Len() != 0 || c.Refused.Code != event.QueueFull {
		t.Errorf("%s; log %q", &c.Ctx.Response, log.String())
	}
}

type nothing struct{ closed bool }

func (*nothing) Next() ([]byte, <-chan struct{}, bool, error) { return nil, nil, true, nil }
func (n *nothing) Close()                                     { n.closed = true }

func TestStreamIsRefusedWhenTheHostShutsDown(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	c := newCall("GET", "/", "")
	c.Streams = hub
	src := &nothing{}
	c.Hijack(src)
	if !c.Ctx.Hijacked() {
		t.Error("the connection was not taken over")
	}
	if err := hub.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !src.closed {
		t.Error("the source was not closed")
	}
	late := &nothing{}
	c = newCall("GET", "/", "")
	c.Streams = hub
	c.Hijack(late)
	if c.Ctx.Response.StatusCode() != 503 || !late.closed || !errors.Is(c.Refused, event.Fail(event.ShuttingDown, "")) {
		t.Errorf("%s", &c.Ctx.Response)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"model":"x"}`, "\xef\xbb\xbf{}", `{"inner":{"list":[1,"x"]}}`, `[[[[`, "\xff\xfe{\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := newCall("POST", "/", "")
		c.Body = body
		var v thing
		if err := c.Decode(&v); err != nil && event.CodeOf(err) != event.InvalidRequest {
			t.Errorf("%q: %v", body, err)
		}
	})
}

// FuzzLoad: any bytes under any encoding give a body within the limit, or a refusal
// that is the caller's fault.
func FuzzLoad(f *testing.F) {
	for _, encoding := range []string{"", "identity", "gzip", "zstd", "GZIP", "br", "gzip, gzip"} {
		f.Add(encoding, []byte(`{"model":"x"}`))
	}
	for _, encoding := range []string{"gzip", "zstd"} {
		f.Add(encoding, []byte(pack(f, encoding, `{"model":"x"}`)))
		f.Add(encoding, []byte(pack(f, encoding, strings.Repeat(" ", 4<<20))))
	}
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		c := newCall("POST", "/", string(body), "Content-Encoding", encoding)
		err := c.Load(limit)
		if len(c.Body) > limit {
			t.Errorf("%d bytes", len(c.Body))
		}
		switch event.CodeOf(err) {
		case "", event.InvalidRequest, apierr.BodyTooLarge, apierr.UnsupportedEncoding:
		default:
			t.Error(err)
		}
	})
}
