package appserver

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/mcp"
)

// asTools in its environment makes the test binary a tool server.
const asTools = "APPSERVER_AS_TOOLS"

func TestMain(m *testing.M) {
	if os.Getenv(asTools) != "" {
		if mcp.Serve(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		return
	}
	if err := os.Setenv(asTools, "1"); err != nil { // for the children
		panic(err)
	}
	os.Exit(m.Run())
}

// host speaks with a stand-in.
type host struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan map[string]any
	done  chan error
	log   string
	home  string
}

func newHost(t *testing.T) *host {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	h := &host{t: t, lines: make(chan map[string]any, 1000), done: make(chan error, 1), log: filepath.Join(dir, "log"), home: dir}
	in, write := io.Pipe()
	read, out := io.Pipe()
	h.in = write
	go func() {
		h.done <- Serve(Options{Home: dir, Log: h.log, Tools: []string{self}, Leave: []string{"sleep"}}, in, out)
		_ = out.Close()
	}()
	go func() {
		defer close(h.lines)
		s := bufio.NewScanner(read)
		for s.Scan() {
			var m map[string]any
			if err := json.Unmarshal(s.Bytes(), &m); err != nil {
				t.Errorf("no JSON: %q", s.Text())
			}
			h.lines <- m
		}
	}()
	t.Cleanup(func() {
		_ = h.in.Close()
		select {
		case err := <-h.done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Error("it does not end with its input")
		}
	})
	return h
}

func (h *host) say(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// until reads on to a message that ok takes, and gives the texts of the methods before.
func (h *host) until(what string, ok func(map[string]any) bool) (m map[string]any, seen []map[string]any) {
	h.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case m := <-h.lines:
			if ok(m) {
				return m, seen
			}
			seen = append(seen, m)
		case <-limit:
			h.t.Fatalf("no %s; %v", what, seen)
		}
	}
}

func (h *host) answer(id float64) map[string]any {
	h.t.Helper()
	m, _ := h.until("answer", func(m map[string]any) bool { return m["id"] == id })
	if m["error"] != nil {
		return m
	}
	r, _ := m["result"].(map[string]any)
	return r
}

func at(m map[string]any, path ...string) string {
	var v any = m
	for _, p := range path {
		o, _ := v.(map[string]any)
		v = o[p]
	}
	s, _ := v.(string)
	return s
}

func (h *host) thread() string {
	h.t.Helper()
	h.say(`{"id":1,"method":"thread/start","params":{"cwd":"/"}}`)
	return at(h.answer(1), "thread", "id")
}

func (h *host) start(thread, prompt string) string {
	h.t.Helper()
	text, err := json.Marshal(prompt)
	if err != nil {
		h.t.Fatal(err)
	}
	h.say(`{"id":2,"method":"turn/start","params":{"threadId":"` + thread + `","input":[{"type":"text","text":` + string(text) + `}]}}`)
	return at(h.answer(2), "turn", "id")
}

func (h *host) completed() (status string, said string) {
	h.t.Helper()
	m, seen := h.until("end", func(m map[string]any) bool { return m["method"] == "turn/completed" })
	for _, one := range seen {
		if one["method"] == "item/completed" {
			said += at(one, "params", "item", "type") + " " + at(one, "params", "item", "text") + at(one, "params", "item", "aggregatedOutput") + at(one, "params", "item", "status") + ";"
		}
	}
	return at(m, "params", "turn", "status"), said
}

func TestTurnsOfAThread(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.say(`{"id":0,"method":"initialize"}`)
	h.answer(0)
	thread := h.thread()
	h.start(thread, `tag:one [[shell: echo out]] [[mcp: s echo {"text":"x"}]] [[say: well]]`)
	if status, said := h.completed(); status != "completed" || said != "commandExecution out\ncompleted;mcpToolCall completed;agentMessage well;" {
		t.Errorf("%s %q", status, said)
	}
	h.say(`{"id":3,"method":"thread/unsubscribe","params":{"threadId":"` + thread + `"}}`)
	h.answer(3)
	h.say(`{"id":4,"method":"thread/resume","params":{"threadId":"` + thread + `"}}`)
	if got := at(h.answer(4), "thread", "id"); got != thread {
		t.Errorf("resumed %q", got)
	}
	h.start(thread, "tag:two [[error: 500]]")
	if status, _ := h.completed(); status != "failed" {
		t.Errorf("a failing turn is %s", status)
	}
	h.say(`{"id":5,"method":"thread/resume","params":{"threadId":"unheard-of"}}`)
	if m := h.answer(5); m["error"] == nil {
		t.Errorf("an unknown thread is resumed: %v", m)
	}
	log, err := os.ReadFile(h.log)
	if err != nil || strings.Count(string(log), "one start") != 1 || strings.Count(string(log), "two end") != 1 {
		t.Errorf("log %q %v", log, err)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for name, prompt := range map[string]string{
		"while it waits": "[[wait: 600000]]", "in a command": "[[shell: sleep 600]] [[say: x]]", "in a tool": `[[mcp: s wait {"ms":600000}]]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			thread := h.thread()
			turn := h.start(thread, prompt)
			h.until("beginning", func(m map[string]any) bool { return m["method"] == "turn/started" })
			h.say(`{"id":3,"method":"turn/interrupt","params":{"threadId":"` + thread + `","turnId":"` + turn + `"}}`)
			if status, _ := h.completed(); status != "interrupted" {
				t.Errorf("the turn is %s", status)
			}
			h.say(`{"id":4,"method":"turn/interrupt","params":{"threadId":"` + thread + `","turnId":"another"}}`)
			if m := h.answer(4); m["error"] == nil {
				t.Errorf("another turn is interrupted: %v", m)
			}
		})
	}
}
