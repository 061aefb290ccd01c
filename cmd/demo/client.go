package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// client asks the host and prints what comes back, as it comes.
type client struct {
	base string
	out  io.Writer
}

// asked is a finished turn of the Responses wire.
type asked struct{ session string }

const turnLimit = 2 * time.Minute

func (c *client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("OpenAI-Beta", "agents=v1")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
		_ = res.Body.Close()
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return res, nil
}

// respond asks on the Responses wire and streams the answer.
func (c *client) respond(ctx context.Context, prompt string) (*asked, error) {
	ctx, cancel := context.WithTimeout(ctx, turnLimit)
	defer cancel()
	res, err := c.send(ctx, http.MethodPost, "/v1/responses", map[string]any{"model": "codex", "input": prompt, "stream": true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	out := &asked{}
	end := ""
	err = c.events(res.Body, func(f *frame) bool {
		if f.Response != nil && f.Response.Conversation != nil {
			out.session = "agsess_" + strings.TrimPrefix(f.Response.Conversation.ID, "conv_")
		}
		switch f.Type {
		case "response.completed", "response.failed", "response.incomplete":
			end = f.Type
			return true
		}
		return false
	})
	switch {
	case err != nil:
		return nil, err
	case end != "response.completed":
		return nil, fmt.Errorf("the turn ended with %s", end)
	case out.session == "":
		return nil, errors.New("the response names no conversation")
	}
	return out, nil
}

// post asks on the Agents wire: the stream is opened first, so nothing is missed.
func (c *client) post(ctx context.Context, session, prompt string) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, turnLimit)
	defer cancel()
	path := "/v1/agents/sessions/" + session + "/events"
	res, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	input := map[string]any{"type": "agent.session.input.message", "input": prompt}
	posted, err := c.send(ctx, http.MethodPost, path, map[string]any{"events": []any{input}})
	if err != nil {
		return "", err
	}
	_ = posted.Body.Close()
	end := ""
	err = c.events(res.Body, func(f *frame) bool {
		if f.Type == "agent.session.turn.output_text.delta" {
			text += f.Delta
		}
		switch f.Type {
		case "agent.session.turn.completed", "agent.session.turn.failed", "agent.session.turn.cancelled":
			end = f.Type
		}
		return f.Type == "agent.session.idle"
	})
	if err == nil && end != "agent.session.turn.completed" {
		err = fmt.Errorf("the turn ended with %q", end)
	}
	return text, err
}

// frame is what the demo reads of an event of either wire.
type frame struct {
	Type     string `json:"type"`
	Delta    string `json:"delta"`
	Response *struct {
		Conversation *struct {
			ID string `json:"id"`
		} `json:"conversation"`
	} `json:"response"`
	Item *struct {
		Type      string  `json:"type"`
		Role      string  `json:"role"`
		Command   string  `json:"command"`   // Agents wire
		Output    *string `json:"output"`    // both
		Arguments string  `json:"arguments"` // Responses wire
	} `json:"item"`
}

// what is a few words of an event's content.
func (f *frame) what() string {
	switch {
	case f.Delta != "":
		return fmt.Sprintf("%q", f.Delta)
	case f.Item == nil:
		return ""
	}
	words := f.Item.Type
	if f.Item.Role != "" {
		words += " " + f.Item.Role
	}
	if what := f.Item.Command + f.Item.Arguments; what != "" {
		words += " " + what
	}
	if f.Item.Output != nil && *f.Item.Output != "" {
		words += fmt.Sprintf(" -> %q", *f.Item.Output)
	}
	return words
}

// events prints each event when it arrives, until last says that it was the last.
func (c *client) events(body io.Reader, last func(*frame) bool) error {
	start := time.Now()
	for b := bufio.NewReader(body); ; {
		line, err := b.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			var f frame
			if err := json.Unmarshal(data, &f); err != nil {
				return fmt.Errorf("read an event: %w", err)
			}
			_, _ = fmt.Fprintf(c.out, "  %6.3f s  %-44s %s\n", time.Since(start).Seconds(), f.Type, clip(f.what()))
			if last(&f) {
				return nil
			}
		}
		if err != nil {
			return fmt.Errorf("the stream ended early: %w", err)
		}
	}
}

// clip keeps an event on one line of a terminal.
func clip(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:60]) + " ... " + string(r[len(r)-35:])
	}
	return s
}
