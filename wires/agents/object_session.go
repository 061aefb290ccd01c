package agents

import (
	stdjson "encoding/json"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

type sessionWire struct {
	ID              string             `json:"id"`
	Agent           sessionAgentObject `json:"agent"`
	CreatedAt       int64              `json:"created_at"`
	Environment     any                `json:"environment"`
	Error           *string            `json:"error"`
	LastActiveAt    int64              `json:"last_active_at"`
	Metadata        map[string]string  `json:"metadata"`
	Object          string             `json:"object" enum:"agent.session"`
	RequiredActions []any              `json:"required_actions"`
	SpendControl    *spendObject       `json:"spend_control,omitempty"`
	Status          string             `json:"status" enum:"idle,in_progress,requires_action,budget_reached"`
	Usage           *usageObject       `json:"usage"`
	VaultIDs        []string           `json:"vault_ids"`
	extras
}

// spendObject is there for a caller that asked for it. Both numbers are US cents.
type spendObject struct {
	Consumed *int64 `json:"consumed"`
	Limit    *int64 `json:"limit"`
}

// extras are settings of a session that mean nothing to the engine and are given
// back as they came: the value of spec.Session.Extra.
type extras struct {
	PromptCacheOptions stdjson.RawMessage `json:"prompt_cache_options,omitempty" as:"object"`
	Review             string             `json:"review,omitempty" enum:"none,auto_review"`
}

type noneEnvironment struct {
	Type string `json:"type" enum:"none"`
}

type selfHostedEnvironment struct {
	ID                    string   `json:"id"`
	CapabilityDirectories []string `json:"capability_directories"`
	RemoteURL             string   `json:"remote_url"`
	Type                  string   `json:"type" enum:"self_hosted"`
	WorkspaceDirectory    string   `json:"workspace_directory"`
}

type hostedEnvironment struct {
	ID                    string         `json:"id"`
	CapabilityDirectories []string       `json:"capability_directories"`
	Files                 []any          `json:"files" as:"array" maxitems:"0"`
	Network               hostedNetwork  `json:"network"`
	Packages              hostedPackages `json:"packages"`
	Plugins               []any          `json:"plugins" as:"array" maxitems:"0"`
	Skills                []any          `json:"skills" as:"array" maxitems:"0"`
	Type                  string         `json:"type" enum:"openai_hosted"`
}

type hostedNetwork struct {
	Access         string   `json:"access" enum:"enabled"`
	AllowedDomains []string `json:"allowed_domains"`
}

type hostedPackages struct {
	NPM    []string `json:"npm"`
	Python []string `json:"python"`
	System []string `json:"system"`
}

// Variants implements openapi.Variants.
func (sessionWire) Variants() map[string][]any {
	return map[string][]any{
		"environment":      {noneEnvironment{}, selfHostedEnvironment{}, hostedEnvironment{}},
		"required_actions": {functionAction{}, approvalAction{}},
	}
}

// envOpenAIHosted is the type of an environment that this host stands in for.
const envOpenAIHosted = "openai_hosted"

func sessionObject(s *fold.Session) *sessionWire {
	set := s.Settings
	if set == nil {
		set = &spec.Session{ID: s.ID}
	}
	o := &sessionWire{
		ID: s.ID.With(event.PrefixSession), Agent: newSessionAgentObject(&set.Agent),
		CreatedAt: seconds(s.Created), Environment: environment(&set.Environment),
		LastActiveAt: seconds(s.LastActive), Metadata: reported(set.Metadata, s), Object: "agent.session",
		RequiredActions: requiredActions(s), Status: "idle", Usage: usage(s.Usage), VaultIDs: []string{}, extras: readExtras(set.Extra),
	}
	switch {
	case s.Held != nil && set.SpendControl.Asked:
		o.Status = "budget_reached"
	case s.Open > 0 && s.Held == nil:
		o.Status = "in_progress"
	}
	if len(s.Required) > 0 {
		o.Status = "requires_action"
	}
	if set.SpendControl.Asked {
		o.SpendControl = spendControl(s, &set.SpendControl)
	}
	return o
}

// spendControl tells what is used in whole cents; null when the CLI did not tell
// what its work cost.
func spendControl(s *fold.Session, c *spec.SpendControl) *spendObject {
	const cent = 10_000 // in millionths of a dollar
	o := &spendObject{}
	if c.Limit > 0 {
		o.Limit = &c.Limit
	}
	switch u := s.Usage; {
	case s.Turns == 0, u != nil && u.Total() == 0:
		o.Consumed = new(int64)
	case u != nil && u.MicroUSD > 0:
		cents := u.MicroUSD / cent
		o.Consumed = &cents
	}
	return o
}

// agentID is the id of a session's agent; one that was not saved has one too.
func agentID(s *fold.Session) event.ID {
	if s.Settings == nil {
		return event.ID{}
	}
	return s.Settings.Agent.ID
}

func environment(e *spec.Environment) any {
	id := e.ID.With(event.PrefixEnvironment)
	switch e.Type {
	case spec.EnvNone:
		return noneEnvironment{Type: e.Type}
	case envOpenAIHosted:
		none := []string{}
		return hostedEnvironment{
			ID: id, CapabilityDirectories: none, Files: []any{},
			Network:  hostedNetwork{Access: "enabled", AllowedDomains: none},
			Packages: hostedPackages{NPM: none, Python: none, System: none},
			Plugins:  []any{}, Skills: []any{}, Type: e.Type,
		}
	}
	return selfHostedEnvironment{
		ID: id, CapabilityDirectories: append([]string{}, e.Capability...),
		Type: spec.EnvSelfHosted, WorkspaceDirectory: e.Workspace,
	}
}

func readExtras(raw stdjson.RawMessage) extras {
	var x extras
	if len(raw) == 0 || json.Unmarshal(raw, &x) != nil {
		return extras{}
	}
	if len(x.PromptCacheOptions) > 0 {
		x.PromptCacheOptions = oneLine(x.PromptCacheOptions, "null")
	}
	return x
}

// raw is the form kept in spec.Session.Extra; nil when there is nothing.
func (x extras) raw() stdjson.RawMessage {
	b, err := json.Marshal(x)
	if err != nil || string(b) == "{}" {
		return nil
	}
	return b
}

func seconds(millis int64) int64 { return millis / 1000 }
