package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/apierr"
)

type turnWire struct {
	ID          string       `json:"id"`
	AgentID     string       `json:"agent_id"`
	CompletedAt *int64       `json:"completed_at"`
	CreatedAt   int64        `json:"created_at"`
	Error       *turnError   `json:"error"`
	Object      string       `json:"object" enum:"agent.session.turn"`
	SessionID   string       `json:"session_id"`
	StartedAt   *int64       `json:"started_at"`
	Status      string       `json:"status" enum:"queued,in_progress,waiting,completed,failed,cancelled"`
	SubagentID  *string      `json:"subagent_id"` // null marks the root turn; the SDKs compare with null
	Usage       *usageObject `json:"usage"`
}

type turnError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type usageObject struct {
	Input   int64         `json:"input_tokens"`
	InputD  inputDetails  `json:"input_tokens_details"`
	Output  int64         `json:"output_tokens"`
	OutputD outputDetails `json:"output_tokens_details"`
	Total   int64         `json:"total_tokens"`
}

type inputDetails struct {
	Cached int64 `json:"cached_tokens"`
}

type outputDetails struct {
	Reasoning int64 `json:"reasoning_tokens"`
}

func turnObject(s *fold.Session, t *fold.Turn) *turnWire {
	o := &turnWire{
		ID: t.ID.With(event.PrefixTurn), AgentID: agentID(s).With(event.PrefixAgent),
		CompletedAt: nullableSeconds(t.Ended), CreatedAt: seconds(t.Created), Object: "agent.session.turn",
		SessionID: s.ID.With(event.PrefixSession), StartedAt: nullableSeconds(t.Started), Status: t.Status.String(),
	}
	if t.End == nil {
		return o
	}
	o.Usage = usage(t.End.Usage)
	if t.Status == fold.Failed {
		f := t.End.Failure
		if f == nil {
			f = event.Fail(event.NoVerdict, "the turn failed without telling why")
		}
		code, message := apierr.TurnError(f)
		o.Error = &turnError{Code: code, Message: message}
	}
	return o
}

// usage is null when the CLI did not tell.
func usage(u *event.Usage) *usageObject {
	if u == nil {
		return nil
	}
	return &usageObject{
		Input: u.Input, InputD: inputDetails{Cached: u.Cached},
		Output: u.Output, OutputD: outputDetails{Reasoning: u.Reasoning}, Total: u.Total(),
	}
}

func nullableSeconds(millis int64) *int64 {
	if millis == 0 {
		return nil
	}
	s := seconds(millis)
	return &s
}
