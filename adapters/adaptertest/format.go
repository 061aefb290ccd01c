package adaptertest

import "github.com/agenthost/agenthost/actors/agent"

// Format writes a fact on one line, for golden files and failed tests.
func Format(f agent.Fact) string { return f.String() }
