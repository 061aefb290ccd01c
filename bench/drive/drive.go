package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// Wire makes sessions on a host.
type Wire interface {
	// Session makes one; a wire that has none gives what is as near.
	Session(ctx context.Context) (Session, error)
}

// Session is a conversation. It is used by one goroutine, but for Cancel.
type Session interface {
	// Turn runs one and reads it to its end.
	Turn(ctx context.Context, prompt string, s *Sight) error
	// Send hands in a turn and does not wait for it.
	Send(ctx context.Context, prompt string) error
	// Fan runs one turn that len(s) readers read, opened before it starts.
	Fan(ctx context.Context, prompt string, s []*Sight) error
	// Ended asks how the turn handed in last ended: "" when it has not.
	Ended(ctx context.Context) (string, error)
	// Cancel ends the running turn.
	Cancel(ctx context.Context) error
	// Delete forgets the session.
	Delete(ctx context.Context) error
	// Idle opens a stream on which nothing comes.
	Idle(ctx context.Context) (io.Closer, error)
}

// Unsupported says that a wire has no such thing.
type Unsupported string

func (u Unsupported) Error() string { return "this wire has no " + string(u) }

// client asks one host.
type client struct {
	url, token string
	http       *http.Client
}

// newClient keeps as many connections as are used at once: a new one for each small
// request would be measured instead of the host.
func newClient(url, token string) client {
	return client{url, token, &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 1024, MaxConnsPerHost: 0, DisableCompression: true, IdleConnTimeout: time.Minute,
		WriteBufferSize: 8 << 10, ReadBufferSize: 64 << 10,
	}}}
}

func (c client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, in)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

// ask sends a small request and reads its answer into out.
func (c client) ask(ctx context.Context, method, path string, body, out any) error {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return refused(resp)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(b, out)
}

// stream opens server-sent events.
func (c client) stream(ctx context.Context, method, path string, body any) (*http.Response, error) {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	return open(c.http, req)
}

// fan opens a stream for each reader, then starts the turn and waits for all.
func fan(sights []*Sight, openOne func() (*http.Response, error), start func() error, ended ending) error {
	streams := make([]*http.Response, 0, len(sights))
	defer func() {
		for _, resp := range streams {
			_ = resp.Body.Close()
		}
	}()
	for range sights {
		resp, err := openOne()
		if err != nil {
			return err
		}
		streams = append(streams, resp)
	}
	began := time.Now()
	if err := start(); err != nil {
		return err
	}
	posted := time.Since(began)
	errs := make(chan error, len(sights))
	for i, s := range sights {
		s.Posted = posted
		var in io.Reader = streams[i].Body
		if s.Slow > 0 {
			in = &slow{in, s.Slow, s.Full}
		}
		go func() { errs <- follow(in, s, ended) }()
	}
	var first error
	for range sights {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// NotCompleted is how a turn ended that did not complete.
type NotCompleted string

func (n NotCompleted) Error() string { return "the turn ended as " + string(n) }

// over is a status that a turn keeps, else "".
func over(status string) string {
	switch status {
	case "completed", "failed", "cancelled", "incomplete":
		return status
	}
	return ""
}

// completed is an error for a turn that ended otherwise.
func completed(s *Sight, err error) error {
	if err == nil && s.Ended != "completed" {
		err = NotCompleted(s.Ended)
	}
	return err
}
