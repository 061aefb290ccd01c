package files_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
	"github.com/agenthost/agenthost/wires/files/filestest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// service is the wire behind a real HTTP server in memory.
type service struct {
	t      *testing.T
	engine *filestest.Engine
	client *http.Client
	addr   *fasthttputil.InmemoryListener
}

func serve(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, engine: &filestest.Engine{}, addr: fasthttputil.NewInmemoryListener()}
	w := files.New(s.engine)
	r := router.New()
	for route, h := range map[string]call.Handler{
		"POST /files": w.Create, "GET /files": w.List, "GET /files/{file_id}": w.Retrieve,
		"GET /files/{file_id}/content": w.Content, "HEAD /files/{file_id}/content": w.Content, "DELETE /files/{file_id}": w.Delete,
	} {
		verb, path, _ := strings.Cut(route, " ")
		r.Handle(verb, "/v1"+path, func(ctx *fasthttp.RequestCtx) {
			owner := string(ctx.Request.Header.Peek("X-Test-Owner"))
			if owner == "" {
				owner = "alice"
			}
			c := &call.Call{Ctx: ctx, Principal: owner, RequestID: "req_1"}
			if err := c.Load(1 << 20); err != nil {
				c.Fail(err)
				return
			}
			h(c)
		})
	}
	server := &fasthttp.Server{Handler: r.Handler, DisablePreParseMultipartForm: true}
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.addr) }()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return s.addr.Dial() }}
	s.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		transport.CloseIdleConnections()
		if err := server.ShutdownWithContext(ctx); err != nil {
			t.Errorf("shut down: %v", err)
		}
		_ = s.addr.Close()
		<-served
		if n := s.engine.Open(); n != 0 {
			t.Errorf("%d contents were left open", n)
		}
	})
	return s
}

type answer struct {
	t      *testing.T
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (s *service) do(verb, path, body string, headers ...string) *answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), verb, "http://host/v1"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := &answer{t: s.t, status: res.StatusCode, header: res.Header, raw: string(raw)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") && len(raw) > 0 {
		if err := json.Unmarshal(raw, &a.body); err != nil {
			s.t.Fatalf("%v in %s", err, raw)
		}
	}
	return a
}

func (a *answer) str(name string) string { v, _ := a.body[name].(string); return v }

func (a *answer) refused(status int, code, param string) {
	a.t.Helper()
	e, _ := a.body["error"].(map[string]any)
	got, _ := e["param"].(string)
	if a.status != status || e["code"] != code || got != param {
		a.t.Errorf("%d %s, want %d %s at %q", a.status, a.raw, status, code, param)
	}
}

// form is a multipart body: fields, and parts with a Content-Disposition of their
// own.
func form(t *testing.T, parts ...[2]string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		if !strings.HasPrefix(p[0], "form-data") {
			p[0] = `form-data; name="` + p[0] + `"`
		}
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {p[0]}})
		if err == nil {
			_, err = io.WriteString(part, p[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// upload posts a form with one file.
func (s *service) upload(disposition, content string, headers ...string) *answer {
	s.t.Helper()
	body, kind := form(s.t, [2]string{disposition, content}, [2]string{"purpose", "vision"})
	return s.do("POST", "/files", body, append(headers, "Content-Type", kind)...)
}
