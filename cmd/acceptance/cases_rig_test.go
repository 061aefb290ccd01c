package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// stage is a rig whose CLIs do what the test wrote down under a name: the model of
// a request names the scene. Adapters codex and claude-code are the built-in ones
// over a script, plain-codex, plain-claude and plain-cursor declared ones with the same output.
type stage struct {
	*rig
	dir string
	mu  sync.Mutex
}

// player picks the scene by the model that it is called with, and notes its
// arguments. POSIX sh only.
const player = `#!/bin/sh
dir=%s
case "$1" in --version) echo "codex-cli 0.169.0-standin"; exit 0 ;; esac
scene= before= line=
for arg; do
	case "$before" in -m | --model) scene=$arg ;; esac
	before=$arg line="$line <$arg>"
done
printf '%%s%%s\n' "$scene" "$line" >>"$dir/calls"
exec sh "$dir/scene.$scene" "$@"
`

func newStage(t *testing.T, settings ...setting) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir()}
	play := s.script(t, "player", fmt.Sprintf(player, s.dir))
	declared := func(format string) map[string]any {
		return map[string]any{
			"adapter": "command", "command": []string{play, "--model", "{model}"}, "prompt": "stdin",
			"output": map[string]any{"format": format}, "resume": map[string]any{"args": []string{"--resume", "{session_id}"}},
			"passthrough_env": []string{"FAKE_LOG", "CANARY_SECRET"},
		}
	}
	all := append([]setting{
		cli("codex", map[string]any{"binary": play}), cli("claude-code", map[string]any{"binary": play}),
		cli("plain-codex", declared("jsonl-codex")), cli("plain-claude", declared("jsonl-claude")), cli("plain-cursor", declared("jsonl-cursor")),
	}, settings...)
	s.rig = newRig(t, all...)
	s.scene("normal", codexScene(codexSays("all well")))
	s.scene("normal-claude", "cat >/dev/null\ncat "+s.data("ok_claude.jsonl")+"\n")
	return s
}

func (s *stage) script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// scene writes down what the CLI does when the model is called name.
func (s *stage) scene(name, text string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script(s.t, "scene."+name, text)
}

// data is the path of a recorded input.
func (s *stage) data(name string) string {
	path, err := filepath.Abs(filepath.Join("testdata", "cases", name))
	if err != nil {
		s.t.Fatal(err)
	}
	return path
}

// calls lists the argument lines of a scene's runs.
func (s *stage) calls(scene string) []string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "calls")) // nothing ran yet
	var out []string
	for line := range strings.Lines(string(text)) {
		if args, ok := strings.CutPrefix(line, scene+" "); ok {
			out = append(out, strings.TrimSpace(args))
		}
	}
	return out
}

// Lines of the codex dialect.
const (
	codexThread = `{"type":"thread.started","thread_id":"01a00000-0000-7000-8000-000000000001"}`
	codexTurn   = `{"type":"turn.started"}`
	codexDone   = `{"type":"turn.completed","usage":{"input_tokens":11,"cached_input_tokens":3,"output_tokens":7,"reasoning_output_tokens":2}}`
)

func codexSays(text string) string {
	return `{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"` + text + `"}}`
}

func printed(lines ...string) string {
	return "printf '%s\\n' '" + strings.Join(lines, "' '") + "'\n"
}

// codexScene reads the prompt and prints a turn with these lines in the middle.
func codexScene(lines ...string) string {
	return "cat >/dev/null\n" + printed(append(append([]string{codexThread, codexTurn}, lines...), codexDone)...)
}

// ending is how a turn ended, as one wire tells.
type ending struct {
	way       string
	status    string // of the turn: completed, failed, cancelled
	code      string // of the error
	message   string
	texts     []string
	items     []any
	raw       string // JSON that holds the items
	usage     any
	took      time.Duration
	turn      string // hex
	session   string
	responses bool
}

func (e *ending) String() string {
	return fmt.Sprintf("%s: %s %s %q %q", e.way, e.status, e.code, clip([]byte(e.message)), clip([]byte(strings.Join(e.texts, "|"))))
}

// play is one turn of a scene on one adapter.
type play struct {
	adapter, scene, prompt string
	session                string // "" makes one
	limit                  time.Duration
}

func (p play) within() time.Duration {
	if p.limit == 0 {
		return 30 * time.Second
	}
	return p.limit
}

func (p play) text() string {
	if p.prompt == "" {
		return "go"
	}
	return p.prompt
}

// ways are the three ways to ask for a turn.
var ways = []struct {
	name string
	ask  func(*stage, play) *ending
}{
	{"responses", (*stage).plain},
	{"responses streamed", (*stage).streamed},
	{"agents", (*stage).agents},
}

func (s *stage) body(p play) map[string]any {
	b := map[string]any{"model": p.scene, "input": p.text()}
	if p.session != "" {
		b["conversation"] = "conv_" + strings.TrimPrefix(p.session, "agsess_")
	}
	return b
}

func (s *stage) plain(p play) *ending {
	s.t.Helper()
	start := time.Now()
	a := s.http.ok("POST", "/agents/"+p.adapter+"/v1/responses", s.body(p))
	e := s.ofResponse("responses", a.object, time.Since(start))
	e.raw = string(a.body)
	return e
}

func (s *stage) streamed(p play) *ending {
	s.t.Helper()
	start := time.Now()
	body := s.body(p)
	body["stream"] = true
	stream := s.http.open("POST", "/agents/"+p.adapter+"/v1/responses", body)
	frames := stream.end(p.within())
	checkResponse(s.t, stream)
	object, _ := frames[len(frames)-1].data()["response"].(map[string]any)
	e := s.ofResponse("responses streamed", object, time.Since(start))
	e.raw = string(frames[len(frames)-1].raw)
	// What the stream ended with is what is stored.
	id, _ := object["id"].(string)
	if stored := s.http.ok("GET", "/v1/responses/"+id, nil).object; fmt.Sprint(stored) != fmt.Sprint(object) {
		s.t.Errorf("%s: stored\n%v\nstreamed\n%v", p.scene, stored, object)
	}
	// It reads the same again.
	again := s.http.response(id, -1)
	again.end(p.within())
	if string(again.content()) != string(stream.content()) {
		s.t.Errorf("%s: a second reading of the stream differs", p.scene)
	}
	return e
}

func (s *stage) ofResponse(way string, o map[string]any, took time.Duration) *ending {
	s.t.Helper()
	e := &ending{way: way, took: took, responses: true}
	e.status, _ = o["status"].(string)
	e.code, _ = at(o, "error", "code").(string)
	e.message, _ = at(o, "error", "message").(string)
	if reason, ok := at(o, "incomplete_details", "reason").(string); ok {
		e.code = reason
	}
	items, ok := o["output"].([]any)
	if !ok {
		s.t.Errorf("%s: output is %v", way, o["output"])
	}
	e.items, e.texts, e.usage = items, texts(items), o["usage"]
	id, _ := o["id"].(string)
	e.turn = strings.TrimPrefix(id, "resp_")
	conv, _ := at(o, "conversation", "id").(string)
	e.session = "agsess_" + strings.TrimPrefix(conv, "conv_")
	return e
}

func (s *stage) agents(p play) *ending {
	s.t.Helper()
	start := time.Now()
	session := p.session
	if session == "" {
		session = s.newSession(p)
	}
	stream := s.http.events(session, "")
	if a := s.http.say(session, p.text()); a.status != 202 {
		s.t.Fatalf("%s: %d %s", p.scene, a.status, clip(a.body))
	}
	frames := stream.waitKind(p.within(), sessionEvent+"idle", 1)
	took := time.Since(start)
	stream.cancel()
	order := checkSession(s.t, frames)
	if len(order.order) != 1 {
		s.t.Fatalf("%s: turns %v", p.scene, order.order)
	}
	return s.ofTurn(session, order.order[0], took)
}

func (s *stage) newSession(p play) string {
	s.t.Helper()
	return s.http.ok("POST", "/v1/agents/sessions", map[string]any{"agent": map[string]any{"model": p.scene}}, "X-ABX-Adapter: "+p.adapter).str("id")
}

func (s *stage) ofTurn(session, turn string, took time.Duration) *ending {
	s.t.Helper()
	a := s.http.ok("GET", "/v1/agents/sessions/"+session+"/turns/"+turn, nil)
	list := s.http.ok("GET", "/v1/agents/sessions/"+session+"/turns/"+turn+"/items?order=asc&limit=100", nil)
	items := list.list("data")
	return &ending{
		way: "agents", raw: string(list.body), status: a.str("status"), code: a.str("error", "code"), message: a.str("error", "message"),
		items: items, texts: texts(items), usage: a.at("usage"), took: took, turn: strings.TrimPrefix(turn, "turn_"), session: session,
	}
}

// well checks that the server is as before: a normal turn works and nothing is
// left.
func (s *stage) well() {
	s.t.Helper()
	a := s.http.ok("POST", "/agents/codex/v1/responses", map[string]any{"model": "normal", "input": "go"})
	if a.str("status") != "completed" || outputText(a) != "all well" {
		s.t.Errorf("a normal turn afterwards: %s", clip(a.body))
	}
	s.Clean(time.Minute)
}
