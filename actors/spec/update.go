package spec

import (
	"bytes"
	"maps"
	"slices"
)

// Apply returns s with the update's changes; s stays as it is. What the update
// brings is copied, what it leaves alone is shared with s.
func (u *Update) Apply(s *Session) *Session {
	next := *s
	if u.Metadata != nil {
		next.Metadata = maps.Clone(*u.Metadata)
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
	if u.Functions != nil {
		next.Agent.Functions = slices.Clone(*u.Functions)
	}
	if u.MCP != nil {
		next.Agent.MCP, next.Agent.Secrets = next.Agent.WithMCP(*u.MCP), u.Secrets
	}
	if u.Extra != nil {
		next.Extra = bytes.Clone(*u.Extra)
	}
	if u.SpendControl != nil {
		next.SpendControl = *u.SpendControl
	}
	return &next
}
