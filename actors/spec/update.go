package spec

import "bytes"

// Apply returns s with the update's changes; s stays as it is.
func (u *Update) Apply(s *Session) *Session {
	next := *s
	if u.Metadata != nil {
		next.Metadata = *u.Metadata
	}
	if u.Model != nil {
		next.Agent.Model = *u.Model
	}
	if u.Instructions != nil {
		next.Agent.Instructions = *u.Instructions
	}
	if u.Reasoning != nil {
		next.Agent.Reasoning = *u.Reasoning
	}
	if u.ServiceTier != nil {
		next.Agent.ServiceTier = *u.ServiceTier
	}
	if u.Tools != nil {
		next.Agent.Tools = bytes.Clone(*u.Tools)
	}
	if u.MCP != nil {
		next.Agent.MCP = *u.MCP
	}
	if u.Extra != nil {
		next.Extra = bytes.Clone(*u.Extra)
	}
	return &next
}
