package drive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// ACP drives a host that carries the Agent Client Protocol over HTTP as sandbox-agent
// does: a POST a message, and one stream of what the agent says. A session is an agent
// process with one conversation.
func ACP(url, agent string) Wire { return &acpWire{client: newClient(url, ""), agent: agent} }

type acpWire struct {
	client
	agent string
	last  atomic.Int64
}

type acpSession struct {
	*acpWire
	path    string
	session string
	asked   atomic.Int64
	seen    string // the last event that was read
}

// ACPEnd is what the bench's agent says at the end of a turn.
const ACPEnd = "[[end of turn]]"

func acpEnd(_, data []byte) string {
	if bytes.Contains(data, []byte(ACPEnd)) {
		return "completed"
	}
	return ""
}

// answerLimit is how long a stream may miss the end of a turn that was answered.
const answerLimit = 2 * time.Second

func (w *acpWire) Session(ctx context.Context) (Session, error) {
	s := &acpSession{acpWire: w, path: fmt.Sprintf("/v1/acp/bench-%d-%d", os.Getpid(), w.last.Add(1))}
	first := s.path + "?agent=" + w.agent
	if err := s.call(ctx, first, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}}, nil); err != nil {
		return nil, err
	}
	var out struct {
		Result struct {
			Session string `json:"sessionId"`
		} `json:"result"`
	}
	err := s.call(ctx, s.path, "session/new", map[string]any{"cwd": os.TempDir(), "mcpServers": []any{}}, &out)
	s.session = out.Result.Session
	return s, err
}

func (s *acpSession) call(ctx context.Context, path, method string, params map[string]any, out any) error {
	return s.ask(ctx, "POST", path, map[string]any{"jsonrpc": "2.0", "id": s.asked.Add(1), "method": method, "params": params}, out)
}

func (s *acpSession) open(ctx context.Context) (*http.Response, error) {
	req, err := s.request(ctx, "GET", s.path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if s.seen != "" {
		req.Header.Set("Last-Event-ID", s.seen)
	}
	return open(s.http, req)
}

func (s *acpSession) Turn(ctx context.Context, prompt string, sight *Sight) error {
	return s.Fan(ctx, prompt, []*Sight{sight})
}

func (s *acpSession) Fan(ctx context.Context, prompt string, sights []*Sight) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	err := fan(sights, func() (*http.Response, error) { return s.open(ctx) }, func() error {
		go func() {
			err := s.Send(ctx, prompt)
			if err == nil { // what is dropped on its way never comes
				time.AfterFunc(answerLimit, cancel)
			}
			answered <- err
		}()
		return nil
	}, acpEnd)
	if last := sights[0].LastID; last != "" {
		s.seen = last
	}
	if sent := <-answered; sent != nil {
		return sent
	}
	for _, one := range sights {
		if one.Ended == "" && one.Events > 0 { // its end was dropped, which is counted as lost
			one.Ended, err = "completed", nil
		}
	}
	return completed(sights[0], err)
}

func (s *acpSession) Send(ctx context.Context, prompt string) error {
	return s.call(ctx, s.path, "session/prompt", map[string]any{"sessionId": s.session, "prompt": []any{map[string]any{"type": "text", "text": prompt}}}, nil)
}

func (*acpSession) Ended(context.Context) (string, error) {
	return "", Unsupported("way to ask how a turn ended")
}

func (s *acpSession) Cancel(ctx context.Context) error {
	return s.ask(ctx, "POST", s.path, map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": s.session}}, nil)
}

func (s *acpSession) Delete(ctx context.Context) error { return s.ask(ctx, "DELETE", s.path, nil, nil) }

func (s *acpSession) Idle(ctx context.Context) (io.Closer, error) {
	resp, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
