package responses

import (
	"bytes"
	stdjson "encoding/json"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// Texts are most of what an answer is, so the items that hold them are appended by
// hand; they look as encode makes them of outputItem, which tests hold.

// emptyText is an encoded text of nothing.
var emptyText = []byte(`""`)

// appendItem appends an output item as it stands. text is its text as appendString
// writes it, empty when that is still to be done.
func appendItem(dst []byte, it *event.Item, text []byte) []byte {
	if it.Type != event.Message && it.Type != event.Reasoning {
		return appendJSON(dst, outputItem(it))
	}
	dst = slices.Grow(dst, 320+len(it.Text)+len(it.Text)/16)
	dst = append(dst, `{"id":"`+event.PrefixItem...)
	dst = it.ID.AppendHex(dst)
	status := it.Status
	if status == event.ItemFailed {
		status = event.Incomplete // a text has no other word for it
	}
	if it.Type == event.Message {
		dst = append(append(dst, `","type":"message","status":"`...), status.String()...)
		dst = append(dst, `","role":"assistant`...)
		if p := phase(it.Phase); p != "" {
			dst = append(append(dst, `","phase":"`...), p...)
		}
		dst = append(dst, `","content":[`...)
	} else {
		dst = append(append(dst, `","type":"reasoning","status":"`...), status.String()...)
		dst = append(dst, `","summary":[`...)
	}
	if it.Status != event.InProgress || it.Text != "" {
		if it.Type == event.Message {
			dst = append(dst, textHead...)
		} else {
			dst = append(dst, summaryHead...)
		}
		if len(text) > 0 {
			dst = append(dst, text...)
		} else {
			dst = appendString(dst, it.Text)
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

// appendResponse is appendJSON for a response, whose output it copies once.
func appendResponse(dst []byte, r *Response) []byte {
	bare := *r
	bare.Output = []stdjson.RawMessage{}
	from := len(dst)
	dst = appendJSON(dst, &bare)
	// Before its place nothing else looks like it: quotes inside of strings are escaped,
	// and metadata's values are strings.
	at := bytes.Index(dst[from:], emptyOutput)
	if at < 0 || len(r.Output) == 0 {
		return dst
	}
	at += from + len(emptyOutput) - 1
	behind := bytes.Clone(dst[at:])
	dst = dst[:at]
	for i, item := range r.Output {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	return append(dst, behind...)
}

var emptyOutput = []byte(`,"output":[]`)

const (
	textHead    = `{"type":"output_text","annotations":[],"logprobs":[],"text":`
	summaryHead = `{"type":"summary_text","text":`
)

// appendText is a message's content, appendSummary that of a thought.
func appendText(dst, text []byte) []byte {
	return append(append(append(dst, textHead...), text...), '}')
}

func appendSummary(dst, text []byte) []byte {
	return append(append(append(dst, summaryHead...), text...), '}')
}
