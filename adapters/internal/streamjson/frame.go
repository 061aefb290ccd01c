package streamjson

import (
	"bytes"
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/speech"
)

// Frame is a line of the model's stream: most lines are one.
type Frame struct {
	Type   jsonl.Word `json:"type"`
	Parent jsonl.Word `json:"parent_tool_use_id"` // of a subagent's
	Event  struct {
		Type  jsonl.Word `json:"type"`
		Delta struct {
			Type     jsonl.Word  `json:"type"`
			Text     jsonl.Chunk `json:"text"`
			Thinking jsonl.Chunk `json:"thinking"`
		} `json:"delta"`
		Block struct {
			Type jsonl.Word `json:"type"`
		} `json:"content_block"`
		Message struct {
			ID    jsonl.Str       `json:"id"`
			Usage json.RawMessage `json:"usage"`
		} `json:"message"`
		Usage json.RawMessage `json:"usage"`
	} `json:"event"`

	scan jsonl.Scanner
}

var mark = []byte(`"stream_event"`)

// Read reads an object and reports whether it is a frame.
func (f *Frame) Read(obj []byte) bool {
	if !bytes.Contains(obj, mark) {
		return false
	}
	*f = Frame{scan: f.scan}
	return jsonl.Decode(obj, f) && string(f.Type) == "stream_event"
}

// What Quick has seen of a line.
const (
	seenType = 1 << iota
	seenParent
	seenEvent
	seenKind
	seenDelta
	seenDeltaKind
	seenText
	seenThinking
)

// Quick reads a whole line if it is a piece of text or of thinking in its usual
// shape, and reports whether it is. It reads what jsonl.Object and Read would; after
// false they are to be asked.
func (f *Frame) Quick(line []byte) bool {
	*f = Frame{scan: f.scan}
	s := &f.scan
	s.Begin(line)
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "type":
			s.Once(seenType)
			if f.Type = s.WordOrSkip(); string(f.Type) != "stream_event" {
				return false
			}
		case "parent_tool_use_id":
			s.Once(seenParent)
			f.Parent = s.WordOrSkip()
		case "event":
			s.Once(seenEvent)
			if !f.quickEvent(s) {
				return false
			}
		default:
			s.Skip()
		}
	}
	return s.Ended() && s.Saw(seenType|seenKind)
}

func (f *Frame) quickEvent(s *jsonl.Scanner) bool {
	s.Enter()
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "type":
			s.Once(seenKind)
			if f.Event.Type = s.WordOrSkip(); string(f.Event.Type) != "content_block_delta" {
				return false
			}
		case "delta":
			s.Once(seenDelta)
			f.quickDelta(s)
		case "content_block", "message", "usage":
			return false
		default:
			s.Skip()
		}
	}
	return true
}

func (f *Frame) quickDelta(s *jsonl.Scanner) {
	d := &f.Event.Delta
	s.Enter()
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "type":
			s.Once(seenDeltaKind)
			d.Type = s.WordOrSkip()
		case "text":
			s.Once(seenText)
			d.Text = s.Chunk()
		case "thinking":
			s.Once(seenThinking)
			d.Thinking = s.Chunk()
		default:
			s.Skip()
		}
	}
}

// Kind is what the frame tells: "message_start", "content_block_delta", ...
func (f *Frame) Kind() string { return string(f.Event.Type) }

// Speak says what a frame inside a block tells, and reports whether it is one. text
// takes the pieces of text; nil says them.
func (f *Frame) Speak(s *speech.Speech, text func(piece string, out *agent.Batch), out *agent.Batch) bool {
	switch e := &f.Event; string(e.Type) {
	case "content_block_delta":
		switch string(e.Delta.Type) {
		case "text_delta":
			piece := e.Delta.Text.Text(out)
			if text != nil {
				text(piece, out)
			} else {
				s.Piece(speech.Text, piece, out)
			}
		case "thinking_delta":
			s.Piece(speech.Thinking, e.Delta.Thinking.Text(out), out)
		}
	case "content_block_start":
		switch string(e.Block.Type) {
		case "text":
			s.Start(speech.Text, out)
		case "thinking":
			s.Start(speech.Thinking, out)
		default:
			s.Start(speech.Other, out)
		}
	case "content_block_stop":
	default:
		return false
	}
	return true
}
