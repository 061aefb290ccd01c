package judge

import (
	"fmt"
	"sort"
	"strings"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
)

// Case is a cycle to be judged.
type Case struct {
	Cycle   schedule.Cycle
	Records []evidence.Record
	Runs    []evidence.Run
	// Read gives the bytes of a record's file.
	Read func(file string) ([]byte, error)
}

// Broken is a promise that was not kept.
type Broken struct {
	Promise string
	Where   string // session, input or stream
	Detail  string
}

func (b Broken) String() string { return b.Promise + ": " + b.Where + ": " + b.Detail }

// Promises.
const (
	NeverLost   = "no accepted input is lost"
	NeverTwice  = "no input runs twice"
	NeverBoth   = "an input has one outcome"
	InOrder     = "the inputs of a session run in order"
	OneEnd      = "a turn has one terminal event"
	SameStream  = "a stream is equal to its replay"
	NoGap       = "a stream has no gap"
	TellsTruth  = "a turn says what its CLI said"
	ComesToRest = "everything comes to rest"
	Answers     = "answers are as documented"
	Undisturbed = "without a fault everything goes well"
)

// Figures count what was judged.
type Figures struct {
	Turns, Completed, Failed, Cancelled int
	Refused, Streams, Frames            int
}

// Judge judges a cycle.
func (c *Case) Judge() ([]Broken, Figures) {
	j := &judge{Case: c, runs: map[string][]evidence.Run{}}
	for _, f := range c.Cycle.Faults {
		j.lossy = j.lossy || f.Kind == schedule.PowerCut
	}
	for _, r := range c.Runs {
		j.runs[r.Tag] = append(j.runs[r.Tag], r)
	}
	for i := range c.Cycle.Sessions {
		j.session(&c.Cycle.Sessions[i])
	}
	return j.broken, j.figures
}

type judge struct {
	*Case
	runs    map[string][]evidence.Run
	lossy   bool
	broken  []Broken
	figures Figures
}

func (j *judge) say(promise, where, format string, args ...any) {
	j.broken = append(j.broken, Broken{promise, where, fmt.Sprintf(format, args...)})
}

// told is what the observer wrote about one session.
type told struct {
	plan     *schedule.Session
	fate     map[string]string // by tag: Accepted, Refused, Unknown
	order    []string          // tags in the order of their acceptance
	deleted  int64             // when, 0 for never
	segments []evidence.Record
	replays  map[string]evidence.Record
}

func (j *judge) session(plan *schedule.Session) {
	t := &told{plan: plan, fate: map[string]string{}, replays: map[string]evidence.Record{}}
	for _, r := range j.Records {
		if r.Session != plan.Name {
			continue
		}
		switch r.What {
		case evidence.Accepted:
			t.order = append(t.order, r.Tag)
			t.fate[r.Tag] = r.What
		case evidence.Refused, evidence.Unknown:
			t.fate[r.Tag] = r.What
		case evidence.Deleted:
			t.deleted = r.At
		case evidence.Segment:
			t.segments = append(t.segments, r)
		case evidence.Replay:
			t.replays[r.Stream] = r
		case evidence.Odd:
			j.say(Answers, plan.Name+" "+r.Tag+r.Stream, "%s", r.Text)
		case evidence.Behind:
			j.say(NoGap, r.Stream, "%s", r.Text)
		case evidence.Stuck:
			j.say(ComesToRest, plan.Name+" "+r.Tag, "%s", r.Text)
		}
	}
	j.ran(t)
	if t.deleted != 0 {
		j.afterDelete(t)
		return
	}
	replay, ok := t.replays[plan.Name]
	if !ok {
		if len(t.order) > 0 {
			j.say(NeverLost, plan.Name, "%d inputs were accepted and the session cannot be read", len(t.order))
		}
		return
	}
	frames := j.frames(replay)
	turns := j.agents(plan.Name, frames)
	j.outcomes(t, turns)
	j.segments(t, frames)
}

// ran judges what the CLIs say, whatever the server says.
func (j *judge) ran(t *told) {
	for i := range t.plan.Inputs {
		tag := t.plan.Inputs[i].Tag
		runs := j.runs[tag]
		if len(runs) > 1 {
			j.say(NeverTwice, tag, "its CLI was started %d times: %+v", len(runs), runs)
		}
		switch fate := t.fate[tag]; {
		case fate == evidence.Refused:
			j.figures.Refused++
			if len(runs) > 0 {
				j.say(NeverBoth, tag, "it was refused, and its CLI ran: %+v", runs)
			}
			if len(j.Cycle.Faults) == 0 {
				j.say(Undisturbed, tag, "it was refused")
			}
		case fate == evidence.Unknown:
			j.say(ComesToRest, tag, "nobody said within the patience whether it was accepted")
		}
	}
	j.order(t)
}

// order judges the starts of a session's CLIs.
func (j *judge) order(t *told) {
	var before *evidence.Run
	for _, tag := range t.order {
		runs := j.runs[tag]
		if len(runs) == 0 {
			continue
		}
		now := &runs[0]
		if before != nil {
			if now.Start < before.Start {
				j.say(InOrder, tag, "its CLI started before that of %s, which was accepted earlier", before.Tag)
			}
			if now.Start < before.End {
				j.say(InOrder, tag, "its CLI started %d us before that of %s had ended", (before.End-now.Start)/1000, before.Tag)
			}
		}
		before = now
	}
}

// afterDelete judges a session that is gone: its readers' streams are all that is
// left of it.
func (j *judge) afterDelete(t *told) {
	for _, in := range t.plan.Inputs {
		for _, r := range j.runs[in.Tag] {
			if r.Start > t.deleted {
				j.say(NeverBoth, in.Tag, "its CLI was started after its session was deleted")
			}
		}
	}
	byReader := map[string][]evidence.Frame{}
	for _, s := range t.segments {
		byReader[s.Stream] = append(byReader[s.Stream], j.frames(s)...)
	}
	for name, frames := range byReader {
		frames = unique(frames)
		if !j.lossy {
			j.agents(name, frames)
		}
	}
}

// unique leaves out frames that were read twice, because a reader left in the middle
// of what it had got.
func unique(frames []evidence.Frame) []evidence.Frame {
	seen := map[string]bool{}
	var out []evidence.Frame
	for _, f := range frames {
		if !seen[f.Data.EventID] {
			seen[f.Data.EventID] = true
			out = append(out, f)
		}
	}
	return out
}

func (j *judge) frames(r evidence.Record) []evidence.Frame {
	b, err := j.Read(r.File)
	if err != nil {
		j.say(Answers, r.Stream, "the evidence cannot be read: %v", err)
		return nil
	}
	frames, err := evidence.Frames(b)
	if err != nil {
		j.say(SameStream, r.Stream, "%v", err)
	}
	j.figures.Streams++
	j.figures.Frames += len(frames)
	return frames
}

// outcomes judges the turns of a session against what was accepted.
func (j *judge) outcomes(t *told, turns []*turn) {
	byTag := map[string][]*turn{}
	var order []string
	for _, one := range turns {
		byTag[one.tag] = append(byTag[one.tag], one)
		order = append(order, one.tag)
	}
	for i := range t.plan.Inputs {
		in := &t.plan.Inputs[i]
		mine := byTag[in.Tag]
		delete(byTag, in.Tag)
		switch {
		case t.fate[in.Tag] != evidence.Accepted:
			if len(mine) > 0 && t.fate[in.Tag] == evidence.Refused {
				j.say(NeverBoth, in.Tag, "it was refused, and is a turn: %s", mine[0].id)
			}
		case len(mine) == 0:
			j.say(NeverLost, in.Tag, "it was accepted, and the session has no turn of it")
		case len(mine) > 1:
			j.say(NeverTwice, in.Tag, "it was accepted once, and the session has %d turns of it", len(mine))
		default:
			j.outcome(t, in, mine[0])
		}
	}
	for tag := range byTag {
		j.say(Answers, t.plan.Name, "it has a turn %q that nobody asked for", tag)
	}
	accepted := strings.Join(t.order, " ")
	if got := strings.Join(order, " "); got != accepted && sameSet(order, t.order) {
		j.say(InOrder, t.plan.Name, "accepted were %s, the turns are %s", accepted, got)
	}
}

func sameSet(a, b []string) bool {
	a, b = append([]string{}, a...), append([]string{}, b...)
	sort.Strings(a)
	sort.Strings(b)
	return strings.Join(a, " ") == strings.Join(b, " ")
}

// cancels reports whether somebody may have cancelled an input: on the Agents wire a
// session is told to cancel, and it is whatever runs then.
func (t *told) cancels(in *schedule.Input) bool {
	if t.plan.Wire == schedule.Responses {
		return in.Cancel > 0
	}
	for i := range t.plan.Inputs {
		if t.plan.Inputs[i].Cancel > 0 {
			return true
		}
	}
	return false
}

// outcome judges one accepted input.
func (j *judge) outcome(of *told, in *schedule.Input, t *turn) {
	runs := len(j.runs[in.Tag])
	j.figures.Turns++
	switch t.ended {
	case "":
		j.say(NeverLost, in.Tag, "its turn %s has no end", t.id)
	case "completed":
		j.figures.Completed++
		if runs == 0 {
			j.say(NeverBoth, in.Tag, "it is reported completed, and no CLI ran")
		}
		if want := in.Answer(); want != "" && t.answer() != want {
			j.say(TellsTruth, in.Tag, "it is reported completed with %q, and its CLI says %q", t.answer(), want)
		}
		if in.Kind.Fails() {
			j.say(NeverBoth, in.Tag, "its CLI dies, and it is reported completed")
		}
	case "failed":
		j.figures.Failed++
		if len(j.Cycle.Faults) == 0 && !in.Kind.Fails() {
			j.say(Undisturbed, in.Tag, "it failed: %s %s", t.code, t.message)
		}
	case "cancelled":
		j.figures.Cancelled++
		if !of.cancels(in) {
			j.say(NeverBoth, in.Tag, "it is reported cancelled, and nobody cancelled it")
		}
	}
}
