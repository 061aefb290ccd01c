package claudecode

import (
	"bytes"
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// kind is the kind of a content block.
type kind uint8

const (
	other kind = iota
	text
	thinking
)

// speech tells what the model says and thinks, once, from streamed blocks and from
// the consolidated ones that repeat them.
type speech struct {
	parent  string   // the call of the subagent that speaks; "" for the turn's agent
	message string   // id of the message that is being said
	blocks  []*block // its streamed blocks, in order
	run     *run     // the open item
	runs    int
}

// block is one streamed content block: a stretch of a run.
type block struct {
	kind     kind
	run      *run
	from, to int
	repeated bool // its consolidated form has come
}

// run is an item that is being said.
type run struct {
	kind kind
	key  string
	said []byte
}

// begin turns to another message.
func (s *speech) begin(message string, out *agent.Batch) {
	s.close(out)
	s.message, s.blocks = message, nil
}

// start opens a streamed block. A text block continues the text before it.
func (s *speech) start(k kind, out *agent.Batch) {
	if s.run != nil && (k != text || s.run.kind != text) {
		s.close(out)
	}
	b := &block{kind: k}
	if k != other {
		b.run = s.open(k)
		b.from = len(b.run.said)
		b.to = b.from
	}
	s.blocks = append(s.blocks, b)
}

// piece is a delta of the newest block.
func (s *speech) piece(k kind, p string, out *agent.Batch) {
	var b *block
	if n := len(s.blocks); n > 0 {
		b = s.blocks[n-1]
	}
	if b == nil || b.kind != k || b.repeated || b.run != s.run {
		s.start(k, out)
		b = s.blocks[len(s.blocks)-1]
	}
	s.say(b.run, p, out)
	b.to = len(b.run.said)
}

// whole is a consolidated block of message. What was streamed of it is not said
// again.
func (s *speech) whole(message string, k kind, p string, out *agent.Batch) {
	if message != s.message {
		s.begin(message, out)
	}
	for _, b := range s.blocks {
		if b.kind != k || b.repeated {
			continue
		}
		b.repeated = true
		said := b.run.said[b.from:b.to]
		rest, prefix := bytes.CutPrefix([]byte(p), said)
		if !prefix || len(rest) == 0 {
			// Said already. If the two contradict, what was streamed stands: it has
			// reached its readers.
			if k == thinking {
				s.close(out)
			}
			return
		}
		p = string(rest)
		break
	}
	if p == "" {
		return
	}
	if s.run != nil && s.run.kind != k {
		s.close(out)
	}
	s.say(s.open(k), p, out)
	if k == thinking {
		s.close(out)
	}
}

// open gives the open item of a kind, a new one if need be.
func (s *speech) open(k kind) *run {
	if s.run == nil || s.run.kind != k {
		s.runs++
		word := "text"
		if k == thinking {
			word = "thinking"
		}
		s.run = &run{kind: k, key: fmt.Sprintf("%s/%s/%d", s.message, word, s.runs)}
		if s.parent != "" {
			s.run.key = s.parent + "/" + s.run.key
		}
	}
	return s.run
}

func (s *speech) say(r *run, p string, out *agent.Batch) {
	if p == "" {
		return
	}
	kind := agent.FactText
	if r.kind == thinking {
		kind = agent.FactReasoning
	}
	r.said = append(r.said, p...)
	out.Add(agent.Fact{Kind: kind, Key: r.key, Parent: s.parent, Text: p})
}

// close ends the open item. One that said nothing never was one.
func (s *speech) close(out *agent.Batch) {
	r := s.run
	s.run = nil
	if r == nil || len(r.said) == 0 {
		return
	}
	typ := event.Message
	if r.kind == thinking {
		typ = event.Reasoning
	}
	out.Add(agent.Fact{Kind: agent.FactDone, Key: r.key, Parent: s.parent, Item: &event.Item{Type: typ, Text: string(r.said)}})
}
