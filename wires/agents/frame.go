package agents

import (
	"strconv"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/jsontext"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// framer appends the frames of one event after another to buf. Everything but
// object allocates nothing.
type framer struct {
	buf     []byte
	session event.ID
	seq     int64
	k       int // frames of this event so far
}

// event starts the frames of event seq.
func (f *framer) event(seq int64) { f.seq, f.k = seq, 0 }

// open starts a frame of the given type; close ends it.
func (f *framer) open(kind string) {
	b := append(f.buf, "event: "...)
	b = append(b, kind...)
	b = append(b, "\ndata: {\"type\":\""...)
	b = append(b, kind...)
	b = append(b, `","event_id":"`...)
	b = appendCursor(b, f.seq, f.k)
	f.buf = append(b, '"')
	f.k++
}

func (f *framer) close() { f.buf = append(f.buf, "}\n\n"...) }

// place writes the ids that frames of a turn carry.
func (f *framer) place(turn event.ID) {
	f.id("session_id", event.PrefixSession, f.session)
	f.id("turn_id", event.PrefixTurn, turn)
}

// itemPlace writes the ids and the index that frames of an item carry.
func (f *framer) itemPlace(ev *event.Event) {
	f.place(ev.Turn)
	f.id("item_id", event.PrefixItem, ev.Item)
	f.number("output_index", int64(ev.Index))
}

func (f *framer) name(name string) {
	b := append(f.buf, `,"`...)
	b = append(b, name...)
	f.buf = append(b, `":`...)
}

func (f *framer) id(name, prefix string, id event.ID) {
	f.name(name)
	b := append(f.buf, '"')
	b = append(b, prefix...)
	b = id.AppendHex(b)
	f.buf = append(b, '"')
}

func (f *framer) number(name string, n int64) {
	f.name(name)
	f.buf = strconv.AppendInt(f.buf, n, 10)
}

func (f *framer) null(name string) {
	f.name(name)
	f.buf = append(f.buf, "null"...)
}

// text returns where in buf the value is.
func (f *framer) text(name, s string) (from, to int) {
	f.name(name)
	from = len(f.buf)
	f.buf = appendString(f.buf, s)
	return from, len(f.buf)
}

// part writes a content or summary part of the given type around an encoded text.
func (f *framer) part(kind string, text []byte) {
	f.name("part")
	f.buf = appendPart(f.buf, kind, text)
}

// appendPart appends what a textPart is.
func appendPart(dst []byte, kind string, text []byte) []byte {
	dst = append(append(dst, `{"text":`...), text...)
	dst = append(append(dst, `,"type":"`...), kind...)
	return append(dst, `"}`...)
}

// emptyText is an encoded text of nothing.
var emptyText = []byte(`""`)

// item writes an item of the turn. text is its text as appendString writes it, empty
// when that is still to be done. Items of text are most of what an answer is, so they
// are appended by hand; a test holds that they look as the object encoder makes them.
func (f *framer) item(turn event.ID, it *event.Item, text []byte) {
	if it.User || it.Type != event.Message && it.Type != event.Reasoning {
		f.object("item", itemObject(turn, it))
		return
	}
	f.name("item")
	b := append(f.buf, `{"id":"`+event.PrefixItem...)
	b = it.ID.AppendHex(b)
	kind, part := "reasoning", "summary_text"
	if it.Type == event.Message {
		kind, part = "message", "output_text"
		b = append(b, `","content":[`...)
	} else {
		b = append(append(b, `","status":"`...), outputStatus(it)...)
		b = append(b, `","summary":[`...)
	}
	if it.Text != "" || it.Status != event.InProgress {
		if len(text) == 0 {
			text = appendString(nil, it.Text)
		}
		b = appendPart(b, part, text)
	}
	b = append(b, ']')
	if it.Type == event.Message {
		switch it.Phase {
		case event.Commentary:
			b = append(b, `,"phase":"commentary"`...)
		case event.FinalAnswer:
			b = append(b, `,"phase":"final_answer"`...)
		default:
			b = append(b, `,"phase":null`...)
		}
		b = append(append(b, `,"role":"assistant","status":"`...), outputStatus(it)...)
		b = append(b, '"')
	}
	b = append(b, `,"turn_id":"`+event.PrefixTurn...)
	b = turn.AppendHex(b)
	b = append(append(b, `","type":"`...), kind...)
	f.buf = append(b, `"}`...)
}

// object writes v through the wire's JSON. Values are made by this package and
// always encode; null stands for one that would not.
func (f *framer) object(name string, v any) {
	f.name(name)
	from := len(f.buf)
	s := json.BorrowStream(nil)
	own := s.Buffer()
	s.SetBuffer(f.buf)
	s.WriteVal(v)
	f.buf = s.Buffer()
	failed := s.Error != nil
	s.SetBuffer(own) // what the stream has of its own is lent again
	json.ReturnStream(s)
	if failed {
		f.buf = append(f.buf[:from], "null"...)
	}
}

// wireText is a long text inside an object. It is written like a delta's, where
// < > & stay as they are: escaped, they would take six times their size, and a
// frame must stay below what SDKs read as one line.
type wireText string

// MarshalJSON implements json.Marshaler.
func (t wireText) MarshalJSON() ([]byte, error) {
	return appendString(make([]byte, 0, len(t)+len(t)/8+2), string(t)), nil
}

// appendString appends s as a JSON string of one line.
func appendString(dst []byte, s string) []byte { return jsontext.Append(dst, s, false) }
