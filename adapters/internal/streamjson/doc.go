// Package streamjson reads what the stream-json dialects of Claude Code and of its
// relatives have in common: frames of the model's stream, content blocks, and the names
// of tools. What differs from CLI to CLI (what the lines around them mean, and which
// tools there are) stays with the adapters.
//
// It is pure and imports actors packages and what reads lines and speech only.
package streamjson
