package responses

import "github.com/agenthost/agenthost/actors/event"

// For tests of the package from outside.
var (
	AppendString = appendString
	AppendPlain  = appendPlain
	EncodedLen   = encodedLen
	Encode       = encode
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
