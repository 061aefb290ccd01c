package responsestest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Frame is one event of a stream.
type Frame struct {
	Type string
	Seq  int64
	Data map[string]any // numbers are json.Number
	Raw  []byte         // the data line's JSON
}

// maxLine is the longest data line that clients take.
const maxLine = 8 << 20

// Parse reads a stream: event line, data line, blank line, nothing else but
// comments between frames.
func Parse(stream []byte) ([]Frame, error) {
	var out []Frame
	for len(stream) > 0 {
		if stream[0] == ':' {
			_, rest, ok := bytes.Cut(stream, []byte("\n"))
			if !ok || len(rest) > 0 && rest[0] == '\n' {
				return out, fmt.Errorf("after frame %d: a comment that ends a block", len(out))
			}
			stream = rest
			continue
		}
		block, rest, ok := bytes.Cut(stream, []byte("\n\n"))
		if !ok {
			return out, fmt.Errorf("after frame %d: the last block has no end: %.80q", len(out), stream)
		}
		stream = rest
		f, err := parse(string(block))
		if err != nil {
			return out, fmt.Errorf("frame %d: %w", len(out), err)
		}
		out = append(out, f)
	}
	return out, nil
}

func parse(block string) (Frame, error) {
	var f Frame
	name, data, ok := strings.Cut(block, "\n")
	if !ok || !strings.HasPrefix(name, "event: ") || !strings.HasPrefix(data, "data: ") || strings.ContainsAny(data, "\r\n") {
		return f, fmt.Errorf("not an event line and a data line: %.80q", block)
	}
	if len(data) > maxLine {
		return f, fmt.Errorf("a data line of %d bytes", len(data))
	}
	f.Type, f.Raw = name[len("event: "):], []byte(data[len("data: "):])
	d := json.NewDecoder(bytes.NewReader(f.Raw))
	d.UseNumber()
	if err := d.Decode(&f.Data); err != nil {
		return f, fmt.Errorf("data of %s: %w", f.Type, err)
	}
	if f.Data["type"] != f.Type {
		return f, fmt.Errorf("event line %s, type %v", f.Type, f.Data["type"])
	}
	n, ok := f.Data["sequence_number"].(json.Number)
	if !ok {
		return f, fmt.Errorf("%s has no sequence_number", f.Type)
	}
	var err error
	f.Seq, err = n.Int64()
	return f, err
}
