package codex

import (
	"crypto/sha256"
	"encoding/json"
	"maps"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// keptThreads bounds the idle threads that stay loaded; each is a few megabytes.
const keptThreads = runnerThreads

// print tells settings apart, without keeping the secrets in them.
type print [sha256.Size]byte

// kept is a thread that stayed loaded after a turn. Loading one costs as much as half a
// turn.
type kept struct {
	last  event.ID // the turn it knows last
	print print
	age   int64
}

// fingerprint is of everything that a thread keeps from one turn to the next: what it
// was loaded with, and the effort, which a turn leaves behind.
func fingerprint(params map[string]any, r *agent.Request) print {
	own := maps.Clone(params)
	delete(own, "threadId")
	delete(own, "excludeTurns")
	text, err := json.Marshal([]any{own, r.Reasoning.Effort})
	if err != nil { // loading it will say so
		return print{}
	}
	return sha256.Sum256(text)
}

// take gives a kept thread out.
func (p *protocol) take(thread string) *kept {
	k := p.kept[thread]
	delete(p.kept, thread)
	return k
}

// keep keeps the thread of a turn loaded, and unloads the one that was not used for
// longest when there are too many.
func (p *protocol) keep(s *served, out *agent.Talk) {
	p.last++ // also an age
	p.kept[s.thread] = &kept{last: s.id, print: s.print, age: p.last}
	if len(p.kept) <= keptThreads {
		return
	}
	oldest := s.thread
	for thread, k := range p.kept {
		if k.age < p.kept[oldest].age {
			oldest = thread
		}
	}
	delete(p.kept, oldest)
	p.request(call{what: drop}, "thread/unsubscribe", map[string]any{"threadId": oldest}, out)
}
