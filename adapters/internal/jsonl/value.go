package jsonl

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"unsafe"

	jsoniter "github.com/json-iterator/go"
	"github.com/modern-go/reflect2"

	"github.com/agenthost/agenthost/actors/agent"
)

// The types of this file read their field if it has the expected JSON type and
// stay zero if it has another, so one surprising value never costs the line.
type (
	// Str is a string.
	Str string
	// Word is a short string without escapes, compared and forgotten: it shares the
	// line's memory.
	Word []byte
	// Chunk is a piece of text on its way into a Batch.
	Chunk struct {
		shared []byte
		own    string
	}
	// Num is an integer, also when it came as a string or with a fraction.
	Num int64
	// Flag is a boolean.
	Flag bool
)

// Text gives the chunk as a string that outlives the line.
func (c Chunk) Text(b *agent.Batch) string {
	if c.own != "" {
		return c.own
	}
	return b.Text(c.shared)
}

// plain marks an iterator over a line without a backslash: its strings can be
// taken as they stand.
type plain struct{}

// api is the compatible configuration with names compared exactly, and the types
// above. It decodes only.
var api = func() jsoniter.API {
	a := jsoniter.Config{EscapeHTML: true, SortMapKeys: true, ValidateJsonRawMessage: true, CaseSensitive: true}.Froze()
	a.RegisterExtension(&tolerant{})
	return a
}()

// Decode reads obj, one JSON object, into v and reports whether it was well formed.
// Word and Chunk fields of v may share obj's memory.
func Decode(obj []byte, v any) bool {
	iter := api.BorrowIterator(obj)
	defer api.ReturnIterator(iter)
	if bytes.IndexByte(obj, '\\') < 0 {
		iter.Attachment = plain{}
	}
	iter.ReadVal(v)
	if iter.Error != nil {
		return false
	}
	iter.WhatIsNext() // at the end of the input this reports io.EOF
	return errors.Is(iter.Error, io.EOF)
}

type tolerant struct{ jsoniter.DummyExtension }

var decoders = map[reflect2.Type]jsoniter.ValDecoder{
	reflect2.TypeOf(Str("")):   decoder(readStr),
	reflect2.TypeOf(Word(nil)): decoder(readWord),
	reflect2.TypeOf(Chunk{}):   decoder(readChunk),
	reflect2.TypeOf(Num(0)):    decoder(readNum),
	reflect2.TypeOf(Flag(false)): decoder(func(to unsafe.Pointer, iter *jsoniter.Iterator) {
		if iter.WhatIsNext() == jsoniter.BoolValue {
			*(*Flag)(to) = Flag(iter.ReadBool())
			return
		}
		iter.Skip()
	}),
}

// CreateDecoder gives the decoder of one of this package's types.
func (*tolerant) CreateDecoder(typ reflect2.Type) jsoniter.ValDecoder {
	for t, d := range decoders {
		if t.RType() == typ.RType() {
			return d
		}
	}
	return nil
}

type decoder func(to unsafe.Pointer, iter *jsoniter.Iterator)

func (d decoder) Decode(to unsafe.Pointer, iter *jsoniter.Iterator) { d(to, iter) }

func readStr(to unsafe.Pointer, iter *jsoniter.Iterator) {
	if iter.WhatIsNext() == jsoniter.StringValue {
		*(*Str)(to) = Str(iter.ReadString())
		return
	}
	iter.Skip()
}

func readWord(to unsafe.Pointer, iter *jsoniter.Iterator) {
	if iter.WhatIsNext() != jsoniter.StringValue {
		iter.Skip()
		return
	}
	w := iter.ReadStringAsSlice() // up to the first quote, escaped or not
	if iter.Attachment == nil && bytes.IndexByte(w, '\\') >= 0 {
		iter.ReportError("readWord", "escape in a word")
		return
	}
	*(*Word)(to) = w
}

func readChunk(to unsafe.Pointer, iter *jsoniter.Iterator) {
	c := (*Chunk)(to)
	switch {
	case iter.WhatIsNext() != jsoniter.StringValue:
		iter.Skip()
	case iter.Attachment != nil:
		c.shared = iter.ReadStringAsSlice()
	default:
		c.own = iter.ReadString()
	}
}

func readNum(to unsafe.Pointer, iter *jsoniter.Iterator) {
	var text string
	switch iter.WhatIsNext() {
	case jsoniter.NumberValue:
		text = string(iter.ReadNumber())
	case jsoniter.StringValue:
		text = iter.ReadString()
	default:
		iter.Skip()
		return
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*(*Num)(to) = Num(n)
	} else if f, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(f) < math.MaxInt64/2 {
		*(*Num)(to) = Num(f)
	}
}
