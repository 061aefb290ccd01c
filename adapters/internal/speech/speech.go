package speech

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// Kind is the kind of a content block.
type Kind uint8

// Kinds of blocks. Other is any that is not said.
const (
	Other Kind = iota
	Text
	Thinking
)

// Speech tells what the model says and thinks, once, from streamed blocks and from
// the consolidated ones that repeat them. The zero value is ready.
type Speech struct {
	Parent  string   // the call of the subagent that speaks; "" for the turn's agent
	message string   // id of the message that is being said
	blocks  []*block // its streamed blocks, in order
	run     *run     // the open item
	runs    int
}

// block is one streamed content block: a stretch of a run.
type block struct {
	kind     Kind
	run      *run
	from, to int
	repeated bool // its consolidated form has come
}

// run is an item that is being said.
type run struct {
	kind Kind
	key  string
	said event.Rope
	all  string // said as one, as far as it was asked for
}

func (r *run) text() string {
	if len(r.all) != r.said.Len() {
		r.all = r.said.String()
	}
	return r.all
}

// Begin turns to another message.
func (s *Speech) Begin(message string, out *agent.Batch) {
	s.Close(out)
	s.message, s.blocks = message, nil
}

// Start opens a streamed block. A text block continues the text before it.
func (s *Speech) Start(k Kind, out *agent.Batch) {
	if s.run != nil && (k != Text || s.run.kind != Text) {
		s.Close(out)
	}
	b := &block{kind: k}
	if k != Other {
		b.run = s.open(k)
		b.from = b.run.said.Len()
		b.to = b.from
	}
	s.blocks = append(s.blocks, b)
}

// Piece is a delta of the newest block.
func (s *Speech) Piece(k Kind, p string, out *agent.Batch) {
	var b *block
	if n := len(s.blocks); n > 0 {
		b = s.blocks[n-1]
	}
	if b == nil || b.kind != k || b.repeated || b.run != s.run {
		s.Start(k, out)
		b = s.blocks[len(s.blocks)-1]
	}
	s.say(b.run, p, out)
	b.to = b.run.said.Len()
}

// Whole is a consolidated block of message. What was streamed of it is not said
// again.
func (s *Speech) Whole(message string, k Kind, p string, out *agent.Batch) {
	if message != s.message {
		s.Begin(message, out)
	}
	for _, b := range s.blocks {
		if b.kind != k || b.repeated {
			continue
		}
		b.repeated = true
		rest, prefix := strings.CutPrefix(p, b.run.text()[b.from:b.to])
		if !prefix || len(rest) == 0 {
			// Said already. If the two contradict, what was streamed stands: it has
			// reached its readers.
			if k == Thinking {
				s.Close(out)
			}
			return
		}
		p = rest
		break
	}
	if p == "" {
		return
	}
	if s.run != nil && s.run.kind != k {
		s.Close(out)
	}
	s.say(s.open(k), p, out)
	if k == Thinking {
		s.Close(out)
	}
}

// open gives the open item of a kind, a new one if need be.
func (s *Speech) open(k Kind) *run {
	if s.run == nil || s.run.kind != k {
		s.runs++
		word := "text"
		if k == Thinking {
			word = "thinking"
		}
		s.run = &run{kind: k, key: fmt.Sprintf("%s/%s/%d", s.message, word, s.runs)}
		if s.Parent != "" {
			s.run.key = s.Parent + "/" + s.run.key
		}
	}
	return s.run
}

func (s *Speech) say(r *run, p string, out *agent.Batch) {
	if p == "" {
		return
	}
	kind := agent.FactText
	if r.kind == Thinking {
		kind = agent.FactReasoning
	}
	r.said.WriteString(p)
	out.Add(agent.Fact{Kind: kind, Key: r.key, Parent: s.Parent, Text: p})
}

// Close ends the open item. One that said nothing never was one.
func (s *Speech) Close(out *agent.Batch) {
	r := s.run
	s.run = nil
	if r == nil || r.said.Len() == 0 {
		return
	}
	typ := event.Message
	if r.kind == Thinking {
		typ = event.Reasoning
	}
	out.Add(agent.Fact{Kind: agent.FactDone, Key: r.key, Parent: s.Parent, Item: &event.Item{Type: typ, Text: r.text()}})
}
