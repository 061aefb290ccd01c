package codex_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/codex"
)

var updateServer = flag.Bool("update-server", false, "rewrite what the recorded app-servers give")

// stage plays a recorded app-server to a protocol and writes down what follows: what
// is written to it, and the facts of the turn.
type stage struct {
	p    agent.Protocol
	r    *agent.Request
	turn event.ID
	out  strings.Builder
	over bool
}

func newStage() *stage {
	a := &codex.Adapter{}
	r := adaptertest.Request(a)
	r.Workspace, r.Permissions, r.Turn = "/workspace", spec.Ask, event.ID{1}
	return &stage{p: a.NewProtocol(), r: r, turn: r.Turn}
}

func (s *stage) do(step string) {
	word, rest, _ := strings.Cut(step, " ")
	var talk agent.Talk
	switch word {
	case "hello":
		s.p.Hello(&talk)
	case "ask":
		s.r.Native = rest
		s.p.Ask(s.turn, s.r, &talk)
	case "interrupt":
		s.p.Interrupt(s.turn, &talk)
	case "steer":
		own := *s.r
		own.Prompt = "and " + rest
		s.p.(agent.Steerer).Steer(s.turn, &agent.Steering{Input: inputOf(rest), Request: &own}, &talk)
	case "permit":
		id, yes, _ := strings.Cut(rest, " ")
		s.p.Permit(s.turn, id, yes == "yes", "", &talk)
	case "<":
		s.p.Feed([]byte(rest), &talk)
	}
	s.tell(&talk)
}

// inputOf is the id of a message with a name of one letter.
func inputOf(name string) event.ID {
	id := event.ID{0xee}
	copy(id[15:], name)
	return id
}

func (s *stage) tell(talk *agent.Talk) {
	for line := range bytes.Lines(talk.Write) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(line, &m) != nil {
			fmt.Fprintf(&s.out, "> no JSON: %q\n", line)
			continue
		}
		fmt.Fprintf(&s.out, "> %s %s%s\n", m.ID, m.Method, m.Result)
	}
	if talk.Ready {
		s.out.WriteString("ready\n")
	}
	if talk.Broken != "" {
		fmt.Fprintf(&s.out, "broken: %s\n", talk.Broken)
	}
	for _, said := range talk.Said {
		for _, f := range said.Batch.Facts {
			fmt.Fprintln(&s.out, adaptertest.Format(f))
		}
		for _, what := range said.Steered {
			fmt.Fprintf(&s.out, "steered %s taken %v %s\n", what.Input.Hex()[30:], what.Taken, what.Why)
		}
		for _, q := range said.Questions {
			fmt.Fprintf(&s.out, "question %s: %s %s %s\n", q.ID, q.Prompt.Server, q.Prompt.Tool, q.Prompt.Arguments)
		}
		if said.Over {
			s.over = true
			fmt.Fprintf(&s.out, "over, tools %v %s\n", said.Tools, said.Mark)
		}
	}
}

// The real app-server's lines, each played to its end.
func TestRecordedServers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/server/*.script")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newStage()
			for line := range bytes.Lines(script) {
				s.do(strings.TrimSuffix(string(line), "\n"))
			}
			if !s.over {
				t.Error("the turn is not over")
			}
			golden := strings.TrimSuffix(file, "script") + "facts"
			if *updateServer {
				if err := os.WriteFile(golden, []byte(s.out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if s.out.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", s.out.String(), want)
			}
		})
	}
}

// Whatever else an app-server says or leaves out, nothing panics and each question
// is answered.
func FuzzServer(f *testing.F) {
	files, _ := filepath.Glob("testdata/server/*.script")
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(script)
	}
	f.Add([]byte("ask\n< {\"id\":1,\"result\":{\"thread\":{}}}\n< {\"id\":1}\n< {\"id\":{},\"method\":\"x\",\"params\":7}"))
	f.Fuzz(func(t *testing.T, script []byte) {
		s := newStage()
		s.do("hello")
		for line := range bytes.Lines(script) {
			s.do(string(line))
			s.do("< " + string(line))
		}
		if strings.Contains(s.out.String(), "no JSON") {
			t.Error(s.out.String())
		}
	})
}

func TestServerOutOfProtocol(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"refused":          {`{"id":1,"error":{"message":"not you"}}`},
		"thread of no id":  {`{"id":1,"result":{}}`, "ask", `{"id":2,"result":{"thread":{}}}`},
		"turn of no id":    {`{"id":1,"result":{}}`, "ask", `{"id":2,"result":{"thread":{"id":"t"}}}`, `{"id":3,"result":{}}`},
		"another language": slices.Repeat([]string{"Segmentation fault"}, 200),
	} {
		s := newStage()
		s.do("hello")
		for _, l := range lines {
			if l != "ask" {
				l = "< " + l
			}
			s.do(l)
		}
		if !strings.Contains(s.out.String(), "broken: ") {
			t.Errorf("%s was taken:\n%s", name, s.out.String())
		}
	}
}

// What nobody can answer is refused at once: Codex would wait for ever.
func TestServerQuestionsOfNobody(t *testing.T) {
	t.Parallel()
	for _, q := range []string{
		`{"id":9,"method":"item/commandExecution/requestApproval","params":{"threadId":"of a subagent","turnId":"x"}}`,
		`{"id":9,"method":"mcpServer/elicitation/request","params":{"threadId":"t","mode":"form"}}`,
		`{"id":9,"method":"item/tool/requestUserInput","params":{}}`,
		`{"id":9,"method":"what/ever"}`,
	} {
		s := newStage()
		s.do("< " + q)
		if !strings.Contains(s.out.String(), "> 9 ") {
			t.Errorf("no answer to %s: %s", q, s.out.String())
		}
	}
}

// An interrupt that comes before Codex has told the turn's id waits for it.
func TestServerEarlyInterrupt(t *testing.T) {
	t.Parallel()
	s := newStage()
	for _, step := range []string{"hello", `< {"id":1,"result":{}}`, "ask", `< {"id":2,"result":{"thread":{"id":"t"}}}`, "interrupt", `< {"id":3,"result":{"turn":{"id":"u"}}}`} {
		s.do(step)
	}
	if !strings.Contains(s.out.String(), "turn/interrupt") {
		t.Error(s.out.String())
	}
	early := newStage()
	for _, step := range []string{"hello", `< {"id":1,"result":{}}`, "ask", "interrupt", `< {"id":2,"result":{"thread":{"id":"t"}}}`, `< {"id":3,"result":{}}`} {
		early.do(step)
	}
	if !early.over || strings.Contains(early.out.String(), "turn/start") {
		t.Error(early.out.String())
	}
}

// What a thread is loaded with: secrets are in the parameters only, and there is
// always something that makes Codex load it anew.
func TestServerSettings(t *testing.T) {
	t.Parallel()
	a := &codex.Adapter{}
	r := adaptertest.Request(a)
	r.Workspace, r.Model, r.Instructions, r.Turn = "/workspace", "gpt-5.5", "be brief", event.ID{1}
	r.LLM = agent.LLM{BaseURL: "http://127.0.0.1:18080", APIKey: "sk-secret"}
	r.MCP = map[string]spec.MCPServer{
		"docs": {URL: "https://mcp.example.com", Headers: map[string]string{"Authorization": "Bearer tok-1"}, Allowed: []string{"read"}},
		"echo": {Command: "echo-server", Env: map[string]string{"T": "tok-2"}},
	}
	if err := a.ValidatePersistent(r); err != nil {
		t.Fatal(err)
	}
	run, err := a.Runner(r)
	if err != nil {
		t.Fatal(err)
	}
	if args := strings.Join(run.Args, " "); strings.Contains(args, "tok-") || strings.Contains(args, "sk-") || strings.Contains(args, "gpt") || strings.Contains(args, "brief") {
		t.Errorf("arguments %q", run.Args)
	}
	if !slices.Contains(run.Env, "AGENT_PROVIDER_KEY=sk-secret") || run.Bound || run.Threads < 2 {
		t.Errorf("runner %+v", run)
	}
	load := func(r *agent.Request) string {
		var talk agent.Talk
		a.NewProtocol().Ask(r.Turn, r, &talk)
		return string(talk.Write)
	}
	got := load(r)
	for _, want := range []string{`"thread/start"`, `"Bearer tok-1"`, `"tok-2"`, `"enabled_tools":["read"]`, `"developerInstructions":"be brief"`, `"sandbox":"workspace-write"`, `"approvalPolicy":"never"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	r.MCP, r.Native = nil, "01a00000-0000-7000-8000-000000000001"
	if got := load(r); !strings.Contains(got, `"thread/resume"`) || !strings.Contains(got, `"mcp_servers":{}`) {
		t.Errorf("resumed with %s", got)
	}
}

// A message for a running turn is sent once Codex has told the turn's id, and is taken
// when Codex tells it as an item, or has completed a turn with it.
func TestServerSteers(t *testing.T) {
	t.Parallel()
	a, b := inputOf("a").Hex(), inputOf("b").Hex()
	begin := []string{"hello", `< {"id":1,"result":{}}`, "ask", `< {"id":2,"result":{"thread":{"id":"t"}}}`}
	item := func(name string) string {
		return `< {"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"userMessage","id":"i","clientId":"` + name + `"}}}`
	}
	ends := func(how string) string {
		return `< {"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"` + how + `"}}}`
	}
	started := `< {"id":3,"result":{"turn":{"id":"u"}}}`
	for name, c := range map[string]struct {
		steps []string
		want  []string
		not   string
	}{
		"told":            {[]string{started, "steer a", `< {"id":4,"result":{"turnId":"u"}}`, item("other"), item(a), item(a), ends("completed")}, []string{"> 4 turn/steer", "steered 61 taken true"}, ""},
		"before the turn": {[]string{"steer a", "steer b", started, item(b), item(a)}, []string{"> 4 turn/steer", "> 5 turn/steer", "steered 62 taken true", "steered 61 taken true"}, ""},
		"refused":         {[]string{started, "steer a", `< {"id":4,"error":{"message":"no active turn to steer"}}`, ends("completed")}, []string{"steered 61 taken false no active turn to steer"}, "taken true"},
		"acknowledged":    {[]string{started, "steer a", `< {"id":4,"result":{"turnId":"u"}}`, ends("completed")}, []string{"steered 61 taken true"}, ""},
		"interrupted":     {[]string{started, "steer a", `< {"id":4,"result":{"turnId":"u"}}`, ends("interrupted")}, []string{"> 4 turn/steer"}, "steered"},
		"not asked":       {[]string{started, "steer a", ends("completed")}, nil, "steered"},
		"over":            {[]string{started, ends("completed"), "steer a"}, []string{"steered 61 taken false the turn is over"}, "turn/steer"},
	} {
		s := newStage()
		for _, step := range append(begin[:len(begin):len(begin)], c.steps...) {
			s.do(step)
		}
		got := s.out.String()
		for _, want := range c.want {
			if strings.Count(got, want) != 1 {
				t.Errorf("%s: %q is not there once:\n%s", name, want, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q is there:\n%s", name, c.not, got)
		}
	}
}

// served begins a turn and gives what is to be said in it.
func served(t testing.TB) func(line []byte) []agent.Fact {
	s := newStage()
	for _, step := range []string{
		"hello", `< {"id":1,"result":{}}`, "ask", `< {"id":2,"result":{"thread":{"id":"th"}}}`,
		`< {"id":3,"result":{"turn":{"id":"tu","status":"inProgress"}}}`,
		`< {"method":"item/started","params":{"threadId":"th","turnId":"tu","item":{"id":"c","type":"commandExecution","command":"ls","status":"inProgress"}}}`,
	} {
		s.do(step)
	}
	var talk agent.Talk
	var batch agent.Batch
	said := &agent.Said{Turn: s.turn, Batch: &batch}
	return func(line []byte) []agent.Fact {
		batch.Reset()
		talk.Said = append(talk.Said[:0], said)
		s.p.Feed(line, &talk)
		for i := range line {
			line[i] = '#'
		}
		return batch.Facts
	}
}

const (
	deltaNote   = `{"method":"item/agentMessage/delta","params":{"threadId":"th","turnId":"tu","itemId":"m","delta":"from \"the\"\nmodel"}}`
	summaryNote = `{"method":"item/reasoning/summaryTextDelta","params":{"threadId":"th","turnId":"tu","itemId":"r","delta":"so","summaryIndex":0}}`
	outputNote  = `{"method":"item/commandExecution/outputDelta","params":{"threadId":"th","turnId":"tu","itemId":"c","delta":"a\tb"}}`
)

func TestQuickNotesAreReadAsOthers(t *testing.T) {
	t.Parallel()
	if got := served(t)([]byte(deltaNote)); len(got) != 1 || got[0].Text != "from \"the\"\nmodel" {
		t.Fatalf("the turn does not hear: %+v", got)
	}
	adaptertest.Spaced(t, func() func([]byte) []agent.Fact { return served(t) }, deltaNote, summaryNote, outputNote,
		`{"jsonrpc":"2.0","method":"item/reasoning/summaryTextDelta","params":{"delta":"é","summaryIndex":1,"itemId":"r","turnId":"tu","threadId":"th"},"n":null}`)
}

// Not parallel: it counts allocations.
func TestNotesOfPiecesAreCheap(t *testing.T) {
	for _, line := range []string{deltaNote, outputNote} {
		feed, raw := served(t), make([]byte, len(line))
		if n := testing.AllocsPerRun(1000, func() {
			copy(raw, line)
			feed(raw)
		}); n > 0.1 {
			t.Errorf("%.2f allocations for %s", n, line)
		}
	}
}

func BenchmarkFeedNote(b *testing.B) {
	feed, raw := served(b), make([]byte, len(deltaNote))
	b.ReportAllocs()
	for b.Loop() {
		copy(raw, deltaNote)
		feed(raw)
	}
}
