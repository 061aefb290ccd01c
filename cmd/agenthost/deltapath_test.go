package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/turn"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/wires/agents"
	"github.com/agenthost/agenthost/wires/responses"
)

// The way of a delta through every pure part, as the engine goes it: a pipe read's
// lines are parsed into facts, a turn makes events of them, the session's fold numbers
// and keeps them, the store encodes them, and a wire renders them once.
type deltaPath struct {
	lines  [][]byte
	parser agent.Parser
	facts  agent.Batch
	turn   *turn.Turn
	state  *fold.State
	stored event.Encoder
	render func(*fold.Batch) *fold.Frames
	frames int // bytes of the last batch's
}

// linesOfARead is how many lines of a delta of 200 B a read of 64 KiB has, about.
const linesOfARead = 128

func newDeltaPath(t testing.TB, render func(*fold.Batch) *fold.Frames) *deltaPath {
	t.Helper()
	a := &claudecode.Adapter{}
	p := &deltaPath{parser: a.NewParser(adaptertest.Request(a)), state: fold.New(), render: render}
	line := fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}},"session_id":"252c12ba-c92a-48eb-91f5-a2251e3b478d","parent_tool_use_id":null,"uuid":"8eed8b9e-a93b-4f64-b3fd-e6e5d1e2551e"}`,
		strings.Repeat("words of it\\n", 200/12))
	for range linesOfARead {
		p.lines = append(p.lines, []byte(line))
	}
	id := event.NewTurnID()
	settings, err := json.Marshal(&spec.Session{ID: event.NewID(), Owner: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	in := &event.Input{Number: 1, Items: []*event.Item{{ID: event.ItemID(id, 0), Type: event.Message, User: true, Text: "hi"}}}
	p.add(t, &fold.Batch{}, event.Event{Kind: event.SessionCreated, Body: &event.Settings{JSON: settings}})
	p.add(t, &fold.Batch{}, event.Event{Kind: event.InputAccepted, Turn: id, Body: in})
	p.turn = turn.New(turn.Config{Turn: id, FirstOutput: 1})
	for _, step := range []turn.Input{turn.Start{}, turn.Prepared{}, turn.Spawned{Pid: 1}} {
		p.step(t, step)
	}
	p.read(t)
	return p
}

func (p *deltaPath) add(t testing.TB, b *fold.Batch, ev event.Event) {
	p.state.Stamp(&ev)
	if err := b.Add(p.state, ev); err != nil {
		t.Fatal(err)
	}
}

// step gives the turn an input and keeps what it emits.
func (p *deltaPath) step(t testing.TB, in turn.Input) {
	for _, e := range p.turn.Step(in, 1) {
		emit, ok := e.(turn.Emit)
		if !ok {
			continue
		}
		b := &fold.Batch{Events: make([]event.Event, 0, len(emit.Events))}
		p.stored.Reset()
		for i := range emit.Events {
			p.add(t, b, emit.Events[i])
			if err := p.stored.Append(&b.Events[i]); err != nil {
				t.Fatal(err)
			}
		}
		p.frames = len(p.render(b).Buf)
	}
}

// read is one pipe read.
func (p *deltaPath) read(t testing.TB) {
	p.facts.Reset()
	for _, l := range p.lines {
		p.parser.Feed(l, &p.facts)
	}
	p.step(t, turn.Output{Facts: p.facts.Facts})
}

var deltaWires = map[string]func(*fold.Batch) *fold.Frames{"responses": responses.Render, "agents": agents.Render}

// A gate on counts, never on time: what a delta allocates on its way, and how much.
// Not parallel: it counts allocations.
func TestDeltaAllocatesNextToNothing(t *testing.T) {
	for name, render := range deltaWires {
		p := newDeltaPath(t, render)
		if p.frames < 200*linesOfARead {
			t.Fatalf("%s: %d bytes of frames: the deltas do not arrive", name, p.frames)
		}
		const reads = 400
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range reads {
			p.read(t)
		}
		runtime.ReadMemStats(&after)
		deltas := float64(reads * linesOfARead)
		if n := float64(after.Mallocs-before.Mallocs) / deltas; n > 0.1 {
			t.Errorf("%s: %.3f allocations a delta, less than 0.1 are meant", name, n)
		}
		// Of a delta of 200 B: its text four times (as it came, and in the parser, the
		// turn and the fold), its event, and its frame of about 450 B.
		if n := float64(after.TotalAlloc-before.TotalAlloc) / deltas; n > 3000 {
			t.Errorf("%s: %.0f bytes allocated a delta", name, n)
		}
	}
}

// BenchmarkDeltaPath is the way of one read's deltas; ns/delta is what one costs.
func BenchmarkDeltaPath(b *testing.B) {
	for name, render := range deltaWires {
		b.Run(name, func(b *testing.B) {
			p := newDeltaPath(b, render)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n++; n%4096 == 0 { // a text has an end
					p = newDeltaPath(b, render)
				}
				p.read(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*linesOfARead), "ns/delta")
		})
	}
}
