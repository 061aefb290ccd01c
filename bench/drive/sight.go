package drive

import (
	"bytes"
	"slices"
	"time"
)

// Sight is what one reader saw of one turn.
type Sight struct {
	// FirstFrame is when the first event of the wire was read.
	FirstFrame time.Time
	// Posted is how long the small request took that handed the turn in.
	Posted time.Duration
	// Slow makes the reader take that many bytes a second until Full is closed; 0 reads
	// what there is.
	Slow int
	Full <-chan struct{}
	// First is when the first text was read, Last when the latest was.
	First, Last time.Time
	// Events are texts seen for the first time, in order; Lost are numbers that were
	// left out, Frames are events of the wire, Bytes what they came in.
	Events, Lost, Frames int
	Bytes                int64
	// Delays are from the CLI's write to the read, one a text; kept when Keep is set.
	Keep   bool
	Delays []time.Duration
	// LastID is the id of the last event, "" without any.
	LastID string
	// Ended is how the turn ended: "completed", or what the wire says else.
	Ended string
}

var mark = []byte("ts:")

// see looks for texts in a piece of output. One that was seen before is shown again
// by wires that repeat a whole item at its end.
func (s *Sight) see(at time.Time, b []byte) {
	for {
		i := bytes.Index(b, mark)
		if i < 0 {
			return
		}
		b = b[i+len(mark):]
		ts, rest := number(b)
		if !bytes.HasPrefix(rest, []byte(" seq:")) {
			continue
		}
		seq, rest := number(rest[5:])
		b = rest
		next := int64(s.Events + s.Lost)
		if seq < next {
			continue
		}
		s.Lost += int(seq - next)
		if s.Events == 0 {
			s.First = at
		}
		s.Events++
		s.Last = at
		if s.Keep {
			s.Delays = append(s.Delays, time.Duration(at.UnixNano()-ts))
		}
	}
}

func number(b []byte) (n int64, rest []byte) {
	for len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		n = n*10 + int64(b[0]-'0')
		b = b[1:]
	}
	return n, b
}

// Quantile is the value below which the share q of all lies; 0 without any.
func Quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return all[min(len(all)-1, int(float64(len(all))*q))]
}

// lines looks at output as it comes; it returns the line that is not whole yet.
func (s *Sight) lines(at time.Time, held, b []byte) []byte {
	s.Bytes += int64(len(b))
	end := bytes.LastIndexByte(b, '\n') + 1
	if end == 0 {
		return append(held, b...)
	}
	if len(held) > 0 {
		held = append(held, b[:end]...)
		s.Frames += bytes.Count(held, []byte{'\n'})
		s.see(at, held)
	} else {
		s.Frames += bytes.Count(b[:end], []byte{'\n'})
		s.see(at, b[:end])
	}
	return append(held[:0], b[end:]...)
}
