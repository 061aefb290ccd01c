package adaptertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

const updateStages = "update-stages"

func init() {
	if flag.Lookup(updateStages) == nil {
		flag.Bool(updateStages, false, "rewrite what recorded runners give")
	}
}

// Stage plays a recorded runner to a protocol and writes down what follows: what is
// written to the runner, and what is said in the turns. Its steps:
//
//	hello               greet the runner
//	ask N [NATIVE]      ask for turn N, 1 to 9, of a conversation
//	permit N KEY yes    answer a question of it; anything but yes denies
//	interrupt N         end it
//	ping                ask for a sign of life
//	< LINE              the runner says LINE
type Stage struct {
	P agent.Protocol
	// Request makes the request of each turn.
	Request func() *agent.Request
	// Whole has all that is written to the runner in the text, not its head only.
	Whole bool

	text strings.Builder
	open map[event.ID]bool
	mark map[event.ID]string
}

// NewStage is a stage for an adapter and its requests.
func NewStage(a agent.Persistent, request func() *agent.Request) *Stage {
	return &Stage{P: a.NewProtocol(), Request: request, open: map[event.ID]bool{}, mark: map[event.ID]string{}}
}

// Text is what was written down.
func (s *Stage) Text() string { return s.text.String() }

// Open is how many turns are not over.
func (s *Stage) Open() int { return len(s.open) }

func turnOf(word string) event.ID {
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > 9 {
		n = 1
	}
	return event.ID{byte(n)}
}

// Do plays one step. Words that are none play nothing.
func (s *Stage) Do(step string) {
	word, rest, _ := strings.Cut(step, " ")
	first, more, _ := strings.Cut(rest, " ")
	var talk agent.Talk
	switch word {
	case "hello":
		s.P.Hello(&talk)
	case "ping":
		s.P.Ping(&talk)
	case "ask":
		id := turnOf(first)
		if s.open[id] {
			return
		}
		s.open[id] = true
		r := s.Request()
		r.Turn, r.Native = id, more
		s.P.Ask(id, r, &talk)
	case "interrupt":
		s.P.Interrupt(turnOf(first), &talk)
	case "permit":
		key, yes, _ := strings.Cut(more, " ")
		s.P.Permit(turnOf(first), key, yes == "yes", "", &talk)
	case "<":
		s.P.Feed([]byte(rest), &talk)
	}
	s.tell(&talk)
}

// Play plays steps, one a line.
func (s *Stage) Play(steps string) {
	for line := range strings.Lines(steps) {
		s.Do(strings.TrimSuffix(line, "\n"))
	}
}

func (s *Stage) tell(talk *agent.Talk) {
	for line := range bytes.Lines(talk.Write) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		switch {
		case json.Unmarshal(line, &m) != nil:
			fmt.Fprintf(&s.text, "> no JSON: %q\n", line)
		case s.Whole:
			fmt.Fprintf(&s.text, "> %s", line)
		default:
			fmt.Fprintf(&s.text, "> %s %s%s%s\n", m.ID, m.Method, m.Result, m.Error)
		}
	}
	if talk.Ready {
		s.text.WriteString("ready\n")
	}
	if talk.Pong {
		s.text.WriteString("pong\n")
	}
	if talk.Broken != "" {
		fmt.Fprintf(&s.text, "broken: %s\n", talk.Broken)
	}
	for _, said := range talk.Said {
		mark := ""
		if said.Turn != (event.ID{1}) {
			mark = fmt.Sprintf("turn %d: ", said.Turn[0])
		}
		for _, f := range said.Batch.Facts {
			fmt.Fprintln(&s.text, mark+Format(f))
		}
		for _, q := range said.Questions {
			fmt.Fprintf(&s.text, "%squestion %s: %s %s %s\n", mark, q.ID, q.Prompt.Server, q.Prompt.Tool, q.Prompt.Arguments)
		}
		if last, told := s.mark[said.Turn]; said.Tools && (!told || last != said.Mark) {
			s.mark[said.Turn] = said.Mark
			fmt.Fprintf(&s.text, "%stools %s\n", mark, said.Mark)
		}
		if said.Over {
			delete(s.open, said.Turn)
			fmt.Fprintf(&s.text, "%sover\n", mark)
		}
	}
}

// RunStages plays each recorded runner of dir (*.script) to its end and compares what
// follows with the file beside it (*.facts).
func RunStages(t *testing.T, dir string, a agent.Persistent, request func() *agent.Request) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.script"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := NewStage(a, request)
			s.Play(string(script))
			if s.Open() > 0 {
				t.Errorf("%d turns are not over", s.Open())
			}
			golden := strings.TrimSuffix(file, "script") + "facts"
			if flag.Lookup(updateStages).Value.String() == "true" {
				if err := os.WriteFile(golden, []byte(s.Text()), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if s.Text() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", s.Text(), want)
			}
		})
	}
}
