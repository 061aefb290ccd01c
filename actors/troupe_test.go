package actors_test

import (
	"bytes"
	"strings"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// troupe is the script adapter with runners: one sh serves many turns, each of them
// the prompt, in a shell of its own. Its lines begin with the turn they belong to.
// What a prompt prints is read as the script adapter does, and further
//
//	#ask TOOL   asks for permission; the runner says "yes" or "no REASON"
//	#break      breaks the protocol
//	#gaveup     ends the turn as failed
//
// What is said to a running turn it reads from standard input: the message's id and its
// text. One that has the word refuse in it the runner refuses; of one with the word
// mute it never says that the turn has it, and gives it to nobody.
//
// A prompt finds the runner's pid in $RUNNER. A cancelled turn's shell is ended, what
// it started is not; with deaf the shell is not ended either.
type troupe struct {
	script
	start   string // run before the runner is ready
	threads int
	deaf    bool
	unready bool // it never gets ready
	bound   bool
	steers  bool
}

func (a troupe) certified() []string { return nil }

func (a troupe) Certified() []string { return a.certified() }

func (a troupe) PersistentCapabilities() agent.Capabilities {
	c := a.Capabilities()
	c.Permissions = append(c.Permissions, spec.Ask)
	c.Steer = a.steers
	return c
}

func (a troupe) ValidatePersistent(r *agent.Request) error { return a.Validate(r) }

const stage = `
export RUNNER=$$
[ -n "$UNREADY" ] || echo "- ready"
while read -r word turn rest; do
	case $word in
	ask)
		mkfifo "$ROOM/$turn"
		(
			export MARK=$turn
			sh -c "$rest" 2>&1 <>"$ROOM/$turn" | while IFS= read -r line; do echo "$turn $line"; done
			echo "$turn #over"
		) &
		eval "pid_$turn=\$!"
		;;
	stop)
		if [ -z "$DEAF" ]; then
			eval "kill \$pid_$turn"
			echo "$turn #over"
		fi
		;;
	steer)
		case "$rest" in
		*refuse*) echo "$turn #refused ${rest%% *}" ;;
		*mute*) ;;
		*)
			echo "$turn #took ${rest%% *}"
			echo "$rest" 1<>"$ROOM/$turn"
			;;
		esac
		;;
	permit) echo "$rest" >"$ROOM/$turn" ;;
	ping) echo "- pong" ;;
	esac
done
`

func (a troupe) Runner(r *agent.Request) (*agent.Runner, error) {
	set := map[bool]string{true: "1"}
	return &agent.Runner{
		Args: []string{"-c", a.start + stage}, Resume: []string{"resumed", r.Native}, Threads: max(a.threads, 1), Bound: a.bound,
		Env:   []string{"ROOM=" + r.Dir, "DEAF=" + set[a.deaf], "UNREADY=" + set[a.unready], "MODEL=" + r.Model},
		Files: []agent.File{{Name: "stage", Data: []byte("a file of the runner\n")}},
		Apart: r.Instructions, Once: r.Instructions == "alone",
	}, nil
}

// soloists have no other driver.
type soloists struct{ troupe }

func (soloists) OnlyPersistent() {}

func (a troupe) NewProtocol() agent.Protocol {
	return &stageProtocol{turns: map[string]*stageTurn{}}
}

type stageTurn struct {
	id     event.ID
	parser scriptParser
}

type stageProtocol struct{ turns map[string]*stageTurn }

func (p *stageProtocol) Hello(*agent.Talk) {}

func (p *stageProtocol) Ask(turn event.ID, r *agent.Request, out *agent.Talk) {
	p.turns[turn.Hex()] = &stageTurn{id: turn}
	out.Line([]byte("ask " + turn.Hex() + " " + strings.ReplaceAll(r.Prompt, "\n", "; ")))
}

func (p *stageProtocol) Interrupt(turn event.ID, out *agent.Talk) {
	if p.turns[turn.Hex()] != nil {
		out.Line([]byte("stop " + turn.Hex()))
	}
}

func (p *stageProtocol) Permit(turn event.ID, question string, approved bool, reason string, out *agent.Talk) {
	answer := "no " + reason
	if approved {
		answer = "yes"
	}
	out.Line([]byte("permit " + turn.Hex() + " " + answer))
}

func (p *stageProtocol) Steer(turn event.ID, s *agent.Steering, out *agent.Talk) {
	if p.turns[turn.Hex()] != nil {
		out.Line([]byte("steer " + turn.Hex() + " " + s.Input.Hex() + " " + strings.ReplaceAll(s.Request.Prompt, "\n", "; ")))
		return
	}
	said := out.Turn(turn)
	said.Steered = append(said.Steered, agent.Steered{Input: s.Input, Why: "it is over"})
}

func (p *stageProtocol) Ping(out *agent.Talk) { out.Line([]byte("ping")) }

func (p *stageProtocol) Feed(line []byte, out *agent.Talk) {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	if string(word) == "-" {
		if string(rest) == "gibberish" {
			out.Break("it spoke in tongues")
		}
		out.Ready, out.Pong = out.Ready || string(rest) == "ready", out.Pong || string(rest) == "pong"
		return
	}
	t := p.turns[string(word)]
	if t == nil {
		return
	}
	said := out.Turn(t.id)
	said.Bytes += int64(len(line))
	said.Tools, said.Mark = true, "MARK="+t.id.Hex()
	what, of, _ := bytes.Cut(rest, []byte(" "))
	switch string(what) {
	case "#ask":
		said.Questions = append(said.Questions, agent.Question{ID: "q", Prompt: agent.Prompt{Tool: string(of), Arguments: "{}"}})
	case "#took", "#refused":
		id, _ := event.ParseHex(string(of))
		said.Steered = append(said.Steered, agent.Steered{Input: id, Taken: string(what) == "#took", Why: "it is not in the mood"})
	case "#break":
		out.Break("it spoke in tongues")
	case "#gaveup":
		said.Batch.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Failed, Failure: event.Fail(event.NoVerdict, "it gave up")}})
		said.Over = true
		delete(p.turns, string(word))
	case "#panic":
		panic("a protocol that does not know its lines")
	case "#over":
		if !t.parser.verdict {
			said.Batch.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Completed}})
		}
		said.Over = true
		delete(p.turns, string(word))
	default:
		t.parser.Feed(rest, said.Batch)
	}
}

func withTroupe(a troupe) actors.Option {
	return actors.WithRuntime(actors.RuntimeConfig{Adapter: a, Driver: actors.DriverPersistent})
}
