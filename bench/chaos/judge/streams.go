package judge

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
)

// segments judges what was read live against the replays.
func (j *judge) segments(t *told, whole []evidence.Frame) {
	replays := map[string][]evidence.Frame{}
	for stream, r := range t.replays {
		if stream != t.plan.Name {
			replays[stream] = j.frames(r)
			j.response(stream, replays[stream])
		}
	}
	for _, s := range t.segments {
		seen := j.frames(s)
		if s.Tag == "" {
			j.agentsSegment(&s, seen, whole)
		} else if replay, ok := replays[s.Stream]; ok {
			j.responseSegment(&s, seen, replay)
		}
	}
}

// losable are the frames that a power cut may take back: those of deltas and of an
// item's beginning, which are not synced when they are shown.
func losable(f *evidence.Frame) bool {
	for _, end := range []string{
		".delta", "part.added", "mcp_call.in_progress", "mcp_call_arguments.done", "web_search_call.in_progress", "web_search_call.searching",
	} {
		if strings.HasSuffix(f.Kind, end) {
			return true
		}
	}
	return strings.HasSuffix(f.Kind, "item.added") && f.Data.Item.Role != "user"
}

func (j *judge) agentsSegment(s *evidence.Record, seen, whole []evidence.Frame) {
	if len(seen) == 0 {
		return
	}
	at := make(map[string]*evidence.Frame, len(whole))
	for i := range whole {
		at[whole[i].Data.EventID] = &whole[i]
	}
	shown := make(map[string]bool, len(seen))
	for i := range seen {
		f := &seen[i]
		if shown[f.Data.EventID] {
			j.say(SameStream, s.Stream, "%s was shown twice", f.Data.EventID)
		}
		shown[f.Data.EventID] = true
		switch r := at[f.Data.EventID]; {
		case r == nil && !(j.lossy && losable(f)):
			j.say(SameStream, s.Stream, "%s (%s) was shown and is not in the replay", f.Data.EventID, f.Kind)
			return
		case r != nil && !bytes.Equal(r.Raw, f.Raw):
			j.say(SameStream, s.Stream, "%s was shown as %s and is replayed as %s", f.Data.EventID, f.Raw, r.Raw)
			return
		}
	}
	from, err := evidence.ParsePlace(s.After)
	if err != nil {
		j.say(Answers, s.Stream, "%v", err)
		return
	}
	if !strings.HasPrefix(s.After, "evt_") {
		from.K = 1 << 40 // a number is all of its event
	}
	last, err := seen[len(seen)-1].Place()
	if err != nil {
		return // said before
	}
	for i := range whole {
		p, err := whole[i].Place()
		if err != nil || !from.Before(p) || !p.Before(last) {
			continue
		}
		if id := whole[i].Data.EventID; !shown[id] {
			j.say(NoGap, s.Stream, "read from %s to %s, and %s (%s) was not shown", s.After, seen[len(seen)-1].Data.EventID, id, whole[i].Kind)
			return
		}
	}
}

// response judges a whole stream of the Responses wire. Its numbers have no gap, but
// after a power cut: those of lost frames are not given again.
func (j *judge) response(tag string, frames []evidence.Frame) {
	ends, next := 0, int64(0)
	for i := range frames {
		f := &frames[i]
		n := f.Data.Sequence
		if n == nil || *n < next || *n > next && !j.lossy {
			j.say(NoGap, tag, "%s has sequence_number %s and not %d", f.Kind, number(n), next)
			return
		}
		next = *n + 1
		if ends > 0 {
			j.say(OneEnd, tag, "%s comes behind the end of the response", f.Kind)
		}
		switch f.Kind {
		case "response.completed", "response.failed", "response.incomplete":
			ends++
		}
	}
	if ends != 1 {
		j.say(OneEnd, tag, "the response's stream has %d terminal events", ends)
	}
}

func number(n *int64) string {
	if n == nil {
		return "none"
	}
	return strconv.FormatInt(*n, 10)
}

// responseSegment judges what was read live of a response.
func (j *judge) responseSegment(s *evidence.Record, seen, replay []evidence.Frame) {
	if len(seen) == 0 {
		return
	}
	from := int64(-1)
	if n, err := strconv.ParseInt(s.After, 10, 64); err == nil {
		from = n
	}
	at := make(map[int64]*evidence.Frame, len(replay))
	for i := range replay {
		if n := replay[i].Data.Sequence; n != nil {
			at[*n] = &replay[i]
		}
	}
	last, shown := from, map[int64]bool{}
	for i := range seen {
		f := &seen[i]
		n := f.Data.Sequence
		// The end is shown even to who says that it has it.
		if n == nil || *n <= last && i < len(seen)-1 {
			j.say(NoGap, s.Stream, "%s has sequence_number %s behind %d", f.Kind, number(n), last)
			return
		}
		last, shown[*n] = *n, true
		switch r := at[*n]; {
		case r == nil && !(j.lossy && losable(f)):
			j.say(SameStream, s.Stream, "%d (%s) was shown and is not in the replay", *n, f.Kind)
			return
		case r != nil && !bytes.Equal(r.Raw, f.Raw):
			j.say(SameStream, s.Stream, "%d was shown as %s and is replayed as %s", *n, f.Raw, r.Raw)
			return
		}
	}
	for n, f := range at {
		if n > from && n < last && !shown[n] {
			j.say(NoGap, s.Stream, "read from %d to %d, and %d (%s) was not shown", from, last, n, f.Kind)
			return
		}
	}
}
