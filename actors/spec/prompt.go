package spec

import (
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

// Prompt is what the CLI is asked: what was said before, as a preface, and the
// messages' texts, joined by blank lines. Images do not appear in it.
func (in *NewInput) Prompt() string { return Prompt(Preface(in.Before, false), in.Items) }

// Prompt joins a preface, "" for none, and the messages' texts.
func Prompt(preface string, items []*event.Item) string {
	var parts []string
	if preface != "" {
		parts = append(parts, preface)
	}
	for _, it := range items {
		if it.Text != "" {
			parts = append(parts, it.Text)
		}
		for _, p := range it.Parts {
			if p.Text != "" {
				parts = append(parts, p.Text)
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

// MaxPreface bounds a preface; the newest whole entries are kept.
const MaxPreface = 64 << 10

// Newest is the end of said that fits into a preface, and whether anything was left
// out.
func Newest(said []string) (kept []string, cut bool) {
	room, from := MaxPreface, len(said)
	for from > 0 && room >= len(said[from-1])+2 {
		from--
		room -= len(said[from]) + 2
	}
	return said[from:], from > 0
}

// Preface tells the newest entries that fit, oldest first. cut says that older ones
// were left out already.
func Preface(said []string, cut bool) string {
	kept, more := Newest(said)
	cut = cut || more
	texts := make([]string, 0, len(kept))
	for _, s := range kept {
		if s != "" {
			texts = append(texts, s)
		}
	}
	switch {
	case len(texts) == 0 && cut:
		return "(The earlier messages of this conversation are too long and are left out.)"
	case len(texts) == 0:
		return ""
	}
	title := "Earlier in this conversation:"
	if cut {
		title = "Earlier in this conversation (older messages are left out):"
	}
	return title + "\n\n" + strings.Join(texts, "\n\n") + "\n\nThe user's message now:"
}
