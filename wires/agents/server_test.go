package agents

import (
	"bufio"
	"context"
	stdjson "encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/sse"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// service is the wire behind a real HTTP server in memory, for one principal.
type service struct {
	t      *testing.T
	engine *fakeEngine
	client *http.Client
}

const patience = time.Minute

func serve(t *testing.T, o Options) *service {
	t.Helper()
	s := &service{t: t, engine: newFakeEngine(t)}
	if o.Now == nil {
		o.Now = func() time.Time { return time.UnixMilli(storyStart) }
	}
	w := New(s.engine, o)
	hub := sse.NewHub(sse.Options{Heartbeat: time.Hour})
	r := router.New()
	r.HandleMethodNotAllowed = false
	for route, h := range map[string]call.Handler{
		"POST /agents":                                            w.CreateAgent,
		"GET /agents":                                             w.ListAgents,
		"GET /agents/{agent_id}":                                  w.GetAgent,
		"POST /agents/{agent_id}":                                 w.UpdateAgent,
		"DELETE /agents/{agent_id}":                               w.DeleteAgent,
		"POST /agents/sessions":                                   w.CreateSession,
		"GET /agents/sessions":                                    w.ListSessions,
		"GET /agents/sessions/{session_id}":                       w.GetSession,
		"POST /agents/sessions/{session_id}":                      w.UpdateSession,
		"DELETE /agents/sessions/{session_id}":                    w.DeleteSession,
		"POST /agents/sessions/{session_id}/events":               w.SendEvents,
		"GET /agents/sessions/{session_id}/events":                w.StreamEvents,
		"GET /agents/sessions/{session_id}/turns":                 w.ListTurns,
		"GET /agents/sessions/{session_id}/turns/{turn_id}":       w.GetTurn,
		"GET /agents/sessions/{session_id}/turns/{turn_id}/items": w.ListTurnItems,

		"GET /agents/sessions/{session_id}/subagents":                                     w.ListSubagents,
		"GET /agents/sessions/{session_id}/subagents/{subagent_id}":                       w.GetSubagent,
		"GET /agents/sessions/{session_id}/subagents/{subagent_id}/items":                 w.ListSubagentItems,
		"GET /agents/sessions/{session_id}/subagents/{subagent_id}/turns":                 w.ListSubagentTurns,
		"GET /agents/sessions/{session_id}/subagents/{subagent_id}/turns/{turn_id}":       w.GetSubagentTurn,
		"GET /agents/sessions/{session_id}/subagents/{subagent_id}/turns/{turn_id}/items": w.ListSubagentTurnItems,
		"GET /agents/sessions/{session_id}/items":                                         w.ListItems,
		"GET /agents/queue": w.ListQueue,

		"GET /agents/sessions/{session_id}/artifacts":                        w.ListArtifacts,
		"GET /agents/sessions/{session_id}/artifacts/{artifact_id}":          w.GetArtifact,
		"DELETE /agents/sessions/{session_id}/artifacts/{artifact_id}":       w.DeleteArtifact,
		"GET /agents/sessions/{session_id}/artifacts/{artifact_id}/content":  w.DownloadArtifact,
		"HEAD /agents/sessions/{session_id}/artifacts/{artifact_id}/content": w.DownloadArtifact,
	} {
		verb, path, _ := strings.Cut(route, " ")
		r.Handle(verb, "/v1"+path, func(ctx *fasthttp.RequestCtx) {
			owner := string(ctx.Request.Header.Peek("X-Test-Owner"))
			c := &call.Call{Ctx: ctx, Principal: or(owner, "alice"), Admin: owner == "root", RequestID: "req_1", Streams: hub}
			if err := c.Load(10 << 20); err != nil {
				c.Fail(err)
				return
			}
			h(c)
			checkAnswer(t, route, ctx)
		})
	}
	ln := fasthttputil.NewInmemoryListener()
	server := &fasthttp.Server{Handler: r.Handler, MaxRequestBodySize: 10 << 20}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.Dial() }}
	s.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := hub.Close(ctx); err != nil {
			t.Errorf("close the streams: %v", err)
		}
		transport.CloseIdleConnections()
		if err := server.ShutdownWithContext(ctx); err != nil {
			t.Errorf("shut down: %v", err)
		}
		_ = ln.Close()
		<-served
		if n := s.engine.open(); n != 0 {
			t.Errorf("%d subscriptions were left open", n)
		}
	})
	return s
}

// answer is a finished response.
type answer struct {
	t      *testing.T
	Status int
	Header http.Header
	Raw    []byte
	Body   map[string]any
}

func (s *service) request(verb, path, body string, headers ...string) *http.Response {
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
	return res
}

func (s *service) do(verb, path, body string, headers ...string) *answer {
	s.t.Helper()
	res := s.request(verb, path, body, headers...)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := &answer{t: s.t, Status: res.StatusCode, Header: res.Header, Raw: raw}
	if len(raw) > 0 && strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		if err := stdjson.Unmarshal(raw, &a.Body); err != nil {
			s.t.Fatalf("%v in %s", err, raw)
		}
	}
	return a
}

func (a *answer) str(name string) string { v, _ := a.Body[name].(string); return v }

// is fails the test unless the answer is a 200 with an object of that type.
func (a *answer) is(object string) *answer {
	a.t.Helper()
	if a.Status != 200 {
		a.t.Fatalf("status %d: %s", a.Status, a.Raw)
	}
	checkObject(a.t, object, a.Raw)
	return a
}

// refused fails the test unless the answer is that refusal.
func (a *answer) refused(status int, code, param string) string {
	a.t.Helper()
	e, _ := a.Body["error"].(map[string]any)
	if a.Status != status || e == nil || e["code"] != code || e["param"] != param {
		a.t.Errorf("status %d %s, want %d %s at %q", a.Status, a.Raw, status, code, param)
		return ""
	}
	message, _ := e["message"].(string)
	return message
}

// tail is an open event stream.
type tail struct {
	t    *testing.T
	res  *http.Response
	read *bufio.Reader
	all  []byte
}

func (s *service) tail(verb, path, body string, headers ...string) *tail {
	s.t.Helper()
	res := s.request(verb, path, body, headers...)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		raw, _ := io.ReadAll(res.Body)
		s.t.Fatalf("status %d: %s", res.StatusCode, raw)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return &tail{t: s.t, res: res, read: bufio.NewReader(res.Body)}
}

// until reads up to the first frame of the given kind; "" reads to the end.
func (l *tail) until(kind string) []frame {
	l.t.Helper()
	stop := time.AfterFunc(patience, func() { _ = l.res.Body.Close() })
	defer stop.Stop()
	found := false
	for {
		line, err := l.read.ReadString('\n')
		if strings.HasPrefix(line, ":") {
			continue
		}
		l.all = append(l.all, line...)
		found = found || kind != "" && line == "event: "+kind+"\n"
		if err == nil && !(found && line == "\n") {
			continue
		}
		if err != nil && (err != io.EOF || kind != "") {
			l.t.Fatalf("no %s: %v after\n%s", kind, err, l.all)
		}
		return parseStream(l.t, l.all)
	}
}

func (l *tail) close() { _ = l.res.Body.Close() }
