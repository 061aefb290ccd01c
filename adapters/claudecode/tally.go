package claudecode

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// tally counts what the messages of a turn used, while they come. Each message is
// told several times: at its start, at its end, and with each of its blocks.
type tally struct {
	messages map[string]event.Usage // by id
	current  map[string]string      // the newest message of each agent, by its parent
	sum      *event.Usage           // nil before the first
	news     bool
}

// begin takes a message's start, or a line that has it whole.
func (t *tally) begin(parent, id string, u *event.Usage) {
	if u == nil || id == "" {
		return
	}
	if t.current == nil {
		t.current = map[string]string{}
	}
	t.current[parent] = id
	t.count(id, u)
}

// more takes what the newest message of an agent has used by its end.
func (t *tally) more(parent string, u *event.Usage) {
	if id := t.current[parent]; u != nil && id != "" {
		t.count(id, u)
	}
}

// count notes the most that was told of a message.
func (t *tally) count(id string, u *event.Usage) {
	was := t.messages[id]
	now := event.Usage{
		Input: max(was.Input, u.Input), Cached: max(was.Cached, u.Cached), CacheWrite: max(was.CacheWrite, u.CacheWrite),
		Output: max(was.Output, u.Output), Reasoning: max(was.Reasoning, u.Reasoning),
	}
	if now == was {
		return
	}
	if t.messages == nil {
		t.messages = map[string]event.Usage{}
	}
	t.messages[id] = now
	sum := event.Usage{}
	if t.sum != nil {
		sum = *t.sum
	}
	sum.Add(&event.Usage{
		Input: now.Input - was.Input, Cached: now.Cached - was.Cached, CacheWrite: now.CacheWrite - was.CacheWrite,
		Output: now.Output - was.Output, Reasoning: now.Reasoning - was.Reasoning,
	})
	t.sum, t.news = &sum, true
}

// tell gives the sum when it has grown.
func (t *tally) tell(out *agent.Batch) {
	if t.news {
		t.news = false
		out.Add(agent.Fact{Kind: agent.FactUsage, Usage: t.sum})
	}
}
