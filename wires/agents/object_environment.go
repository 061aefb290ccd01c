package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
)

type environmentWire struct {
	ID     string                `json:"id"`
	Error  *environmentErrorWire `json:"error"`
	Status string                `json:"status" enum:"pending,ready,failed"`
	Type   string                `json:"type" enum:"self_hosted,openai_hosted,none"`
}

type environmentErrorWire struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type"`
}

// environmentState is the object of the environment events.
func environmentState(e *event.Environment) environmentWire {
	out := environmentWire{ID: e.ID.With(event.PrefixEnvironment), Status: string(e.Status), Type: e.Type}
	if f := e.Failure; f != nil {
		out.Error = &environmentErrorWire{Code: string(f.Code), Message: f.Message, Type: apierr.Of(f.Code).Type}
	}
	return out
}
