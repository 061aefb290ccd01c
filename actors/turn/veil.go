package turn

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// Veil takes secrets out of what a turn tells. The lines of its CLI have been through
// one already; a Veil sees what they say joined, so it finds what comes in pieces.
type Veil interface {
	// String redacts a whole text, Known one that a program will read: it takes out
	// known secrets and nothing that only looks like one.
	String(text string) string
	Known(text string) string
	// Stream redacts a text that comes in pieces.
	Stream() Stream
}

// Stream is one such text. Write gives what can be told after a piece, Flush what was
// held back, at the end of the text.
type Stream interface {
	Write(piece string) string
	Flush() string
}

// pass is what can be told of a piece of the item's text.
func (n *normaliser) pass(it *item, piece string) string {
	if n.turn.veil == nil {
		return piece
	}
	if it.stream == nil {
		it.stream = n.turn.veil.Stream()
	}
	return it.stream.Write(piece)
}

// flush is what was held back of an item's text that goes on no further.
func (it *item) flush() string {
	st := it.stream
	it.stream = nil
	if st == nil {
		return ""
	}
	return st.Flush()
}

// unheld tells what was held back of an open item.
func (n *normaliser) unheld(it *item) {
	text := it.flush()
	switch {
	case text == "":
	case it.textual():
		n.delta(it, text)
	default:
		n.outputs(it, text)
	}
}

// veiled is a fact without secrets; the pieces of a text are passed one by one.
func (n *normaliser) veiled(f *agent.Fact) *agent.Fact {
	v := n.turn.veil
	if v == nil {
		return f
	}
	switch f.Kind {
	case agent.FactStart, agent.FactDone:
		if f.Item == nil {
			return f
		}
		own := *f
		own.Item = veiledItem(f.Item, v.String)
		return &own
	case agent.FactNotice, agent.FactUnknown:
		own := *f
		own.Text = v.String(f.Text)
		return &own
	case agent.FactSession, agent.FactText, agent.FactReasoning, agent.FactOutput, agent.FactVerdict, agent.FactUsage:
	}
	return f
}

// veiledItem is an item whose texts were redacted.
func veiledItem(it *event.Item, redact func(string) string) *event.Item {
	own := *it
	for _, s := range [...]*string{
		&own.Text, &own.Command, &own.Cwd, &own.Output, &own.Server, &own.Tool, &own.Arguments, &own.Error, &own.Query, &own.URL, &own.Prompt,
	} {
		if *s != "" {
			*s = redact(*s)
		}
	}
	if len(own.Changes) > 0 {
		own.Changes = append([]event.Change(nil), own.Changes...)
		for i := range own.Changes {
			own.Changes[i].Path = redact(own.Changes[i].Path)
		}
	}
	return &own
}

// veiledVerdict is a verdict whose words were redacted.
func (t *Turn) veiledVerdict(v *agent.Verdict) *agent.Verdict {
	if t.veil == nil || v == nil {
		return v
	}
	own := *v
	own.Text = t.veil.String(v.Text)
	if v.Failure != nil {
		f := *v.Failure
		f.Message = t.veil.String(f.Message)
		own.Failure = &f
	}
	return &own
}
