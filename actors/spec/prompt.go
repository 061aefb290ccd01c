package spec

import "strings"

// Prompt joins a preface and the messages' texts by blank lines: what the CLI is
// asked. Images do not appear in it.
func (in *NewInput) Prompt() string {
	var parts []string
	if in.Preface != "" {
		parts = append(parts, in.Preface)
	}
	for _, it := range in.Items {
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
