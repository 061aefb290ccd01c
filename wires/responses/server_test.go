package responses_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/responses"
	"github.com/agenthost/agenthost/wires/sse"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

const patience = time.Minute

// client talks to a server of the wire over a real socket.
type client struct {
	t      *testing.T
	engine *fakeEngine
	url    string
	http   *http.Client
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// newClient serves the wire; the header "As" names the caller.
func newClient(t *testing.T, engine *fakeEngine) *client {
	t.Helper()
	hub := sse.NewHub(sse.Options{})
	wire := responses.New(engine, responses.Options{
		Adapters: []responses.Adapter{{Name: "codex", Aliases: []string{"gpt"}}, {Name: "claude-code", Images: true}},
		Started:  1_700_000_000, CancelWait: 200 * time.Millisecond,
	})
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	for _, route := range []struct {
		method, path, operation string
		handler                 call.Handler
	}{
		{"POST", "/v1/responses", "responses.create", wire.Create},
		{"POST", "/agents/{adapter}/v1/responses", "responses.create", wire.Create},
		{"POST", "/v1/responses/compact", "responses.compact", wire.Compact},
		{"POST", "/v1/responses/input_tokens", "responses.count_input_tokens", wire.CountInputTokens},
		{"GET", "/v1/responses/{response_id}", "responses.get", wire.Retrieve},
		{"DELETE", "/v1/responses/{response_id}", "responses.delete", wire.Delete},
		{"POST", "/v1/responses/{response_id}/cancel", "responses.cancel", wire.Cancel},
		{"GET", "/v1/responses/{response_id}/input_items", "responses.list_input_items", wire.InputItems},
		{"POST", "/v1/conversations", "conversations.create", wire.CreateConversation},
		{"GET", "/v1/conversations/{conversation_id}", "conversations.get", wire.GetConversation},
		{"POST", "/v1/conversations/{conversation_id}", "conversations.update", wire.UpdateConversation},
		{"DELETE", "/v1/conversations/{conversation_id}", "conversations.delete", wire.DeleteConversation},
		{"POST", "/v1/conversations/{conversation_id}/items", "conversations.create_items", wire.CreateItems},
		{"GET", "/v1/conversations/{conversation_id}/items", "conversations.list_items", wire.ListItems},
		{"GET", "/v1/conversations/{conversation_id}/items/{item_id}", "conversations.get_item", wire.GetItem},
		{"DELETE", "/v1/conversations/{conversation_id}/items/{item_id}", "conversations.delete_item", wire.DeleteItem},
		{"GET", "/v1/models", "agents.models.list", wire.ModelsList},
		{"GET", "/v1/models/{model}", "agents.models.get", wire.ModelsRetrieve},
	} {
		r.Handle(route.method, route.path, func(ctx *fasthttp.RequestCtx) {
			c := &call.Call{Ctx: ctx, Principal: string(ctx.Request.Header.Peek("As")), Operation: route.operation, RequestID: "req_1", Streams: hub}
			if err := c.Load(10 << 20); err != nil {
				c.Fail(err)
				return
			}
			route.handler(c)
			checkAnswer(t, route.operation, ctx)
		})
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &fasthttp.Server{Handler: r.Handler, Logger: quiet{}, MaxRequestBodySize: 32 << 20}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(ln)
	}()
	// A stream's connection is closed behind it, which a request that was already
	// under way on it would take for a broken answer.
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_ = hub.Close(ctx)
		if err := srv.Shutdown(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return &client{t: t, engine: engine, url: "http://" + ln.Addr().String(), http: &http.Client{Transport: transport, Timeout: patience}}
}

type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

func (c *client) do(method, path, body string, headers ...string) *answer {
	c.t.Helper()
	res := c.open(method, path, body, headers...)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.Header.Get("x-request-id") != "req_1" {
		c.t.Errorf("%s %s: no request id", method, path)
	}
	return &answer{c.t, res.StatusCode, res.Header, b}
}

func (c *client) open(method, path, body string, headers ...string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("As", "me")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

func (c *client) create(body string, headers ...string) *answer {
	c.t.Helper()
	return c.do("POST", "/v1/responses", body, headers...)
}

// object is the answer as a JSON object; the status must be 200.
func (a *answer) object() map[string]any {
	a.t.Helper()
	var o map[string]any
	if err := json.Unmarshal(a.body, &o); err != nil || a.status != 200 {
		a.t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return o
}

func (a *answer) id() string {
	a.t.Helper()
	id, _ := a.object()["id"].(string)
	return id
}

// text joins the output's messages.
func (a *answer) text() string {
	a.t.Helper()
	output, _ := a.object()["output"].([]any)
	var b strings.Builder
	for _, o := range output {
		m, _ := o.(map[string]any)
		content, _ := m["content"].([]any)
		for _, p := range content {
			part, _ := p.(map[string]any)
			s, _ := part["text"].(string)
			b.WriteString(s)
		}
	}
	return b.String()
}

// refused checks a refusal's status, code and param.
func (a *answer) refused(status int, code, param string) {
	a.t.Helper()
	var e struct {
		Error struct {
			Message, Type, Code string
			Param               *string
		}
	}
	if err := json.Unmarshal(a.body, &e); err != nil {
		a.t.Fatalf("%s: %v", a.body, err)
	}
	got := ""
	if e.Error.Param != nil {
		got = *e.Error.Param
	}
	if a.status != status || e.Error.Code != code || got != param || e.Error.Message == "" || e.Error.Type == "" {
		a.t.Errorf("answered %d %s, want %d %s param %q", a.status, a.body, status, code, param)
	}
}

// frames reads a stream's body without comments.
func frames(b []byte) []byte { return bytes.TrimPrefix(b, []byte(": ok\n")) }

// answers plays a turn that says text.
func answers(text string) func(*fakeTurn) {
	return func(f *fakeTurn) {
		f.do(func(h *history) { h.start() })
		f.do(func(h *history) { h.message(event.FinalAnswer, text) })
		f.do(func(h *history) { h.completed() })
		f.forget()
	}
}

// forget does what the engine does after the end of a turn that is not stored.
func (f *fakeTurn) forget() {
	f.e.mu.Lock()
	t := f.s.turns[f.id]
	f.e.mu.Unlock()
	if t.Input.Forget {
		f.do(func(h *history) { h.on(f.id, event.TurnForgotten) })
	}
}

// untilCancelled plays a turn that ends only by cancel.
func untilCancelled(f *fakeTurn) {
	f.do(func(h *history) { h.start() })
	<-f.cancelled
	f.do(func(h *history) { h.end(event.End{Outcome: event.Cancelled}) })
}

func (c *client) waitFor(what string, ok func() bool) {
	c.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (c *client) lastInput() string {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return c.engine.inputs[len(c.engine.inputs)-1].Prompt()
}

func (c *client) turnOf(id string) *fold.Turn {
	c.t.Helper()
	turn, ok := event.Parse(id, event.PrefixResponse)
	if !ok {
		c.t.Fatalf("%q is no response id", id)
	}
	t, err := c.engine.Turn(context.Background(), "me", turn)
	if err != nil {
		c.t.Fatal(err)
	}
	return t
}
