package agents

import (
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

// Cursor is a place in a session's stream: behind frame K of event Seq, or
// behind the whole event when K is WholeEvent. The zero Seq with WholeEvent is
// the start of the session.
type Cursor struct {
	Seq int64
	K   int
}

// WholeEvent is the K of a cursor that was given as a plain number.
const WholeEvent = -1

const (
	cursorPrefix = "evt_"
	cursorDigits = 16
	maxDigits    = 18 // of a number that fits int64 whatever its digits
)

// appendCursor writes the event_id of frame k of event seq.
func appendCursor(dst []byte, seq int64, k int) []byte {
	dst = append(dst, cursorPrefix...)
	dst = appendSeq(dst, seq)
	if k > 0 {
		dst = append(dst, '_')
		dst = strconv.AppendInt(dst, int64(k), 10)
	}
	return dst
}

func appendSeq(dst []byte, seq int64) []byte {
	var room [20]byte
	number := strconv.AppendInt(room[:0], seq, 10)
	for range cursorDigits - len(number) {
		dst = append(dst, '0')
	}
	return append(dst, number...)
}

// ParseCursor reads `evt_<digits>`, `evt_<digits>_<k>` or a plain number, which
// is behind the event of that number; 0 is the start of the session. What has no
// such form is InvalidRequest; what has it and cannot have been issued is
// CursorNotFound.
func ParseCursor(s string) (Cursor, error) {
	rest, named := strings.CutPrefix(s, cursorPrefix)
	seqText, kText, inside := rest, "", false
	if named {
		seqText, kText, inside = strings.Cut(rest, "_")
	}
	if !digits(seqText) || inside && !digits(kText) {
		return Cursor{}, event.FailParam(event.InvalidRequest, "after",
			"a stream cursor is the event_id of an event of this session, or the number of one (0 is the start)")
	}
	if len(seqText) > maxDigits || len(kText) > maxDigits {
		return Cursor{}, cursorUnknown()
	}
	c := Cursor{K: WholeEvent}
	c.Seq, _ = strconv.ParseInt(seqText, 10, 64) // digits were checked
	if !named {
		return c, nil
	}
	c.K = 0
	if inside {
		c.K, _ = strconv.Atoi(kText)
	}
	if c.Seq == 0 {
		return Cursor{}, cursorUnknown()
	}
	return c, nil
}

func cursorUnknown() error {
	return event.FailParam(event.CursorNotFound, "after", "no event of this session has that cursor")
}

func digits(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
