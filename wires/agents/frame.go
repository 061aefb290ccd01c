package agents

import (
	"strconv"
	"unicode/utf8"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/event"
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

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string that holds no line break of any kind;
// bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[from:i]...)
			dst = append(dst, `\ufffd`...)
			from = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[from:i]...)
			dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&15])
			from = i + n
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
