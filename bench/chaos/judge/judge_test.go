package judge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
)

// story is a cycle of one session with two inputs in which everything went well; each
// test spoils something.
type story struct {
	Case
	files map[string]string
}

func agentsFrame(id int, kind, rest string) string {
	kind = "agent.session." + kind
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"event_id\":\"evt_%016d\"%s}\n\n", kind, kind, id, rest)
}

func turnFrames(from int, turn, tag, end string) []string {
	in := fmt.Sprintf(`,"turn_id":%q`, turn)
	return []string{
		agentsFrame(from, "turn.created", in),
		agentsFrame(from+1, "turn.item.added", in+fmt.Sprintf(`,"item":{"id":"u%s","type":"message","role":"user","content":[{"text":"tag:%s [[say: x]]"}]}`, tag, tag)),
		agentsFrame(from+2, "turn.in_progress", in),
		agentsFrame(from+3, "turn.item.added", in+fmt.Sprintf(`,"item":{"id":"i%s","type":"message","role":"assistant"}`, tag)),
		agentsFrame(from+4, "turn.output_text.delta", in+fmt.Sprintf(`,"item_id":"i%s","delta":"done-"`, tag)),
		agentsFrame(from+5, "turn.output_text.delta", in+fmt.Sprintf(`,"item_id":"i%s","delta":%q`, tag, tag)),
		agentsFrame(from+6, "turn.output_text.done", in+fmt.Sprintf(`,"item_id":"i%s","text":"done-%s"`, tag, tag)),
		agentsFrame(from+7, "turn.item.done", in+fmt.Sprintf(`,"item":{"id":"i%s","type":"message","role":"assistant","content":[{"text":"done-%s"}]}`, tag, tag)),
		agentsFrame(from+8, "turn."+end, in+`,"turn":{"status":"`+end+`"}`),
	}
}

func newStory() *story {
	s := &story{files: map[string]string{}}
	s.Cycle = schedule.Cycle{Number: 1, Sessions: []schedule.Session{{
		Name: "s", Wire: schedule.Agents, Adapter: schedule.Exec, Inputs: []schedule.Input{{Tag: "a", Kind: schedule.Say}, {Tag: "b", Kind: schedule.Say}},
	}}}
	whole := append(append(turnFrames(1, "t1", "a", "completed"), turnFrames(10, "t2", "b", "completed")...), agentsFrame(19, "idle", ""))
	s.files["whole"] = strings.Join(whole, "")
	s.files["first"] = strings.Join(whole[:6], "") + ": ping\n"
	s.files["rest"] = strings.Join(whole[6:], "")
	s.Records = []evidence.Record{
		{What: evidence.Accepted, Session: "s", Tag: "a", At: 1}, {What: evidence.Accepted, Session: "s", Tag: "b", At: 2},
		{What: evidence.Segment, Session: "s", Stream: "r", After: "0", File: "first"},
		{What: evidence.Segment, Session: "s", Stream: "r", After: "evt_0000000000000006", File: "rest"},
		{What: evidence.Replay, Session: "s", Stream: "s", File: "whole", Whole: true},
	}
	s.Runs = []evidence.Run{{Tag: "a", Pid: 1, Start: 10, End: 20}, {Tag: "b", Pid: 2, Start: 30, End: 40}}
	s.Read = func(f string) ([]byte, error) { return []byte(s.files[f]), nil }
	return s
}

// without takes a frame out of a file.
func (s *story) without(file string, id int) {
	at := strings.Index(s.files[file], fmt.Sprintf("evt_%016d", id))
	from := strings.LastIndex(s.files[file][:at], "event: ")
	to := at + strings.Index(s.files[file][at:], "\n\n") + 2
	s.files[file] = s.files[file][:from] + s.files[file][to:]
}

func (s *story) swap(file, from, to string) {
	s.files[file] = strings.ReplaceAll(s.files[file], from, to)
}

func TestNothingIsBrokenWhenAllGoesWell(t *testing.T) {
	t.Parallel()
	broken, figures := newStory().Judge()
	if len(broken) > 0 || figures.Turns != 2 || figures.Completed != 2 || figures.Streams != 3 {
		t.Errorf("%v %+v", broken, figures)
	}
}

// Each way to break a promise is found, under the promise's name.
func TestEachBrokenPromiseIsFound(t *testing.T) {
	t.Parallel()
	cut := []schedule.Fault{{Kind: schedule.PowerCut}}
	for name, c := range map[string]struct {
		promise string
		spoil   func(*story)
	}{
		"never ran": {NeverBoth, func(s *story) { s.Runs = s.Runs[:1] }},
		"ran twice": {NeverTwice, func(s *story) { s.Runs = append(s.Runs, evidence.Run{Tag: "a", Pid: 3, Start: 50}) }},
		"refused and ran": {NeverBoth, func(s *story) {
			s.Records[1].What = evidence.Refused
			s.files["whole"] = ""
			s.Records[2].File, s.Records[3].File = "", ""
		}},
		"lost":             {NeverLost, func(s *story) { s.swap("whole", "tag:b", "tag:a") }},
		"two turns of one": {NeverTwice, func(s *story) { s.swap("whole", "tag:b", "tag:a") }},
		"unreadable":       {NeverLost, func(s *story) { s.Records = s.Records[:4] }},
		"no end": {NeverLost, func(s *story) {
			s.without("whole", 18)
			s.without("rest", 18)
			s.without("whole", 19)
			s.without("rest", 19)
		}},
		"idle with a turn": {OneEnd, func(s *story) { s.without("whole", 18); s.without("rest", 18) }},
		"two ends":         {OneEnd, func(s *story) { s.files["whole"] += agentsFrame(20, "turn.failed", `,"turn_id":"t2"`) }},
		"behind the end":   {OneEnd, func(s *story) { s.files["whole"] += agentsFrame(20, "turn.output_text.delta", `,"turn_id":"t1"`) }},
		"failed unprovoked": {Undisturbed, func(s *story) {
			s.swap("whole", "turn.completed", "turn.failed")
			s.swap("rest", "turn.completed", "turn.failed")
		}},
		"refused unprovoked": {Undisturbed, func(s *story) {
			s.Cycle.Sessions[0].Inputs = append(s.Cycle.Sessions[0].Inputs, schedule.Input{Tag: "c", Kind: schedule.Say})
			s.Records = append(s.Records, evidence.Record{What: evidence.Refused, Session: "s", Tag: "c"})
		}},
		"cancelled by nobody": {NeverBoth, func(s *story) {
			s.swap("whole", "turn.completed", "turn.cancelled")
			s.swap("rest", "turn.completed", "turn.cancelled")
		}},
		"another answer":       {TellsTruth, func(s *story) { s.swap("whole", `"text":"done-a"`, `"text":"done-x"`) }},
		"turns out of order":   {InOrder, func(s *story) { s.Records[0], s.Records[1] = s.Records[1], s.Records[0] }},
		"starts out of order":  {InOrder, func(s *story) { s.Runs[0].Start = 35 }},
		"runs overlap":         {InOrder, func(s *story) { s.Runs[0].End = 35 }},
		"a hole in the middle": {NoGap, func(s *story) { s.without("rest", 12) }},
		"a lost delta":         {NoGap, func(s *story) { s.without("first", 5); s.without("whole", 5) }},
		"not in the replay":    {SameStream, func(s *story) { s.without("whole", 19) }},
		"another frame":        {SameStream, func(s *story) { s.swap("rest", `"text":"done-b"`, `"text":"done-x"`) }},
		"shown twice":          {SameStream, func(s *story) { s.files["first"] += s.files["first"] }},
		"behind": {NoGap, func(s *story) {
			s.Records = append(s.Records, evidence.Record{What: evidence.Behind, Session: "s", Stream: "r"})
		}},
		"stuck":      {ComesToRest, func(s *story) { s.Records = append(s.Records, evidence.Record{What: evidence.Stuck, Session: "s"}) }},
		"never told": {ComesToRest, func(s *story) { s.Records[1].What = evidence.Unknown }},
		"odd": {Answers, func(s *story) {
			s.Records = append(s.Records, evidence.Record{What: evidence.Odd, Session: "s", Text: "418"})
		}},
		"torn frame": {SameStream, func(s *story) { s.swap("rest", "event: agent.session.idle", "evnt: agent.session.idle") }},
		"started when deleted": {NeverBoth, func(s *story) {
			s.Records = append(s.Records, evidence.Record{What: evidence.Deleted, Session: "s", At: 25})
		}},
		"a power cut takes a durable one": {SameStream, func(s *story) { s.Cycle.Faults = cut; s.without("whole", 19) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory()
			c.spoil(s)
			broken, _ := s.Judge()
			for _, b := range broken {
				if b.Promise == c.promise {
					return
				}
			}
			t.Errorf("not found; %v", broken)
		})
	}
}

// What may happen is not taken for a broken promise.
func TestWhatIsAllowedIsNotBroken(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*story){
		"a fault fails a turn": func(s *story) {
			s.Cycle.Faults = []schedule.Fault{{Kind: schedule.KillCLI}}
			s.swap("whole", "turn.completed", "turn.failed")
			s.swap("rest", "turn.completed", "turn.failed")
		},
		"cancelled as asked, and never started": func(s *story) {
			s.Cycle.Sessions[0].Inputs[1].Cancel = time.Second
			s.Runs = s.Runs[:1]
			for _, f := range []string{"whole", "rest"} {
				at := strings.LastIndex(s.files[f], "turn.completed")
				s.files[f] = s.files[f][:at] + strings.ReplaceAll(s.files[f][at:], "completed", "cancelled")
				s.files[f] = strings.Replace(s.files[f], "event: agent.session.turn.completed\ndata: {\"type\":\"agent.session.turn.cancelled", "event: agent.session.turn.cancelled\ndata: {\"type\":\"agent.session.turn.cancelled", 1)
			}
		},
		"a power cut takes back a delta": func(s *story) {
			s.Cycle.Faults = []schedule.Fault{{Kind: schedule.PowerCut}}
			s.without("whole", 5)
		},
		"refused, and no turn": func(s *story) {
			s.Cycle.Faults = []schedule.Fault{{Kind: schedule.SpawnFailure}}
			s.Cycle.Sessions[0].Inputs = append(s.Cycle.Sessions[0].Inputs, schedule.Input{Tag: "c", Kind: schedule.Say})
			s.Records = append(s.Records, evidence.Record{What: evidence.Refused, Session: "s", Tag: "c"})
		},
		"deleted while one waits": func(s *story) {
			s.Records = append(s.Records, evidence.Record{What: evidence.Deleted, Session: "s", At: 50})
			s.Runs = s.Runs[:1]
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory()
			spoil(s)
			if broken, _ := s.Judge(); len(broken) > 0 {
				t.Errorf("%v", broken)
			}
		})
	}
}

func responseFrame(n int, kind string) string {
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d}\n\n", kind, kind, n)
}

func TestResponseStreams(t *testing.T) {
	t.Parallel()
	all := []string{
		responseFrame(0, "response.created"), responseFrame(1, "response.in_progress"), responseFrame(2, "response.output_text.delta"),
		responseFrame(3, "response.output_text.delta"), responseFrame(4, "response.completed"),
	}
	join := func(list ...string) string { return strings.Join(list, "") }
	for name, c := range map[string]struct {
		live, after, replay string
		cut                 bool
		promise             string
	}{
		"whole":                  {live: join(all...), replay: join(all...)},
		"read on":                {live: join(all[2:]...), after: "1", replay: join(all...)},
		"the end again":          {live: all[4], after: "4", replay: join(all...)},
		"a gap":                  {live: join(all[0], all[2], all[4]), replay: join(all...), promise: NoGap},
		"a gap behind a cursor":  {live: join(all[3:]...), after: "1", replay: join(all...), promise: NoGap},
		"a gap in the replay":    {live: all[0], replay: join(all[0], all[1], all[4]), promise: NoGap},
		"no end":                 {live: all[0], replay: join(all[:4]...), promise: OneEnd},
		"two ends":               {live: all[0], replay: join(all...) + responseFrame(5, "response.failed"), promise: OneEnd},
		"a delta that is gone":   {live: join(all[:4]...), replay: join(all[0], all[1], responseFrame(2, "response.completed")), promise: SameStream},
		"a power cut":            {live: join(all[:4]...), replay: join(all[0], all[1], responseFrame(9, "response.failed")), cut: true},
		"a power cut, used anew": {live: join(all[:4]...), replay: join(all[0], all[1], responseFrame(2, "response.failed")), cut: true, promise: SameStream},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory()
			s.files["live"], s.files["replay"] = c.live, c.replay
			s.Records = append(s.Records,
				evidence.Record{What: evidence.Segment, Session: "s", Stream: "a", Tag: "a", After: c.after, File: "live"},
				evidence.Record{What: evidence.Replay, Session: "s", Stream: "a", File: "replay"})
			if c.cut {
				s.Cycle.Faults = []schedule.Fault{{Kind: schedule.PowerCut}}
			}
			broken, _ := s.Judge()
			if c.promise == "" && len(broken) == 0 {
				return
			}
			for _, b := range broken {
				if b.Promise == c.promise {
					return
				}
			}
			t.Errorf("want %q, got %v", c.promise, broken)
		})
	}
}
