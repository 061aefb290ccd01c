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

func (f *framer) text(name, s string) {
	f.name(name)
	f.buf = appendString(f.buf, s)
}

// part writes a content or summary part of the given type.
func (f *framer) part(kind, s string) {
	f.name("part")
	b := append(f.buf, `{"text":`...)
	b = appendString(b, s)
	b = append(b, `,"type":"`...)
	b = append(b, kind...)
	f.buf = append(b, `"}`...)
}

// object writes v through the wire's JSON. Values are made by this package and
// always encode; null stands for one that would not.
func (f *framer) object(name string, v any) {
	f.name(name)
	s := json.BorrowStream(nil)
	defer json.ReturnStream(s)
	s.WriteVal(v)
	if s.Error != nil {
		f.buf = append(f.buf, "null"...)
		return
	}
	f.buf = append(f.buf, s.Buffer()...)
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
