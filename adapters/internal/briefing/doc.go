// Package briefing puts instructions before a prompt, for CLIs that keep those that
// a conversation began with or have no place for them at all.
//
// It is pure.
package briefing
