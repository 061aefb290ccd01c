// Package jsonl reads the JSON lines that CLIs print, as they come: with byte
// order marks, terminal escapes, log noise, cut objects and values of surprising
// types around and inside them. It owns what all dialects share and knows none of
// them.
package jsonl
