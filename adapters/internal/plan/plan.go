package plan

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// Step is one entry of the list.
type Step struct {
	Text string
	Done bool
}

// Plan is the list of one turn. The zero value is empty.
type Plan struct {
	key   string
	count int
	shown map[string]bool // lines of the newest state
	text  strings.Builder
}

// Update tells the newest state of the list.
func (p *Plan) Update(steps []Step, out *agent.Batch) {
	now := make(map[string]bool, len(steps))
	var fresh []string
	for _, s := range steps {
		mark := "[ ] "
		if s.Done {
			mark = "[x] "
		}
		line := mark + s.Text
		if !p.shown[line] && !now[line] {
			fresh = append(fresh, line)
		}
		now[line] = true
	}
	p.shown = now
	if len(fresh) == 0 {
		return
	}
	piece := strings.Join(fresh, "\n")
	if p.key == "" {
		p.count++
		p.key = "plan"
		if p.count > 1 {
			p.key = fmt.Sprintf("plan/%d", p.count)
		}
	} else {
		piece = "\n" + piece
	}
	p.text.WriteString(piece)
	out.Add(agent.Fact{Kind: agent.FactReasoning, Key: p.key, Text: piece})
}

// Close ends the item; a later Update opens another.
func (p *Plan) Close(out *agent.Batch) {
	if p.key == "" {
		return
	}
	out.Add(agent.Fact{Kind: agent.FactDone, Key: p.key, Item: &event.Item{Type: event.Reasoning, Text: p.text.String()}})
	p.key, p.shown = "", nil
	p.text.Reset()
}
