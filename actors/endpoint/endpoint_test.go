package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ctx(t *testing.T) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return c
}

// served is a server that is closed at the test's end.
func served(t *testing.T) *Server {
	t.Helper()
	s := New()
	t.Cleanup(func() {
		c, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(c); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func opened(t *testing.T, s *Server, handle func(Call) Result, tools ...Tool) *Door {
	t.Helper()
	d, err := s.Open(tools, handle)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bearer is an HTTP client that shows a token.
type bearer struct {
	token string
	rt    http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.rt.RoundTrip(r)
}

func client(t *testing.T, token string) *http.Client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: bearer{token, tr}}
}

func connected(t *testing.T, d *Door) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(ctx(t), &mcp.StreamableClientTransport{Endpoint: d.URL, HTTPClient: client(t, d.Token), DisableStandaloneSSE: true, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func said(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			b.WriteString(c.Text)
		case *mcp.ImageContent:
			fmt.Fprintf(&b, "[%s %s]", c.MIMEType, c.Data)
		}
	}
	return b.String()
}

func TestOfficialClientListsAndCalls(t *testing.T) {
	t.Parallel()
	got := make(chan Call, 8)
	d := opened(t, served(t), func(c Call) Result {
		got <- c
		switch c.Tool {
		case "paint":
			return Result{Content: []Content{{Text: "here: "}, {Image: []byte("png"), MIME: "image/png"}}}
		case "fail":
			return Result{Failed: true, Content: []Content{{Text: "no such city"}}}
		}
		return Result{}
	}, Tool{Name: "weather", Description: "of a city", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)},
		Tool{Name: "paint", Schema: json.RawMessage(`{"type":"array"}`)}, Tool{Name: "fail", Schema: json.RawMessage(`{`)})
	s := connected(t, d)
	list, err := s.ListTools(ctx(t), nil)
	if err != nil || len(list.Tools) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, tool := range list.Tools {
		schema, _ := json.Marshal(tool.InputSchema)
		if tool.Name == "weather" && (!strings.Contains(string(schema), "city") || tool.Description != "of a city") || !strings.Contains(string(schema), `"object"`) {
			t.Errorf("%s: %s", tool.Name, schema)
		}
	}
	for _, c := range []struct {
		tool, args string
		want       string
		failed     bool
	}{
		{"weather", `{"city":"Oslo"}`, "", false}, {"paint", ``, "here: [image/png png]", false}, {"fail", `{}`, "no such city", true},
	} {
		p := &mcp.CallToolParams{Name: c.tool}
		if c.args != "" {
			p.Arguments = json.RawMessage(c.args)
		}
		r, err := s.CallTool(ctx(t), p)
		if err != nil || said(r) != c.want || r.IsError != c.failed {
			t.Fatalf("%s: %+v, %v", c.tool, r, err)
		}
		call := <-got
		if want := c.args; call.Tool != c.tool || string(call.Arguments) != want && (want != "" || string(call.Arguments) != "{}") {
			t.Errorf("handled %s(%s)", call.Tool, call.Arguments)
		}
	}
	if _, err := s.CallTool(ctx(t), &mcp.CallToolParams{Name: "nothing"}); err == nil {
		t.Error("an unknown tool was called")
	}
}

func TestCallsRunAtOnce(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	all.Add(5)
	d := opened(t, served(t), func(c Call) Result {
		all.Done()
		all.Wait() // for the others
		return Result{Content: []Content{{Text: string(c.Arguments)}}}
	}, Tool{Name: "a"})
	s := connected(t, d)
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			args := fmt.Sprintf(`{"n":%d}`, i)
			r, err := s.CallTool(ctx(t), &mcp.CallToolParams{Name: "a", Arguments: json.RawMessage(args)})
			if err != nil || said(r) != args {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wg.Wait()
}

// hung is a handler that waits for the end of its call and tells of both.
func hung() (handle func(Call) Result, began, ended chan struct{}) {
	began, ended = make(chan struct{}, 8), make(chan struct{}, 8)
	return func(c Call) Result {
		began <- struct{}{}
		<-c.Context.Done()
		ended <- struct{}{}
		return Result{Failed: true, Content: []Content{{Text: "given up"}}}
	}, began, ended
}

func arrives(t *testing.T, what string, ch chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(20 * time.Second):
		t.Fatal(what + ": nothing happened")
	}
}

func TestClosingADoorEndsItsCallsOnly(t *testing.T) {
	t.Parallel()
	srv := served(t)
	handle, began, ended := hung()
	d := opened(t, srv, handle, Tool{Name: "a"})
	other := opened(t, srv, func(Call) Result { return Result{Content: []Content{{Text: "ok"}}} }, Tool{Name: "b"})
	s, still := connected(t, d), connected(t, other)
	result := make(chan *mcp.CallToolResult, 1)
	go func() {
		r, _ := s.CallTool(ctx(t), &mcp.CallToolParams{Name: "a"})
		result <- r
	}()
	arrives(t, "the call", began)
	d.Close()
	d.Close()
	arrives(t, "the end", ended)
	if r := <-result; r == nil || !r.IsError || said(r) != "given up" {
		t.Errorf("%+v", r)
	}
	if code := status(t, d.URL, d.Token, initialize); code != http.StatusNotFound {
		t.Errorf("a closed door answers %d", code)
	}
	if r, err := still.CallTool(ctx(t), &mcp.CallToolParams{Name: "b"}); err != nil || said(r) != "ok" {
		t.Errorf("the other door: %+v, %v", r, err)
	}
	(*Door)(nil).Close()
}

func TestClientThatLeavesEndsItsCall(t *testing.T) {
	t.Parallel()
	handle, began, ended := hung()
	d := opened(t, served(t), handle, Tool{Name: "a"})
	c, leave := context.WithCancel(ctx(t))
	gone := make(chan error, 1)
	go func() {
		_, err := post(c, client(t, d.Token), d.URL, callOf("a", "{}"))
		gone <- err
	}()
	arrives(t, "the call", began)
	leave()
	arrives(t, "the end", ended)
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestServerCloseEndsCallsAndRefusesDoors(t *testing.T) {
	t.Parallel()
	srv := New()
	handle, began, ended := hung()
	d := opened(t, srv, handle, Tool{Name: "a"})
	s := connected(t, d)
	go func() { _, _ = s.CallTool(ctx(t), &mcp.CallToolParams{Name: "a"}) }()
	arrives(t, "the call", began)
	if err := srv.Close(ctx(t)); err != nil {
		t.Fatal(err)
	}
	arrives(t, "the end", ended)
	if _, err := srv.Open(nil, handle); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Open after Close: %v", err)
	}
	if _, err := post(ctx(t), client(t, d.Token), d.URL, initialize); err == nil {
		t.Error("a closed server answers")
	}
	if err := srv.Close(ctx(t)); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := New().Close(ctx(t)); err != nil {
		t.Errorf("of one that never listened: %v", err)
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func callOf(tool, args string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}

func post(c context.Context, client *http.Client, url, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(c, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return client.Do(r)
}

func status(t *testing.T, url, token, body string) int {
	t.Helper()
	r, err := post(ctx(t), client(t, token), url, body)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return r.StatusCode
}

func TestEachDoorHasItsOwnToken(t *testing.T) {
	t.Parallel()
	srv := served(t)
	handle := func(Call) Result { return Result{} }
	a, b := opened(t, srv, handle, Tool{Name: "a"}), opened(t, srv, handle, Tool{Name: "b"})
	if a.URL == b.URL || a.Token == b.Token || len(a.Token) < 32 || !strings.HasPrefix(a.URL, "http://127.0.0.1:") {
		t.Fatalf("%q and %q", a.URL, b.URL)
	}
	base := a.URL[:strings.LastIndex(a.URL, "/")]
	for _, c := range []struct {
		url, token string
		want       int
	}{
		{a.URL, a.Token, 200}, {b.URL, b.Token, 200}, {a.URL, b.Token, 404}, {b.URL, a.Token, 404}, {a.URL, "", 404},
		{a.URL, a.Token[1:], 404}, {base + "/", a.Token, 404}, {a.URL + "/", a.Token, 404},
	} {
		if got := status(t, c.url, c.token, initialize); got != c.want {
			t.Errorf("%s: %d, want %d", c.url, got, c.want)
		}
	}
}

func TestTooLongACallIsRefused(t *testing.T) {
	t.Parallel()
	called := make(chan Call, 1)
	d := opened(t, served(t), func(c Call) Result { called <- c; return Result{} }, Tool{Name: "a"})
	if got := status(t, d.URL, d.Token, callOf("a", `{"x":"`+strings.Repeat("x", maxBody)+`"}`)); got != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", got)
	}
	if len(called) > 0 {
		t.Error("it was called")
	}
	if got := status(t, d.URL, d.Token, callOf("a", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`)); got != 200 || len(called) != 1 {
		t.Errorf("a long one that is short enough: %d", got)
	}
}

// A call that waits says something from time to time, so that the client's HTTP does
// not give up; what it says is no event.
func TestWaitingCallIsHeard(t *testing.T) {
	t.Parallel()
	srv := served(t)
	srv.commentEvery = 2 * time.Millisecond
	answer := make(chan struct{})
	d := opened(t, srv, func(Call) Result {
		<-answer
		return Result{Content: []Content{{Text: "at last"}}}
	}, Tool{Name: "a"})
	r, err := post(ctx(t), client(t, d.Token), d.URL, callOf("a", "{}"))
	if err != nil { // the headers come while it waits
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if got := r.Header.Get("Content-Type"); r.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("%d %s", r.StatusCode, got)
	}
	some := make([]byte, 3*len(waitComment))
	if _, err := io.ReadFull(r.Body, some); err != nil || string(some) != strings.Repeat(waitComment, 3) {
		t.Fatalf("%q, %v", some, err)
	}
	close(answer)
	rest, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	rest = bytes.ReplaceAll(rest, []byte(waitComment), nil)
	if !bytes.HasPrefix(rest, []byte("event: message\n")) || bytes.Count(rest, []byte("\n\n")) != 1 || !bytes.Contains(rest, []byte("at last")) {
		t.Errorf("%q", rest)
	}
}

// The official client takes the comments for what they are.
func TestOfficialClientWaits(t *testing.T) {
	t.Parallel()
	srv := served(t)
	srv.commentEvery = time.Millisecond
	answer := make(chan struct{})
	began := make(chan struct{}, 8)
	d := opened(t, srv, func(c Call) Result {
		began <- struct{}{}
		<-answer
		return Result{Content: []Content{{Text: string(c.Arguments)}}}
	}, Tool{Name: "a"})
	s := connected(t, d)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			args := fmt.Sprintf(`{"n":%d}`, i)
			r, err := s.CallTool(ctx(t), &mcp.CallToolParams{Name: "a", Arguments: json.RawMessage(args)})
			if err != nil || said(r) != args {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	for range 4 {
		arrives(t, "a call", began)
	}
	// A further call hears some comments, and so did the others meanwhile.
	r, err := post(ctx(t), client(t, d.Token), d.URL, callOf("a", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r.Body, make([]byte, 10*len(waitComment))); err != nil {
		t.Error(err)
	}
	close(answer)
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	wg.Wait()
}

// The SDK panics at some schemas, which callers write.
func TestOddSchemasAreTakenOrRefused(t *testing.T) {
	t.Parallel()
	s := served(t)
	header := `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":%s}}}`
	for schema, taken := range map[string]bool{
		`{"TYPE":"object"}`:                 true,
		`{"type":"object","Type":"array"}`:  true,
		`{"Type":"object","type":"string"}`: true,
		`{"type":["object"]}`:               true,
		`{"type":"object","properties":5}`:  true,
		`[]`:                                true,
		``:                                  true,
		`not JSON`:                          true,
		fmt.Sprintf(header, `"Region"`):     true,
		fmt.Sprintf(header, `"bad header"`): false,
		fmt.Sprintf(header, `5`):            false,
	} {
		d, err := s.Open([]Tool{{Name: "odd", Schema: json.RawMessage(schema)}}, func(Call) Result { return Result{} })
		var refused *RefusedError
		if taken != (err == nil) || err != nil && (!errors.As(err, &refused) || refused.Tool != "odd") {
			t.Errorf("%s: %v", schema, err)
		}
		d.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.doors) != 0 {
		t.Errorf("%d doors are left", len(s.doors))
	}
}
