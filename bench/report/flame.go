package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// frame is a function on a stack, with what it and all it calls took.
type frame struct {
	name  string
	took  time.Duration
	calls map[string]*frame
}

func (f *frame) call(name string) *frame {
	c := f.calls[name]
	if c == nil {
		c = &frame{name: name, calls: map[string]*frame{}}
		f.calls[name] = c
	}
	return c
}

// traces reads what "go tool pprof -traces" writes: stacks with the function that ran
// first, and before it what it took.
func traces(in io.Reader) (*frame, error) {
	all := &frame{name: "all", calls: map[string]*frame{}}
	var took time.Duration
	var stack []string
	add := func() {
		at := all
		at.took += took
		for _, name := range slices.Backward(stack) {
			at = at.call(name)
			at.took += took
		}
		took, stack = 0, nil
	}
	lines := bufio.NewScanner(in)
	began := false
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "-----------+") {
			add()
			began = true
			continue
		}
		words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), " (inline)"))
		switch {
		case !began || len(words) == 0:
		case len(stack) > 0:
			stack = append(stack, strings.Join(words, " "))
		case len(words) > 1: // else a label
			if d, err := time.ParseDuration(words[0]); err == nil {
				took, stack = d, append(stack, strings.Join(words[1:], " "))
			}
		}
	}
	add()
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if all.took == 0 {
		return nil, fmt.Errorf("the profile has no stacks")
	}
	return all, nil
}

// Measures of a flame graph.
const (
	flameWidth = 1200
	flameRow   = 16
	flameLeast = 0.6     // points: narrower frames are left out
	flameBytes = 140_000 // of the frames: more leaves wider ones out
	flameChar  = 6.2     // points of a character
)

// Flame draws what "go tool pprof -traces" says as a flame graph: callers below, what
// they call above, as wide as the time it took. Names show in full under the pointer.
func Flame(w io.Writer, title string, profile io.Reader) error {
	all, err := traces(profile)
	if err != nil {
		return err
	}
	least := flameLeast
	b, deepest := all.drawn(least)
	for b.Len() > flameBytes {
		least *= 1.3
		b, deepest = all.drawn(least)
	}
	height := (deepest+1)*flameRow + 24
	_, err = fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="monospace" font-size="10">
<rect width="%d" height="%d" fill="#fff"/><text x="4" y="14" font-size="12">%s: %s</text>
<g transform="translate(0 %d)">
%s</g></svg>
`, flameWidth, height, flameWidth, height, escaped(title), all.took.Round(10*time.Millisecond), height, b.String())
	return err
}

// drawn are the frames that are at least so wide, and how deep they go.
func (all *frame) drawn(least float64) (b *strings.Builder, deepest int) {
	scale := flameWidth / float64(all.took)
	b = &strings.Builder{}
	var draw func(f *frame, x float64, depth int)
	draw = func(f *frame, x float64, depth int) {
		width := float64(f.took) * scale
		if width < least {
			return
		}
		deepest = max(deepest, depth)
		name := escaped(f.name)
		fmt.Fprintf(b, `<g transform="translate(%.1f -%d)"><title>%s: %s, %.1f%%</title><rect width="%.1f" height="%d" fill="%s"/>`,
			x, (depth+1)*flameRow, name, f.took, 100*float64(f.took)/float64(all.took), max(width-0.3, 0.3), flameRow-1, flameColour(f.name))
		if fits := int(width/flameChar) - 1; fits >= 3 {
			fmt.Fprintf(b, `<text x="2" y="11">%s</text>`, escaped(shortened(f.name, fits)))
		}
		b.WriteString("</g>\n")
		// By name, so that two graphs can be looked at side by side.
		for _, c := range slices.SortedFunc(maps.Values(f.calls), func(a, b *frame) int { return cmp.Compare(a.name, b.name) }) {
			draw(c, x, depth+1)
			x += float64(c.took) * scale
		}
	}
	draw(all, 0, 0)
	return b, deepest
}

// shortened drops the path of the package, and then the end.
func shortened(name string, most int) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if len(name) > most {
		return name[:most-1] + "…"
	}
	return name
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}

// flameColour is by package: ours, the store's, the runtime, the kernel, the rest.
func flameColour(name string) string {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name)
	shade := int(h.Sum32() % 24)
	hue := 40
	switch {
	case strings.Contains(name, "syscall.") || strings.Contains(name, "/syscall/"):
		hue = 0
	case strings.Contains(name, "sqlite"):
		hue = 265
	case strings.Contains(name, "agenthost/agenthost/"):
		hue = 205
	case strings.HasPrefix(name, "runtime."):
		hue = 110
	}
	return fmt.Sprintf("hsl(%d 55%% %d%%)", hue, 62+shade)
}
