package drive

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// Agents drives the Agents wire (beta agents=v1).
func Agents(url, token, model string) Wire { return &agentsWire{newClient(url, token), model} }

type agentsWire struct {
	client
	model string
}

type agentsSession struct {
	*agentsWire
	id string
}

func (w *agentsWire) Session(ctx context.Context) (Session, error) {
	var out struct {
		ID string `json:"id"`
	}
	if err := w.ask(ctx, "POST", "/v1/agents/sessions", map[string]any{"agent": map[string]any{"model": w.model}}, &out); err != nil {
		return nil, err
	}
	return &agentsSession{w, out.ID}, nil
}

var turnEvent = []byte("agent.session.turn.")

func agentsEnd(event, _ []byte) string {
	rest, ok := bytes.CutPrefix(event, turnEvent)
	if !ok {
		return ""
	}
	switch string(rest) {
	case "completed", "failed", "cancelled":
		return string(rest)
	}
	return ""
}

func (s *agentsSession) open(ctx context.Context) (*http.Response, error) {
	return s.stream(ctx, "GET", "/v1/agents/sessions/"+s.id+"/events", nil)
}

func (s *agentsSession) Turn(ctx context.Context, prompt string, sight *Sight) error {
	return s.Fan(ctx, prompt, []*Sight{sight})
}

func (s *agentsSession) Fan(ctx context.Context, prompt string, sights []*Sight) error {
	err := fan(sights, func() (*http.Response, error) { return s.open(ctx) }, func() error { return s.Send(ctx, prompt) }, agentsEnd)
	return completed(sights[0], err)
}

func (s *agentsSession) Send(ctx context.Context, prompt string) error {
	message := map[string]any{"role": "user", "content": []any{map[string]any{"type": "input_text", "text": prompt}}}
	event := map[string]any{"type": "agent.session.input.message", "input": []any{message}}
	return s.ask(ctx, "POST", "/v1/agents/sessions/"+s.id+"/events", map[string]any{"events": []any{event}}, nil)
}

func (s *agentsSession) Ended(ctx context.Context) (string, error) {
	var out struct {
		Data []struct {
			Status string `json:"status"`
		} `json:"data"`
	}
	err := s.ask(ctx, "GET", "/v1/agents/sessions/"+s.id+"/turns?limit=1&order=desc", nil, &out)
	if err != nil || len(out.Data) == 0 {
		return "", err
	}
	return over(out.Data[0].Status), nil
}

func (s *agentsSession) Cancel(ctx context.Context) error {
	event := map[string]any{"type": "agent.session.input.cancel"}
	return s.ask(ctx, "POST", "/v1/agents/sessions/"+s.id+"/events", map[string]any{"events": []any{event}}, nil)
}

func (s *agentsSession) Delete(ctx context.Context) error {
	return s.ask(ctx, "DELETE", "/v1/agents/sessions/"+s.id, nil, nil)
}

func (s *agentsSession) Idle(ctx context.Context) (io.Closer, error) {
	resp, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
