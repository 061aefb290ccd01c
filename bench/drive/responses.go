package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"
)

// Responses drives the Responses wire. A session is a conversation.
func Responses(url, token, model string) Wire { return &responsesWire{newClient(url, token), model} }

type responsesWire struct {
	client
	model string
}

type responsesSession struct {
	*responsesWire
	id   string // of the conversation
	turn string // of the response sent last
}

func (w *responsesWire) Session(ctx context.Context) (Session, error) {
	var out struct {
		ID string `json:"id"`
	}
	if err := w.ask(ctx, "POST", "/v1/conversations", map[string]any{}, &out); err != nil {
		return nil, err
	}
	return &responsesSession{responsesWire: w, id: out.ID}, nil
}

var responseEvent = []byte("response.")

func responsesEnd(event, _ []byte) string {
	rest, ok := bytes.CutPrefix(event, responseEvent)
	if !ok {
		return ""
	}
	switch string(rest) {
	case "completed", "failed", "incomplete", "cancelled":
		return string(rest)
	}
	return ""
}

func (s *responsesSession) body(prompt string) map[string]any {
	return map[string]any{"model": s.model, "input": prompt, "conversation": s.id}
}

func (s *responsesSession) Turn(ctx context.Context, prompt string, sight *Sight) error {
	body := s.body(prompt)
	body["stream"] = true
	began := time.Now()
	resp, err := s.stream(ctx, "POST", "/v1/responses", body)
	if err != nil {
		return err
	}
	sight.Posted = time.Since(began)
	defer func() { _ = resp.Body.Close() }()
	return completed(sight, follow(resp.Body, sight, responsesEnd))
}

func (s *responsesSession) Fan(context.Context, string, []*Sight) error {
	return Unsupported("stream that can be opened before its turn")
}

func (s *responsesSession) Send(ctx context.Context, prompt string) error {
	body := s.body(prompt)
	body["background"] = true
	var out struct {
		ID     string          `json:"id"`
		Status string          `json:"status"`
		Error  json.RawMessage `json:"error"`
	}
	err := s.ask(ctx, "POST", "/v1/responses", body, &out)
	s.turn = out.ID
	return err
}

func (s *responsesSession) Ended(ctx context.Context) (string, error) {
	var out struct {
		Status string `json:"status"`
	}
	err := s.ask(ctx, "GET", "/v1/responses/"+s.turn, nil, &out)
	return over(out.Status), err
}

func (s *responsesSession) Cancel(ctx context.Context) error {
	return s.ask(ctx, "POST", "/v1/responses/"+s.turn+"/cancel", nil, nil)
}

func (s *responsesSession) Delete(ctx context.Context) error {
	return s.ask(ctx, "DELETE", "/v1/conversations/"+s.id, nil, nil)
}

func (s *responsesSession) Idle(context.Context) (io.Closer, error) {
	return nil, Unsupported("stream of an idle session")
}
