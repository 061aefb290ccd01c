package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/call"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

const (
	aliceToken = "alice-token-0123456789"
	rootToken  = "root-token-0123456789"
	guestToken = "guest-token-0123456789"
)

var principals = []Principal{
	{ID: "alice", Roles: []string{"dev"}, Token: aliceToken},
	{ID: "root", Roles: []string{"admin"}, Token: rootToken},
	{ID: "guest", Roles: []string{"observer"}, Token: guestToken},
}

// running is a server under test.
type running struct {
	*Server
	addr string
	log  *logBuffer
}

// logBuffer keeps what is logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start serves cfg on a free loopback port with handlers of the test.
func start(t *testing.T, cfg Config, h *handlers) *running {
	t.Helper()
	log := &logBuffer{}
	if cfg.Host == nil {
		cfg.Host = &fakeHost{}
	}
	if cfg.Groups == nil {
		cfg.Groups = []string{"agents"}
	}
	if cfg.Version == "" {
		cfg.Version = "1.2.3"
	}
	cfg.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if h == nil {
		h = echoHandlers()
	}
	s, err := build(cfg, func(Host, *Config) *handlers { return h })
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error("close:", err)
		}
		if err := <-served; err != nil {
			t.Error("serve:", err)
		}
	})
	return &running{s, ln.Addr().String(), log}
}

// echoHandlers answer with what the server gave them.
func echoHandlers() *handlers {
	echo := func(c *call.Call) {
		c.JSON(200, map[string]any{
			"principal": c.Principal, "admin": c.Admin, "operation": c.Operation, "body": string(c.Body),
			"adapter": c.Param("adapter"), "response_id": c.Param("response_id"), "session_id": c.Param("session_id"), "agent_id": c.Param("agent_id"),
			"stream": func() string { v, _ := c.Query("stream"); return v }(),
		})
	}
	return &handlers{
		createAgent: echo, listAgents: echo, getAgent: echo, updateAgent: echo, deleteAgent: echo,
		createSession: echo, listSessions: echo, getSession: echo, updateSession: echo, deleteSession: echo,
		sendEvent: echo, streamEvents: echo, listItems: echo, listTurns: echo, getTurn: echo, listTurnItems: echo,
		listSubagents: echo, getSubagent: echo, listSubagentItems: echo, listSubagentTurns: echo, getSubagentTurn: echo, listSubagentTurnItems: echo,
		createResponse: echo, getResponse: echo, deleteResponse: echo, cancelResponse: echo, listInputItems: echo,
		createFile: echo, listFiles: echo, getFile: echo, downloadFile: echo, deleteFile: echo,
		listModels: echo, getModel: func(*call.Call) { panic("a bug with a secret-path /etc/x") },
	}
}

// raw sends bytes and reads until the server closes.
func (r *running) raw(t *testing.T, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil && len(answer) == 0 {
		t.Fatal(err)
	}
	return string(answer)
}

// answer is a parsed answer.
type answer struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

func (a *answer) code() string {
	e, _ := a.json["error"].(map[string]any)
	s, _ := e["code"].(string)
	return s
}

// parse reads one answer and holds every one to what all of them must have.
func parse(t *testing.T, text string) *answer {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), nil)
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	a := &answer{status: res.StatusCode, header: res.Header, body: string(body)}
	if !strings.HasPrefix(a.header.Get("x-request-id"), "req_") {
		t.Errorf("no x-request-id on %d %s", a.status, a.body)
	}
	if strings.HasPrefix(a.body, "{") {
		if ct := a.header.Get("Content-Type"); ct != "application/json" {
			t.Errorf("Content-Type %q", ct)
		}
		if err := json.Unmarshal(body, &a.json); err != nil {
			t.Fatal(err, a.body)
		}
	}
	if a.status >= 400 && a.json["status"] == nil { // /readyz has a shape of its own
		e, ok := a.json["error"].(map[string]any)
		if !ok || e["message"] == "" || e["type"] == "" || e["code"] == "" {
			t.Errorf("no envelope on %d: %q", a.status, a.body)
		}
	}
	return a
}

// do sends a request with a token; body "" is none.
func (r *running) do(t *testing.T, method, path, token, body string, headers ...string) *answer {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: t\r\nConnection: close\r\n", method, path)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	text := r.raw(t, b.String()+"\r\n"+body)
	if method == "HEAD" { // tell the parser that no body follows
		a := &answer{}
		head, rest, _ := strings.Cut(text, "\r\n\r\n")
		a.body = rest
		if _, err := fmt.Sscanf(head, "HTTP/1.1 %d", &a.status); err != nil {
			t.Fatal(err, text)
		}
		return a
	}
	return parse(t, text)
}

// fakeHost is an engine that does nothing; the wires are not called.
type fakeHost struct {
	Host
	noRoom   bool
	wanted   chan string
	storeErr error
}

func (f *fakeHost) Stats() actors.Stats {
	return actors.Stats{Running: 3, Waiting: 5, OrphansReaped: 7, Completed: 11, Commits: 2, CommitTime: time.Second, Room: !f.noRoom}
}
func (f *fakeHost) StoreErr() error { return f.storeErr }
func (f *fakeHost) Install(_ context.Context, name, version string) (*actors.Install, error) {
	if name != "codex" {
		return nil, event.FailParam(event.NotFound, "runtime", "no such adapter")
	}
	f.wanted <- name + " " + version
	return &actors.Install{ID: event.ID{7}, Adapter: name, Package: "@made/codex", Version: "1.2", State: actors.InstallRunning, Created: 5000}, nil
}
func (f *fakeHost) Runtimes(context.Context) []actors.Runtime {
	return []actors.Runtime{{Name: "codex", Binary: "codex", Aliases: []string{"openai-codex"}, Path: "/x/codex", Version: "1", Installed: true, Default: true,
		Installable: []string{"1.2"}, Lacks: []actors.Lack{{Word: "--json"}, {Word: "--x", Param: "input"}}}, {Name: "other"}}
}
