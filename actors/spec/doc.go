// Package spec holds what a caller may ask for, as values: agents, sessions,
// environments, tools, permissions and input, with their validation.
//
// It imports actors/event and may not do I/O, read a clock or know a wire. Values
// are stored inside events (event.Settings), so fields are added, never renamed,
// and a secret never has a field here: only names of environment variables do.
package spec
