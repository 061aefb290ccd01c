package responses

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/call"
)

// For tests of the package from outside.
var (
	AppendString = appendString
	AppendPlain  = appendPlain
	EncodedLen   = encodedLen
	Encode       = encode
	Estimate     = estimate
)

// ItemBody is an item of a request.
type ItemBody = itemBody

// FieldNames are the parameters of a create that are read from the table.
func FieldNames() (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// AppendFrames renders one event without a view into dst.
func AppendFrames(dst []byte, ev *event.Event) []byte {
	f := frames{buf: dst}
	f.event(ev, nil)
	return f.buf
}

// Reading is the stream of a turn's leg behind a sequence number, out of a subscription
// that stands at before.
func Reading(sub call.Stream, turn event.ID, leg int32, before, skip int64) func() (frames []byte, wake <-chan struct{}, done bool, err error) {
	return newSource(sub, turn, leg, before, skip).Next
}

// Ended finds the end of a turn's leg, as a request that waits for it does.
var Ended = ended
