package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Frame is one event of a stream.
type Frame struct {
	Kind string
	Raw  []byte // of its data line
	Data Data
}

// Data is what is looked at of a frame, on either wire.
type Data struct {
	EventID  string `json:"event_id"`
	Sequence *int64 `json:"sequence_number"`
	TurnID   string `json:"turn_id"`
	ItemID   string `json:"item_id"`
	Delta    string `json:"delta"`
	Text     string `json:"text"`
	Item     struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Role    string `json:"role"`
		Phase   string `json:"phase"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"item"`
	Turn struct {
		Status string `json:"status"`
		Error  *Fault `json:"error"`
	} `json:"turn"`
	Response struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"response"`
}

// Fault is a turn's error.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Place orders the frames of the Agents wire: the event's number and the frame's
// place in it.
type Place struct{ Seq, K int64 }

// Before reports whether p comes before q.
func (p Place) Before(q Place) bool { return p.Seq < q.Seq || p.Seq == q.Seq && p.K < q.K }

// Place of a frame of the Agents wire.
func (f *Frame) Place() (Place, error) { return ParsePlace(f.Data.EventID) }

// ParsePlace reads a cursor: an event's id, or a plain number.
func ParsePlace(id string) (p Place, err error) {
	seq, k, has := strings.Cut(strings.TrimPrefix(id, "evt_"), "_")
	if p.Seq, err = strconv.ParseInt(seq, 10, 64); err != nil {
		return p, fmt.Errorf("event_id %q: %w", id, err)
	}
	if has {
		if p.K, err = strconv.ParseInt(k, 10, 64); err != nil {
			return p, fmt.Errorf("event_id %q: %w", id, err)
		}
	}
	return p, nil
}

// Frames reads the whole frames of a stream and leaves out heartbeats. What a broken
// connection cut off is not looked at.
func Frames(b []byte) ([]Frame, error) {
	var out []Frame
	for len(b) > 0 {
		if b[0] == ':' {
			n := bytes.IndexByte(b, '\n')
			if n < 0 {
				break
			}
			b = b[n+1:]
			continue
		}
		n := bytes.Index(b, []byte("\n\n"))
		if n < 0 {
			break
		}
		f, err := frame(b[:n])
		if err != nil {
			return out, err
		}
		out = append(out, f)
		b = b[n+2:]
	}
	return out, nil
}

func frame(block []byte) (f Frame, err error) {
	kind, data, ok := bytes.Cut(block, []byte("\n"))
	if !ok || !bytes.HasPrefix(kind, []byte("event: ")) || !bytes.HasPrefix(data, []byte("data: ")) || bytes.IndexByte(data, '\n') >= 0 {
		return f, fmt.Errorf("a frame that no decoder expects: %q", clip(block))
	}
	f.Kind, f.Raw = string(kind[len("event: "):]), data[len("data: "):]
	if err := json.Unmarshal(f.Raw, &f.Data); err != nil {
		return f, fmt.Errorf("frame %s: %w: %q", f.Kind, err, clip(f.Raw))
	}
	return f, nil
}

func clip(b []byte) []byte {
	if len(b) > 300 {
		return append(append([]byte{}, b[:300]...), "..."...)
	}
	return b
}
