package event

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The stored form of an event is a binary envelope with the body as JSON:
//
//	kind u8 | flags u8 | seq uvarint | at uvarint | [turn 16] | [item 16] |
//	[index uvarint] | [step uvarint] | [text len uvarint, bytes] | [body len uvarint, JSON]
//
// A turn or item equal to that of the event before it in the same encoding is
// left out. Encodings are concatenated; a reader needs the whole of one.
const (
	flagTurn     = 1 << iota // a turn id follows
	flagSameTurn             // the turn of the event before
	flagItem
	flagSameItem
	flagIndex
	flagStep
	flagText
	flagBody
)

// Encoder appends events to a buffer. The zero value is ready; Reset starts a
// new, independent encoding.
type Encoder struct {
	// Buf is the encoding so far. A caller may set it, emptied, before the first
	// Append, to lend its capacity.
	Buf        []byte
	turn, item ID
}

// Reset forgets the buffer's content and keeps its capacity.
func (e *Encoder) Reset() { *e = Encoder{Buf: e.Buf[:0]} }

// Append adds ev to the buffer. It costs no allocation of its own once the buffer
// has grown, unless ev has a body other than an item of the usual fields. An event
// that no Decode would read back is refused and leaves the buffer as it was.
func (e *Encoder) Append(ev *Event) error {
	if ev.Index < 0 || ev.Step < 0 {
		return fmt.Errorf("encode event %d: index %d, step %d", ev.Seq, ev.Index, ev.Step)
	}
	var body []byte
	item, isItem := ev.Body.(*Item)
	isItem = isItem && simple(item)
	switch b := ev.Body.(type) {
	case nil:
	case *Settings:
		body = b.JSON
	default:
		if isItem {
			break
		}
		var err error
		if body, err = json.Marshal(b); err != nil {
			return fmt.Errorf("encode event %d: %w", ev.Seq, err)
		}
	}
	var flags byte
	if !ev.Turn.IsZero() {
		flags |= flagTurn
		if ev.Turn == e.turn {
			flags ^= flagTurn | flagSameTurn
		}
	}
	if !ev.Item.IsZero() {
		flags |= flagItem
		if ev.Item == e.item {
			flags ^= flagItem | flagSameItem
		}
	}
	if ev.Index != 0 {
		flags |= flagIndex
	}
	if ev.Step != 0 {
		flags |= flagStep
	}
	if ev.Text != "" {
		flags |= flagText
	}
	if body != nil || isItem {
		flags |= flagBody
	}
	b := append(e.Buf, byte(ev.Kind), flags)
	b = binary.AppendUvarint(b, uint64(ev.Seq))
	b = binary.AppendUvarint(b, uint64(ev.At))
	if flags&flagTurn != 0 {
		b = append(b, ev.Turn[:]...)
		e.turn = ev.Turn
	}
	if flags&flagItem != 0 {
		b = append(b, ev.Item[:]...)
		e.item = ev.Item
	}
	if flags&flagIndex != 0 {
		b = binary.AppendUvarint(b, uint64(ev.Index))
	}
	if flags&flagStep != 0 {
		b = binary.AppendUvarint(b, uint64(ev.Step))
	}
	if flags&flagText != 0 {
		b = binary.AppendUvarint(b, uint64(len(ev.Text)))
		b = append(b, ev.Text...)
	}
	switch {
	case isItem:
		b = sized(b, func(b []byte) []byte { return appendItem(b, item) })
	case body != nil:
		b = binary.AppendUvarint(b, uint64(len(body)))
		b = append(b, body...)
	}
	e.Buf = b
	return nil
}

// ErrCorrupt is wrapped by what Decode returns on bytes no Encoder wrote.
var ErrCorrupt = errors.New("corrupt event encoding")

// Decode reads one whole encoding and appends its events to dst; on an error,
// which wraps ErrCorrupt, those before the damage. The events share no memory
// with b, but their texts share one copy of it: keep a strings.Clone of a text
// that is to outlive the others. The body of an unknown kind is left out.
func Decode(dst []Event, b []byte) ([]Event, error) {
	d := decoder{text: string(b)}
	for d.at < len(d.text) {
		ev, err := d.next()
		if err != nil {
			return dst, err
		}
		dst = append(dst, ev)
	}
	return dst, nil
}

type decoder struct {
	text       string // events' texts are slices of it
	at         int
	turn, item ID
}

func (d *decoder) next() (Event, error) {
	var ev Event
	if len(d.text)-d.at < 2 {
		return ev, d.corrupt("header")
	}
	ev.Kind = Kind(d.text[d.at])
	flags := d.text[d.at+1]
	d.at += 2
	var ok [2]bool
	var seq, at uint64
	seq, ok[0] = d.uvarint()
	at, ok[1] = d.uvarint()
	if !ok[0] || !ok[1] {
		return ev, d.corrupt("numbers")
	}
	ev.Seq, ev.At = int64(seq), int64(at)
	if !d.name(&d.turn, flags, flagTurn, flagSameTurn) || !d.name(&d.item, flags, flagItem, flagSameItem) {
		return ev, d.corrupt("ids")
	}
	if flags&(flagTurn|flagSameTurn) != 0 {
		ev.Turn = d.turn
	}
	if flags&(flagItem|flagSameItem) != 0 {
		ev.Item = d.item
	}
	for _, f := range [...]struct {
		flag byte
		to   *int32
	}{{flagIndex, &ev.Index}, {flagStep, &ev.Step}} {
		if flags&f.flag == 0 {
			continue
		}
		v, ok := d.uvarint()
		if !ok || v > 1<<31-1 {
			return ev, d.corrupt("place")
		}
		*f.to = int32(v)
	}
	var good bool
	if flags&flagText != 0 {
		if ev.Text, good = d.bytes(); !good {
			return ev, d.corrupt("text")
		}
	}
	if flags&flagBody != 0 {
		body, good := d.bytes()
		if !good {
			return ev, d.corrupt("body")
		}
		var err error
		if ev.Body, err = decodeBody(ev.Kind, body); err != nil {
			return ev, fmt.Errorf("%w: body of event %d: %w", ErrCorrupt, ev.Seq, err)
		}
	}
	return ev, nil
}

func decodeBody(k Kind, body string) (Body, error) {
	switch k {
	case SessionCreated, SessionUpdated:
		return &Settings{JSON: []byte(body)}, nil
	case InputAccepted, ItemsPosted, InputSteered:
		b := new(Input)
		if err := json.Unmarshal([]byte(body), b); err != nil {
			return nil, err
		}
		if slices.Contains(b.Items, nil) {
			return nil, errors.New("null among the items")
		}
		return b, nil
	case ItemStarted, ItemDone, CallAnswered, SubagentStarted, SubagentItem:
		return readItem(body)
	case TurnEnded:
		b := new(End)
		return b, json.Unmarshal([]byte(body), b)
	case LegStarted:
		b := new(Leg)
		return b, json.Unmarshal([]byte(body), b)
	case TurnWaiting:
		b := new(Pause)
		return b, json.Unmarshal([]byte(body), b)
	case BudgetHit:
		b := new(Budget)
		return b, json.Unmarshal([]byte(body), b)
	case EnvironmentChanged:
		b := new(Environment)
		return b, json.Unmarshal([]byte(body), b)
	default:
		return nil, nil // a newer writer's body: kept out, never fatal
	}
}

func (d *decoder) corrupt(what string) error {
	return fmt.Errorf("%w: %s at byte %d", ErrCorrupt, what, d.at)
}

func (d *decoder) uvarint() (uint64, bool) {
	var v uint64
	for shift := uint(0); shift < 64 && d.at < len(d.text); shift += 7 {
		c := d.text[d.at]
		d.at++
		if shift == 63 && c > 1 {
			return 0, false // more than 64 bits
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, true
		}
	}
	return 0, false
}

// name reads an id if flags say that one follows. "The same" needs one before it.
func (d *decoder) name(to *ID, flags, follows, same byte) bool {
	switch flags & (follows | same) {
	case 0:
		return true
	case follows:
		return d.id(to)
	case same:
		return !to.IsZero()
	default:
		return false
	}
}

func (d *decoder) id(to *ID) bool {
	if len(d.text)-d.at < len(to) {
		return false
	}
	copy(to[:], d.text[d.at:])
	d.at += len(to)
	return true
}

func (d *decoder) bytes() (string, bool) {
	n, ok := d.uvarint()
	if !ok || n > uint64(len(d.text)-d.at) {
		return "", false
	}
	s := d.text[d.at : d.at+int(n)]
	d.at += int(n)
	return s, true
}
