package drive

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
)

// Plain drives bench/plain.
func Plain(url string) Wire { return &plainWire{newClient(url, "")} }

type plainWire struct{ client }

type plainSession struct {
	*plainWire
	id   string
	seen int // events read
}

func (w *plainWire) Session(ctx context.Context) (Session, error) {
	var out struct {
		ID string `json:"id"`
	}
	if err := w.ask(ctx, "POST", "/sessions", nil, &out); err != nil {
		return nil, err
	}
	return &plainSession{plainWire: w, id: out.ID}, nil
}

func plainEnd(event, data []byte) string {
	if !bytes.Equal(event, []byte("ended")) {
		return ""
	}
	if bytes.Contains(data, []byte(`"status":"completed"`)) {
		return "completed"
	}
	return "failed"
}

func (s *plainSession) open(ctx context.Context) (*http.Response, error) {
	return s.stream(ctx, "GET", "/sessions/"+s.id+"/events?after="+strconv.Itoa(s.seen), nil)
}

func (s *plainSession) Turn(ctx context.Context, prompt string, sight *Sight) error {
	return s.Fan(ctx, prompt, []*Sight{sight})
}

func (s *plainSession) Fan(ctx context.Context, prompt string, sights []*Sight) error {
	err := fan(sights, func() (*http.Response, error) { return s.open(ctx) }, func() error { return s.Send(ctx, prompt) }, plainEnd)
	s.seen += sights[0].Frames
	return completed(sights[0], err)
}

func (s *plainSession) Send(ctx context.Context, prompt string) error {
	return s.ask(ctx, "POST", "/sessions/"+s.id+"/turns", map[string]string{"prompt": prompt}, nil)
}

func (s *plainSession) Ended(context.Context) (string, error) {
	return "", Unsupported("way to ask how a turn ended")
}

func (s *plainSession) Cancel(ctx context.Context) error {
	return s.ask(ctx, "POST", "/sessions/"+s.id+"/cancel", nil, nil)
}

func (s *plainSession) Delete(ctx context.Context) error {
	return s.ask(ctx, "DELETE", "/sessions/"+s.id, nil, nil)
}

func (s *plainSession) Idle(ctx context.Context) (io.Closer, error) {
	resp, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
