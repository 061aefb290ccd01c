package fold

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// posted is what was put into the session beside its turns, as far as an agent is
// still to be told of it: lines for the preface of the next turn, and standing
// instructions for every later one. Both are bounded like a preface.
type posted struct {
	Lines []line `json:"lines,omitempty"`
	// Cut says that older lines than these were dropped.
	Cut      bool   `json:"cut,omitempty"`
	Standing []line `json:"standing,omitempty"`
}

// line is what an agent is told of one posted item.
type line struct {
	Item event.ID `json:"item"`
	// Ordinal is its note's: a turn is told what was posted before it was accepted.
	Ordinal int64  `json:"ordinal"`
	Text    string `json:"text"`
}

func (p *posted) empty() bool { return len(p.Lines) == 0 && len(p.Standing) == 0 && !p.Cut }

// Told is what the agent is to hear at the start of a queued turn beside the
// turn's own input: lines of what was posted before it, whether older ones were
// left out, and instructions.
type Told struct {
	Before       []string
	Cut          bool
	Instructions []string
}

// Told says it for t. What it says is used up when t starts.
func (s *State) Told(t *Turn) Told {
	told := Told{Cut: s.posted.Cut}
	for _, l := range s.posted.Lines {
		if l.Ordinal < t.Ordinal {
			told.Before = append(told.Before, l.Text)
		}
	}
	for _, l := range s.posted.Standing {
		if l.Ordinal < t.Ordinal {
			told.Instructions = append(told.Instructions, l.Text)
		}
	}
	return told
}

// noted takes items in that were posted without asking for a turn. The view's turn
// is the note, complete.
func (s *State) noted(ev *event.Event) (*View, error) {
	in, ok := ev.Body.(*event.Input)
	if !ok {
		return nil, fmt.Errorf("fold: event %d posts no items", ev.Seq)
	}
	if ev.Turn.IsZero() || s.find(ev.Turn) != nil {
		return nil, fmt.Errorf("fold: event %d posts as %s, which is none or an open turn", ev.Seq, ev.Turn)
	}
	s.session.Turns++
	s.session.LastActive = ev.At
	for _, it := range in.Items {
		if strings.TrimSpace(it.Text) == "" {
			continue
		}
		l := line{Item: it.ID, Ordinal: s.session.Turns, Text: it.Text}
		if it.Instructs {
			s.posted.Standing = append(s.posted.Standing, l)
		} else {
			s.posted.Lines = append(s.posted.Lines, l)
		}
	}
	s.posted.bound()
	return &View{Session: s.session, Turn: &Turn{
		ID: ev.Turn, Session: s.session.ID, Ordinal: s.session.Turns, Status: Completed, Note: true,
		Created: ev.At, Started: ev.At, Ended: ev.At, Input: in, End: &event.End{Outcome: event.Completed},
		Settings: s.session.Settings, First: ev.Seq, Last: ev.Seq, Previous: s.session.Latest,
	}}, nil
}

// removed makes sure that no agent is told of an item any more.
func (s *State) removed(ev *event.Event) {
	s.session.LastActive = ev.At
	s.posted.Lines, s.posted.Standing = without(s.posted.Lines, ev.Item), without(s.posted.Standing, ev.Item)
	for _, o := range s.open {
		o.told = without(o.told, ev.Item)
	}
}

func without(l []line, item event.ID) []line {
	var kept []line
	for _, x := range l {
		if x.Item != item {
			kept = append(kept, x)
		}
	}
	return kept
}

// hand takes out the lines for a turn that starts.
func (p *posted) hand(ordinal int64) []line {
	n := 0
	for n < len(p.Lines) && p.Lines[n].Ordinal < ordinal {
		n++
	}
	told := p.Lines[:n:n]
	if p.Lines, p.Cut = p.Lines[n:], false; len(p.Lines) == 0 {
		p.Lines = nil // as a checkpoint reads it
	}
	return told
}

// back returns lines that nobody heard; they are older than all that are there.
func (p *posted) back(told []line) {
	if len(told) > 0 {
		p.Lines = append(told, p.Lines...) // told has no room of its own: nothing is written over
		p.bound()
	}
}

// bound keeps the newest of both lists, as a preface would.
func (p *posted) bound() {
	newest := func(l []line) ([]line, bool) {
		texts := make([]string, len(l))
		for i := range l {
			texts[i] = l[i].Text
		}
		kept, cut := spec.Newest(texts)
		if len(kept) == 0 {
			return nil, cut
		}
		return l[len(l)-len(kept):], cut
	}
	var cut bool
	p.Lines, cut = newest(p.Lines)
	p.Cut = p.Cut || cut
	p.Standing, _ = newest(p.Standing)
}
