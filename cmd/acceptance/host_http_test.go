package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// caller is an HTTP client of one server, possibly with a token. Its url may
// change with a restart.
type caller struct {
	t     *testing.T
	url   func() string
	token string
}

// transport keeps no connection, so a server's descriptors are its own affair.
var transport = &http.Transport{DisableKeepAlives: true, DisableCompression: true}

// answer is what came back.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
	object map[string]any
}

func (c *caller) request(ctx context.Context, method, path string, body any, headers ...string) (*http.Response, error) {
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	case []byte:
		in = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url()+path, in)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return client.Do(req)
}

// do asks and reads the whole answer. A connection that breaks is status 0.
func (c *caller) do(method, path string, body any, headers ...string) *answer {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	a := &answer{t: c.t}
	resp, err := c.request(ctx, method, path, body, headers...)
	if err != nil {
		a.body = []byte(err.Error())
		return a
	}
	defer func() { _ = resp.Body.Close() }()
	a.status, a.header = resp.StatusCode, resp.Header
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		a.status, a.body = 0, []byte(err.Error())
		return a
	}
	_ = json.Unmarshal(a.body, &a.object)
	return a
}

// ok is do with an answer that must be 200 or 202.
func (c *caller) ok(method, path string, body any, headers ...string) *answer {
	c.t.Helper()
	a := c.do(method, path, body, headers...)
	if a.status != 200 && a.status != 202 {
		c.t.Fatalf("%s %s: %d %s", method, path, a.status, clip(a.body))
	}
	return a
}

// respond asks on the Responses wire, not streamed.
func (c *caller) respond(body map[string]any) *answer {
	c.t.Helper()
	return c.ok("POST", "/v1/responses", body)
}

// session makes a session and returns its id.
func (c *caller) session(adapter string) string {
	c.t.Helper()
	return c.ok("POST", "/v1/agents/sessions", map[string]any{"agent": map[string]any{"model": adapter}}).str("id")
}

// say posts one input to a session.
func (c *caller) say(session, text string, headers ...string) *answer {
	c.t.Helper()
	return c.do("POST", "/v1/agents/sessions/"+session+"/events", message(text), headers...)
}

func message(text string) map[string]any {
	return events(map[string]any{"type": "agent.session.input.message", "input": []any{map[string]any{
		"role": "user", "content": []any{map[string]any{"type": "input_text", "text": text}},
	}}})
}

func cancelInput() map[string]any {
	return events(map[string]any{"type": "agent.session.input.cancel"})
}

func events(list ...any) map[string]any { return map[string]any{"events": list} }

// at walks names and list indexes; nil when there is nothing.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p < 0 {
				p += len(l)
			}
			if p < 0 || p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func (a *answer) at(path ...any) any { return at(a.object, path...) }

func (a *answer) str(path ...any) string {
	s, _ := a.at(path...).(string)
	return s
}

func (a *answer) list(path ...any) []any {
	l, _ := a.at(path...).([]any)
	return l
}

// code is the code of a refusal; an answer that is no envelope is an error.
func (a *answer) code() string {
	a.t.Helper()
	e, ok := a.at("error").(map[string]any)
	if !ok || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		a.t.Errorf("%d, not an error envelope: %s %s", a.status, a.header.Get("Content-Type"), clip(a.body))
		return ""
	}
	for _, k := range []string{"message", "type", "param", "code"} {
		if _, ok := e[k]; !ok {
			a.t.Errorf("the error has no %s: %s", k, clip(a.body))
		}
	}
	return a.str("error", "code")
}

func clip(b []byte) string {
	if len(b) > 600 {
		return string(b[:400]) + "..." + string(b[len(b)-150:])
	}
	return string(b)
}

// outputText joins the messages of a response object, or of a list of items.
func outputText(a *answer) string {
	items := a.list("output")
	if items == nil {
		items = a.list("data")
	}
	return strings.Join(texts(items), "")
}

// texts lists the texts of the agent's messages among items.
func texts(items []any) []string {
	var out []string
	for _, item := range items {
		if at(item, "type") != "message" || at(item, "role") != "assistant" {
			continue
		}
		text := ""
		parts, _ := at(item, "content").([]any)
		for _, p := range parts {
			s, _ := at(p, "text").(string)
			text += s
		}
		out = append(out, text)
	}
	return out
}

// frame is one event of a stream. Its object is decoded when it is asked for:
// streams are long, and most frames are only counted.
type frame struct {
	event string // of the event: line
	raw   []byte // of the data: line
}

func (f frame) data() map[string]any {
	var m map[string]any
	_ = json.Unmarshal(f.raw, &m) // what is no object has no fields
	return m
}

func (f frame) kind() string { return f.event }

func (f frame) id() string {
	s, _ := f.data()["event_id"].(string)
	return s
}

// stream reads an event stream in the background.
type stream struct {
	t      *testing.T
	status int
	header http.Header
	cancel context.CancelFunc

	mu     sync.Mutex
	bytes  []byte
	frames []frame
	parsed int
	more   chan struct{}
	ended  bool
	err    error // of a stream that did not end properly
}

// open starts a stream; method GET with nil body, or POST.
func (c *caller) open(method, path string, body any, headers ...string) *stream {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &stream{t: c.t, cancel: cancel, more: make(chan struct{})}
	resp, err := c.request(ctx, method, path, body, headers...)
	if err != nil {
		cancel()
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	s.status, s.header = resp.StatusCode, resp.Header
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = resp.Body.Close() }()
		buf := make([]byte, 64<<10)
		for {
			n, err := resp.Body.Read(buf)
			s.add(buf[:n], err)
			if err != nil {
				return
			}
		}
	}()
	c.t.Cleanup(func() { cancel(); <-done })
	if s.status != 200 {
		s.end(10 * time.Second)
		c.t.Fatalf("%s %s: %d %s", method, path, s.status, clip(s.raw()))
	}
	return s
}

func (c *caller) events(session, query string) *stream {
	c.t.Helper()
	return c.open("GET", "/v1/agents/sessions/"+session+"/events"+query, nil)
}

func (s *stream) add(b []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes = append(s.bytes, b...)
	for {
		rest := s.bytes[s.parsed:]
		if bytes.HasPrefix(rest, []byte(":")) { // a heartbeat: one line
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				break
			}
			s.parsed += n + 1
			continue
		}
		n := bytes.Index(rest, []byte("\n\n"))
		if n < 0 {
			break
		}
		s.frames = append(s.frames, s.parse(rest[:n]))
		s.parsed += n + 2
	}
	if err != nil {
		s.ended = true
		if !errors.Is(err, io.EOF) {
			s.err = err
		} else if s.parsed < len(s.bytes) {
			s.err = errors.New("ends inside a frame")
		}
	}
	close(s.more)
	s.more = make(chan struct{})
}

func (s *stream) parse(block []byte) frame {
	var f frame
	for line := range bytes.Lines(block) {
		line = bytes.TrimRight(line, "\n")
		if v, ok := bytes.CutPrefix(line, []byte("event: ")); ok && f.event == "" {
			f.event = string(v)
		} else if v, ok := bytes.CutPrefix(line, []byte("data: ")); ok && f.raw == nil {
			f.raw = v
		} else {
			s.t.Errorf("a line that no decoder expects: %q", line)
		}
	}
	if f.event == "" || !bytes.HasPrefix(f.raw, []byte(`{"type":"`+f.event+`"`)) {
		s.t.Errorf("event %q with data %q", f.event, clip(f.raw))
	}
	return f
}

// wait waits until ok says so of the frames so far, and returns them.
func (s *stream) wait(timeout time.Duration, what string, ok func([]frame) bool) []frame {
	s.t.Helper()
	deadline := time.After(timeout)
	for {
		s.mu.Lock()
		frames, more, ended := s.frames, s.more, s.ended
		s.mu.Unlock()
		if ok(frames) {
			return frames
		}
		if ended {
			s.t.Fatalf("the stream ended (%v) before %s; it has %s", s.err, what, kinds(frames))
		}
		select {
		case <-more:
		case <-deadline:
			s.t.Fatalf("no %s within %s; the stream has %s", what, timeout, kinds(frames))
		}
	}
}

// waitKind waits for the n-th frame of a type.
func (s *stream) waitKind(timeout time.Duration, kind string, n int) []frame {
	s.t.Helper()
	read, seen := 0, 0
	return s.wait(timeout, itoa(n)+" x "+kind, func(all []frame) bool {
		seen += count(all[read:], kind)
		read = len(all)
		return seen >= n
	})
}

// end waits for the end of the stream and returns its frames.
func (s *stream) end(timeout time.Duration) []frame {
	s.t.Helper()
	deadline := time.After(timeout)
	for {
		s.mu.Lock()
		frames, more, ended := s.frames, s.more, s.ended
		s.mu.Unlock()
		if ended {
			return frames
		}
		select {
		case <-more:
		case <-deadline:
			s.t.Fatalf("the stream still is open after %s; it has %s", timeout, kinds(frames))
		}
	}
}

// broken is how the stream failed to end properly.
func (s *stream) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *stream) all() []frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frames
}

func (s *stream) raw() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.bytes)
}

// content is the stream's bytes without heartbeats, up to the last whole frame.
func (s *stream) content() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return content(s.bytes[:s.parsed])
}

func content(raw []byte) []byte {
	var out []byte
	for line := range bytes.Lines(raw) {
		if line[0] != ':' {
			out = append(out, line...)
		}
	}
	return out
}

func count(frames []frame, kind string) int {
	n := 0
	for _, f := range frames {
		if f.kind() == kind {
			n++
		}
	}
	return n
}

// kinds lists the frames' types, runs of one type counted.
func kinds(frames []frame) string {
	var b strings.Builder
	for i := 0; i < len(frames); {
		j := i
		for j < len(frames) && frames[j].kind() == frames[i].kind() {
			j++
		}
		if b.Len() > 1500 {
			b.WriteString(" ...")
			break
		}
		b.WriteString(" " + frames[i].kind())
		if j-i > 1 {
			b.WriteString(" x" + itoa(j-i))
		}
		i = j
	}
	return b.String()
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// tcp sends text over a connection of its own and reads to its end.
func (c *caller) tcp(text string) string {
	c.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url(), "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		c.t.Logf("send: %v", err)
	}
	out, err := io.ReadAll(conn)
	if err != nil {
		c.t.Logf("read: %v", err)
	}
	return string(out)
}
