package actors_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// syncBuffer is a log that many write.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// choker is a parser that panics at a word.
type choker struct {
	scriptParser
	feed, close bool
}

func (p *choker) Feed(line []byte, out *agent.Batch) {
	if p.feed && string(line) == "choke" {
		panic("feed")
	}
	p.scriptParser.Feed(line, out)
}

func (p *choker) Close(exit agent.Exit, out *agent.Batch) {
	if p.close {
		panic("close")
	}
	p.scriptParser.Close(exit, out)
}

// An adapter that panics fails its turn, or loses a line of it, and nothing else.
func TestPanickingAdapter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		adapter func(spoilt func(*agent.Request) bool) script
		outcome event.Outcome
		code    event.Code
	}{
		"Invocation": {func(spoilt func(*agent.Request) bool) script {
			return script{invocation: func(r *agent.Request, _ *agent.Invocation) {
				if spoilt(r) {
					panic("invocation")
				}
			}}
		}, event.Failed, event.CLICrashed},
		"NewParser": {func(spoilt func(*agent.Request) bool) script {
			return script{parser: func(r *agent.Request) agent.Parser {
				if spoilt(r) {
					panic("new parser")
				}
				return &scriptParser{}
			}}
		}, event.Failed, event.CLICrashed},
		"Feed": {func(spoilt func(*agent.Request) bool) script {
			return script{parser: func(r *agent.Request) agent.Parser { return &choker{feed: spoilt(r)} }}
		}, event.Completed, ""},
		"Close": {func(spoilt func(*agent.Request) bool) script {
			return script{parser: func(r *agent.Request) agent.Parser { return &choker{close: spoilt(r)} }}
		}, event.Failed, event.NoVerdict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log syncBuffer
			dir, l := t.TempDir(), quick()
			l.MaxConcurrentTurns = 1
			h := startedIn(t, dir, l, memory.New(), with(c.adapter(func(r *agent.Request) bool { return strings.Contains(r.Prompt, "choke") })),
				actors.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			p := create(t, h, "echo before; echo choke")
			ses, turn := p.Session.ID, p.Turns[0].ID
			next := send(t, h, ses, "echo next")
			got := judgeEnds(t, h, ses, ended(next.ID))
			if got[turn] != c.outcome || got[next.ID] != event.Completed {
				t.Errorf("outcomes %v", got)
			}
			back, err := h.Turn(ctx(t), "alice", turn)
			if err != nil || c.code != "" && back.End.Failure.Code != c.code {
				t.Errorf("turn %+v %v, %v", back.End, back.End.Failure, err)
			}
			if !strings.Contains(log.String(), "panicked") || strings.Contains(log.String(), "echo before") {
				t.Errorf("log: %s", log.String())
			}
			nothingLeft(t, h, dir)
		})
	}
}

// Validate is called in the caller's goroutine.
func TestPanickingValidateRefusesTheInput(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New(), with(script{validate: func(*agent.Request) error { panic("validate") }}))
	_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("x")})
	if event.CodeOf(err) != event.CLICrashed {
		t.Errorf("create: %v", err)
	}
}

// A session's actor panics while its turn runs and one waits: the turn is failed,
// its process ended, its slot returned, and the queued one runs without anybody
// asking.
func TestPanickingSession(t *testing.T) {
	t.Parallel()
	st := &faulty{Store: memory.New(), beforePanic: 50 * time.Millisecond}
	dir, l := t.TempDir(), quick()
	l.MaxConcurrentTurns = 1
	h := startedIn(t, dir, l, st)
	gate := gateIn(t)
	p := create(t, h, blocker(gate)+"; sleep 300")
	ses, turn := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, spoke(turn))
	next := send(t, h, ses, "echo next")
	sub, err := h.Subscribe(ctx(t), "alice", ses, -1)
	must(t, err)
	// Those who ask meanwhile get an answer, of the old actor or of the new one.
	var askers sync.WaitGroup
	for range 8 {
		askers.Go(func() {
			for h.Stats().Completed == 0 && !t.Failed() {
				c, cancel := context.WithTimeout(ctx(t), 20*time.Second)
				_, err := h.Turn(c, "alice", next.ID)
				cancel()
				if errors.Is(err, context.DeadlineExceeded) {
					t.Error("a question was lost")
				}
			}
		})
	}
	defer askers.Wait()
	st.panicking.Store(true)
	openGate(t, gate)
	if _, err := toEnd(t, sub); event.CodeOf(err) != event.ShuttingDown {
		t.Errorf("the stream of a crashed session ended with %v", err)
	}
	sub.Close()
	eventually(t, "the queued turn ran", func() bool { return h.Stats().Completed == 1 })
	got := judgeEnds(t, h, ses, ended(next.ID))
	if got[turn] != event.Failed || got[next.ID] != event.Completed {
		t.Errorf("outcomes %v", got)
	}
	idle(t, h, ses)
	nothingLeft(t, h, dir)
	if s := h.Stats(); s.Crashes != 1 {
		t.Errorf("%d crashes", s.Crashes)
	}
	eventually(t, "no subscriber counted", func() bool { return h.Stats().Subscribers == 0 })
}

// A turn's actor panics: its CLI is ended, the turn fails, and the next one runs.
func TestPanickingTurn(t *testing.T) {
	t.Parallel()
	dir, l := t.TempDir(), quick()
	l.MaxConcurrentTurns = 1
	h := startedIn(t, dir, l, memory.New())
	p := create(t, h, "trap '' INT TERM; echo on; while :; do sleep 1; done")
	ses, turn := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, spoke(turn))
	next := send(t, h, ses, "echo next").ID
	actors.CrashTurns(h)
	got := judgeEnds(t, h, ses, ended(next))
	if got[turn] != event.Failed || got[next] != event.Completed {
		t.Errorf("outcomes %v", got)
	}
	back, err := h.Turn(ctx(t), "alice", turn)
	if err != nil || back.End.Failure == nil || back.Items[0].Status != event.Incomplete {
		t.Errorf("turn %+v, %v", back, err)
	}
	idle(t, h, ses)
	nothingLeft(t, h, dir)
}
