package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// served answers every request with the lines as a stream.
func served(t *testing.T, lines ...string) *client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, l := range lines {
			_, _ = fmt.Fprintf(w, "%s\n\n", l)
		}
	}))
	t.Cleanup(s.Close)
	return &client{base: s.URL, out: &strings.Builder{}}
}

const created = `data: {"type":"response.created","response":{"conversation":{"id":"conv_00"}}}`

func TestRespondFindsTheSessionOfTheResponse(t *testing.T) {
	t.Parallel()
	c := served(t, created, `: ping`, `data: {"type":"response.output_text.delta","delta":"hi"}`, `data: {"type":"response.completed"}`)
	got, err := c.respond(t.Context(), "hello")
	if err != nil || got.session != "agsess_00" {
		t.Fatal(got, err)
	}
	if shown := fmt.Sprint(c.out); !strings.Contains(shown, `response.output_text.delta`) || !strings.Contains(shown, `"hi"`) {
		t.Errorf("shown: %s", shown)
	}
}

func TestATurnThatFailsFailsTheDemo(t *testing.T) {
	t.Parallel()
	for want, lines := range map[string][]string{
		"ended with response.failed": {created, `data: {"type":"response.failed"}`},
		"ended early":                {created},
		"names no conversation":      {`data: {"type":"response.completed"}`},
		"read an event":              {`data: {`},
	} {
		if _, err := served(t, lines...).respond(t.Context(), "hello"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := served(t, `data: {"type":"agent.session.turn.failed"}`, `data: {"type":"agent.session.idle"}`).post(t.Context(), "agsess_00", "x"); err == nil {
		t.Error("a failed turn of the Agents wire passed")
	}
}

func TestLongEventsStayOnOneLine(t *testing.T) {
	t.Parallel()
	if got := clip(strings.Repeat("é", 500)); len([]rune(got)) != 100 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
