package acp

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// keptSessions bounds the idle sessions that stay open in a process.
const keptSessions = threads

// print tells settings apart, without keeping the secrets in them.
type print [sha256.Size]byte

// kept is a session that stayed open after a turn: to open one again costs some CLIs as
// much as half a turn.
type kept struct {
	last  event.ID // the turn it knows last
	print print
	age   int64
}

// fingerprint is of everything that a session has from one turn to the next.
func fingerprint(r *agent.Request, mode Mode, servers []any) print {
	text, err := json.Marshal([]any{r.Workspace, servers, r.Permissions, mode.ID, r.Model, r.Reasoning.Effort})
	if err != nil { // they are strings
		return print{}
	}
	return sha256.Sum256(text)
}

// take gives a kept session out.
func (p *protocol) take(session string) *kept {
	k := p.kept[session]
	delete(p.kept, session)
	return k
}

// keep leaves the session of a turn open, and gives up the one that was not used for
// longest when there are too many.
func (p *protocol) keep(s *served, out *agent.Talk) {
	p.age++
	p.kept[s.session] = &kept{last: s.id, print: s.print, age: p.age}
	if len(p.kept) <= keptSessions {
		return
	}
	oldest := s.session
	for session, k := range p.kept {
		if k.age < p.kept[oldest].age {
			oldest = session
		}
	}
	delete(p.kept, oldest)
	p.giveUp(oldest, nil, out)
}

// giveUp closes a session, where the CLI can; next is opened in it behind that.
func (p *protocol) giveUp(session string, next *served, out *agent.Talk) {
	if !p.closes {
		if next != nil {
			p.load(next, out)
		}
		return
	}
	method := p.agent.Close
	if method == "" {
		method = "session/close"
	}
	p.leaving[session] = next
	p.request(call{what: closing, name: session}, method, map[string]any{"sessionId": session}, out)
}
