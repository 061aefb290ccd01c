package adaptertest

import (
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// Reading is what a run's facts come to, by the rules of the engine: facts after a
// final verdict do not count, items that are open at the end are incomplete.
type Reading struct {
	Native  string
	Items   []*event.Item // in the order in which they opened
	Verdict *agent.Verdict
	Notices []string
	Unknown []string
	// Theirs are what subagents did, by the keys of their calls.
	Theirs map[string]*Reading

	open map[string]*event.Item
	said map[string]string
	done map[string]bool
	over bool
}

// Texts are the texts of the messages.
func (r *Reading) Texts() []string {
	var list []string
	for _, it := range r.Items {
		if it.Type == event.Message {
			list = append(list, it.Text)
		}
	}
	return list
}

// Find gives the items of a type.
func (r *Reading) Find(typ event.ItemType) []*event.Item {
	var list []*event.Item
	for _, it := range r.Items {
		if it.Type == typ {
			list = append(list, it)
		}
	}
	return list
}

// Completed reports success: the verdict's, or that of the exit if there is none and
// the exit counts.
func (r *Reading) Completed(exit agent.Exit, exitIsVerdict bool) bool {
	if r.Verdict != nil {
		return r.Verdict.Outcome == event.Completed
	}
	return exitIsVerdict && exit.Code == 0 && exit.Signal == ""
}

// Read plays a transcript into a parser.
func Read(p agent.Parser, t *Transcript) *Reading {
	r := newReading()
	var out agent.Batch
	for _, line := range t.Lines {
		p.Feed(append([]byte(nil), line...), &out)
	}
	p.Close(t.Exit, &out)
	for _, f := range out.Facts {
		r.take(f)
	}
	r.cut()
	for _, sub := range r.Theirs {
		sub.cut()
	}
	if r.Verdict != nil && r.Verdict.Text != "" && len(r.Texts()) == 0 {
		r.Items = append(r.Items, &event.Item{Type: event.Message, Status: event.Done, Text: r.Verdict.Text})
	}
	return r
}

func newReading() *Reading {
	return &Reading{open: map[string]*event.Item{}, said: map[string]string{}, done: map[string]bool{}, Theirs: map[string]*Reading{}}
}

// cut ends what is open.
func (r *Reading) cut() {
	for key, it := range r.open {
		it.Status = event.Incomplete
		if it.Type == event.Message || it.Type == event.Reasoning {
			it.Text = r.said[key]
		}
	}
}

func (r *Reading) take(f agent.Fact) {
	if r.over {
		return
	}
	if call := f.Parent; call != "" {
		if r.Theirs[call] == nil {
			r.Theirs[call] = newReading()
		}
		f.Parent = ""
		r.Theirs[call].take(f)
		return
	}
	switch f.Kind {
	case agent.FactSession:
		r.Native = f.Text
	case agent.FactStart:
		r.start(f.Key, *f.Item)
	case agent.FactText:
		r.start(f.Key, event.Item{Type: event.Message})
		r.said[f.Key] += f.Text
	case agent.FactReasoning:
		r.start(f.Key, event.Item{Type: event.Reasoning})
		r.said[f.Key] += f.Text
	case agent.FactOutput:
		if it := r.open[f.Key]; it != nil {
			it.Output += f.Text
		}
	case agent.FactDone:
		r.finish(f)
	case agent.FactNotice:
		r.Notices = append(r.Notices, f.Text)
	case agent.FactUnknown:
		r.Unknown = append(r.Unknown, f.Text)
	case agent.FactVerdict:
		r.Verdict, r.over = f.Verdict, f.Verdict.Final
	}
}

func (r *Reading) start(key string, it event.Item) {
	if r.open[key] != nil || r.done[key] {
		return
	}
	it.Status = event.InProgress
	r.open[key] = &it
	r.Items = append(r.Items, &it)
}

func (r *Reading) finish(f agent.Fact) {
	if r.done[f.Key] {
		return
	}
	r.start(f.Key, *f.Item)
	it := r.open[f.Key]
	delete(r.open, f.Key)
	r.done[f.Key] = true
	*it = *f.Item
	if it.Status == 0 {
		it.Status = event.Done
	}
	if said := r.said[f.Key]; !strings.HasPrefix(it.Text, said) {
		it.Text = said
	}
}
