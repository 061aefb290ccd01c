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

// losable are the kinds of frames that a power cut may take back: what is not synced
// when it is shown.
func losable(f *evidence.Frame) bool {
	return strings.HasSuffix(f.Kind, ".delta") || strings.HasSuffix(f.Kind, "part.added") ||
		strings.HasSuffix(f.Kind, "item.added") && f.Data.Item.Role != "user"
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

// response judges a whole stream of the Responses wire.
func (j *judge) response(tag string, frames []evidence.Frame) {
	ends := 0
	for i := range frames {
		f := &frames[i]
		if n := f.Data.Sequence; n == nil || *n != int64(i) {
			j.say(NoGap, tag, "frame %d of the response has sequence_number %v", i, number(n))
			return
		}
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

// responseSegment judges what was read live of a response. After a power cut the
// numbers of lost frames are given again, so only what it ends with is looked at.
func (j *judge) responseSegment(s *evidence.Record, seen, replay []evidence.Frame) {
	if len(seen) == 0 || j.lossy {
		return
	}
	next := int64(0)
	if n, err := strconv.ParseInt(s.After, 10, 64); err == nil {
		next = n + 1
	}
	for i := range seen {
		f := &seen[i]
		n := f.Data.Sequence
		if n == nil || *n != next+int64(i) {
			j.say(NoGap, s.Stream, "frame %d behind %q has sequence_number %s", i, s.After, number(n))
			return
		}
		if *n >= int64(len(replay)) {
			j.say(SameStream, s.Stream, "frame %d (%s) was shown and is not in the replay", *n, f.Kind)
			return
		}
		if r := &replay[*n]; !bytes.Equal(r.Raw, f.Raw) {
			j.say(SameStream, s.Stream, "frame %d was shown as %s and is replayed as %s", *n, f.Raw, r.Raw)
			return
		}
	}
}
