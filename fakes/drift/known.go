package drift

import (
	_ "embed"
	"strings"
)

//go:embed known.txt
var knownText string

// List is the gaps that are known, each with a reason.
type List []*KnownGap

// KnownGap is a line of known.txt. A star in it stands for any text.
type KnownGap struct{ Line, Reason string }

// Known reads known.txt: a line that begins with # is the reason of the lines
// that follow.
func Known() List {
	var out List
	reason := ""
	for line := range strings.Lines(knownText) {
		line = strings.TrimSpace(line)
		switch text, is := strings.CutPrefix(line, "# "); {
		case line == "":
			reason = ""
		case is && reason != "" && (len(out) == 0 || out[len(out)-1].Reason != reason):
			reason += " " + text
		case is:
			reason = text
		default:
			out = append(out, &KnownGap{line, reason})
		}
	}
	return out
}

// Reason is why a gap is there, "" when that is not known.
func (l List) Reason(gap string) string {
	for _, k := range l {
		if k.Matches(gap) {
			return k.Reason
		}
	}
	return ""
}

// Matches reports whether a gap is the one that is meant.
func (k *KnownGap) Matches(gap string) bool {
	parts := strings.Split(k.Line, "*")
	if len(parts) == 1 {
		return gap == k.Line
	}
	rest, ok := strings.CutPrefix(gap, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
