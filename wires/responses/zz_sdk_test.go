package responses_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
)

func TestZZServe(t *testing.T) {
	if os.Getenv("SDK") == "" {
		t.Skip()
	}
	c := newClient(t, newEngine(t, func(f *fakeTurn) {
		f.do(func(h *history) { h.start() })
		time.Sleep(200*time.Millisecond)
		f.do(func(h *history) {
			h.reasoning("Let me ", "look.")
			h.message(event.Commentary, "I will run ls.")
			h.tool(event.Item{Type: event.Command, Command: "ls && pwd", Cwd: "/w", Server: "codex"}, func(it *event.Item) {
				it.Output, it.ExitCode, it.Millis = "a\nb\n", ptr(1), 12
			})
			h.tool(event.Item{Type: event.WebSearch, Query: "weather"}, func(*event.Item) {})
			h.message(event.FinalAnswer, "Two ", "files.").completed()
		})
	}))
	os.WriteFile("/tmp/sdk.url", []byte(c.url), 0o644)
	fmt.Println(c.url)
	time.Sleep(60 * time.Second)
}
