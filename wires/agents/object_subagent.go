package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/apierr"
)

type subagentWire struct {
	ID            string     `json:"id"`
	ClosedAt      *int64     `json:"closed_at"`
	Instructions  []textPart `json:"instructions" null:"true"`
	Name          *string    `json:"name"`
	Object        string     `json:"object" enum:"agent.session.subagent"`
	OpenedAt      int64      `json:"opened_at"`
	ParentAgentID string     `json:"parent_agent_id"`
	SessionID     string     `json:"session_id"`
	Status        string     `json:"status" enum:"active,closed"`
}

func subagentObject(s *fold.Session, sub *fold.Subagent) *subagentWire {
	o := &subagentWire{
		ID: sub.ID().With(event.PrefixSubagent), ClosedAt: nullableSeconds(sub.Closed), Name: nullable(sub.Call.Tool),
		Object: "agent.session.subagent", OpenedAt: seconds(sub.Opened), ParentAgentID: agentID(s).With(event.PrefixAgent),
		SessionID: s.ID.With(event.PrefixSession), Status: "active",
	}
	if sub.Call.Prompt != "" {
		o.Instructions = []textPart{{Text: wireText(sub.Call.Prompt), Type: "output_text"}}
	}
	if parent := sub.Call.Parent; !parent.IsZero() {
		o.ParentAgentID = parent.With(event.PrefixSubagent)
	}
	if sub.Closed != 0 {
		o.Status = "closed"
	}
	return o
}

// subagentTurn is a subagent's turn. No CLI tells what one subagent used.
func subagentTurn(s *fold.Session, sub *fold.Subagent) *turnWire {
	id := sub.ID().With(event.PrefixSubagent)
	o := &turnWire{
		ID: sub.ID().With(event.PrefixTurn), AgentID: id, CompletedAt: nullableSeconds(sub.Closed), CreatedAt: seconds(sub.Opened),
		Object: "agent.session.turn", SessionID: s.ID.With(event.PrefixSession), StartedAt: nullableSeconds(sub.Opened), SubagentID: &id,
	}
	switch sub.Call.Status {
	case event.InProgress:
		o.Status = fold.Running.String()
	case event.Done:
		o.Status = fold.Completed.String()
	case event.ItemFailed:
		o.Status = fold.Failed.String()
		why := sub.Call.Error
		if why == "" {
			why = "the subagent failed without telling why"
		}
		code, message := apierr.TurnError(event.Fail(event.CLICrashed, why))
		o.Error = &turnError{Code: code, Message: message}
	default: // its parent ended before it
		o.Status = fold.Cancelled.String()
	}
	return o
}
