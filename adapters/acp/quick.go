package acp

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/speech"
)

// chunk is a piece of a message or of a thought: most lines are one.
type chunk struct {
	session []byte
	kind    speech.Kind
	text    jsonl.Chunk
	typed   bool // its type is "text"
}

// What quick has seen of a line.
const (
	seenMethod = 1 << iota
	seenParams
	seenSession
	seenUpdate
	seenKind
	seenMessage
	seenContent
	seenType
	seenText
)

// quick reads a line if it is a piece in its usual shape. If it is not, jsonl.Object
// and Decode, which would read the same, are to be asked.
func (c *chunk) quick(raw []byte, s *jsonl.Scanner) bool {
	*c = chunk{}
	s.Begin(raw)
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "method":
			s.Once(seenMethod)
			if string(s.WordOrSkip()) != "session/update" {
				return false
			}
		case "params":
			s.Once(seenParams)
			s.Enter()
			c.params(s)
		case "id", "result", "error":
			return false
		default:
			s.Skip()
		}
	}
	return s.Ended() && s.Saw(seenMethod|seenParams|seenSession|seenUpdate|seenKind|seenContent) && c.kind != speech.Other
}

func (c *chunk) params(s *jsonl.Scanner) {
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "sessionId":
			s.Once(seenSession)
			c.session = s.WordOrSkip()
		case "update":
			s.Once(seenUpdate)
			s.Enter()
			c.update(s)
		default:
			s.Skip()
		}
	}
}

func (c *chunk) update(s *jsonl.Scanner) {
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "sessionUpdate":
			s.Once(seenKind)
			switch string(s.WordOrSkip()) {
			case "agent_message_chunk":
				c.kind = speech.Text
			case "agent_thought_chunk":
				c.kind = speech.Thinking
			}
		case "messageId":
			s.Once(seenMessage)
			s.Skip()
		case "content":
			s.Once(seenContent)
			s.Enter()
			c.content(s)
		default: // it says more than a piece
			s.Leave()
		}
	}
}

func (c *chunk) content(s *jsonl.Scanner) {
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "type":
			s.Once(seenType)
			c.typed = string(s.WordOrSkip()) == "text"
		case "text":
			s.Once(seenText)
			c.text = s.Chunk()
		default:
			s.Skip()
		}
	}
}

// heard takes a piece that quick has read, as updated would.
func (p *protocol) heard(c *chunk, whole []byte, out *agent.Talk) {
	s := p.sessions[string(c.session)]
	if s == nil || !s.running || s.ended {
		return
	}
	said := out.Turn(s.id)
	said.Bytes += int64(len(whole))
	b := said.Batch
	s.tell(b)
	s.says(c.kind, c.typed, c.text.Text(b), whole, b)
}
