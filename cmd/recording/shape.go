package recording

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors"
)

// Shape is a stream as it should be again with the same version of the CLI: its lines
// of JSON with sorted keys and lists of words, without what differs from run to run
// (ids, times, ports, and the given paths, each by its name). Of a dialogue it is what
// was told ("> "), then what was said ("< "), sorted: answers and news overtake one
// another. What it answers when it is let go of is no part of it, nor is what it offers to
// people.
func (s *Stream) Shape(paths map[string]string) []string {
	var said, told []byte
	for _, p := range s.Pieces {
		switch p.Through {
		case actors.Stdout:
			said = append(said, p.Bytes...)
		case actors.Stdin:
			told = append(told, p.Bytes...)
		}
	}
	if s.Driver != string(actors.DriverPersistent) {
		return append(shapes("", said, paths), fmt.Sprintf("exit %d%s", s.Exit.Code, s.Exit.Signal))
	}
	heard := slices.DeleteFunc(shapes("< ", said, paths), offers)
	slices.Sort(heard)
	return append(shapes("> ", told, paths), heard...)
}

// offers are what a CLI tells, at any time, of the commands and skills that a person has
// in it: pages of its own words.
func offers(line string) bool {
	return strings.Contains(line, `"sessionUpdate":"available_commands_update"`)
}

func shapes(mark string, text []byte, paths map[string]string) (out []string) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out = append(out, mark+shape(line, paths))
		}
	}
	return out
}

// exact keeps the digits of numbers and the text of strings.
var exact = jsoniter.Config{SortMapKeys: true, UseNumber: true}.Froze()

func shape(line []byte, paths map[string]string) string {
	var v any
	if exact.Unmarshal(line, &v) != nil {
		return plainText(string(line), paths)
	}
	text, err := exact.Marshal(plain("", v, paths))
	if err != nil {
		return plainText(string(line), paths)
	}
	return string(text)
}

// timed are keys whose numbers differ from run to run.
var timed = regexp.MustCompile(`(?i)(ms|time|at|timestamp|duration|seconds|cost|usd|pid|port|bytes|size)$`)

func plain(key string, v any, paths map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, one := range v {
			v[k] = plain(k, one, paths)
		}
		if key == "gitInfo" {
			return nil
		}
	case []any:
		words := true
		for i, one := range v {
			v[i] = plain(key, one, paths)
			_, word := v[i].(string)
			words = words && word
		}
		if words {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
	case string:
		if by := ofTheMachine[key]; by != "" {
			return by
		}
		return plainText(v, paths)
	case stdjson.Number:
		if timed.MatchString(key) {
			return 0
		}
	}
	return v
}

// ofTheMachine are keys whose texts say where the CLI ran.
var ofTheMachine = map[string]string{"serverName": "<machine>", "processId": "<process>", "platformOs": "<system>"}

var (
	varying = []struct {
		what *regexp.Regexp
		by   string
	}{
		{regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`), "<uuid>"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`), "<time>"},
		{regexp.MustCompile(`\d{4}[-/]\d\d[-/]\d\d`), "<day>"},
		{regexp.MustCompile(`T\d\d-\d\d-\d\d`), "T<time>"},
		{regexp.MustCompile(`\brecord-\d+`), "record-<n>"},
		{regexp.MustCompile(`\b(PGID|PID): \d+`), "$1: <process>"},
		{regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`), "$1:<port>"},
		{regexp.MustCompile(`\b(msg|prt|item|resp|call|req|toolu|chatcmpl|rs|fc|thread|turn|session|ses|exec|proc|task|agent)_[A-Za-z0-9-]*\d[A-Za-z0-9_-]*`), "<$1>"},
		{regexp.MustCompile(`(projects|chats)/[^/"]+`), "$1/<project>"},
		{regexp.MustCompile(`(^|[^\w>/.:-])(/[\w.@+-]+){2,}`), "$1<path>"},
		{regexp.MustCompile(`\([A-Z]\w+ [\d.]+; \w+\)`), "(<system>)"},
		{regexp.MustCompile(`~\d+ tokens`), "~<n> tokens"},
		{regexp.MustCompile(`\b[0-9a-f]{16,}\b`), "<hex>"},
	}
	// longest is the longest text that a shape has whole.
	longest = 300
)

func plainText(text string, paths map[string]string) string {
	for _, path := range sortedByLength(paths) {
		text = strings.ReplaceAll(text, path, paths[path])
	}
	for _, v := range varying {
		text = v.what.ReplaceAllString(text, v.by)
	}
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}

// sortedByLength has the longest first, so that a directory does not hide one in it.
func sortedByLength(paths map[string]string) []string {
	var list []string
	for p := range paths {
		at := 0
		for at < len(list) && (len(list[at]) > len(p) || len(list[at]) == len(p) && list[at] < p) {
			at++
		}
		list = append(list[:at], append([]string{p}, list[at:]...)...)
	}
	return list
}

// Differ says how two shapes differ, a line each, "" when they do not: lines that are
// gone begin with -, new ones with +.
func Differ(was, is []string) string {
	// The longest common subsequence; shapes have tens of lines.
	common := make([][]int, len(was)+1)
	for i := range common {
		common[i] = make([]int, len(is)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(is) - 1; j >= 0; j-- {
			if was[i] == is[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var b strings.Builder
	i, j := 0, 0
	for i < len(was) || j < len(is) {
		switch {
		case i < len(was) && j < len(is) && was[i] == is[j]:
			i, j = i+1, j+1
		case j == len(is) || i < len(was) && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintf(&b, "-%s\n", was[i])
			i++
		default:
			fmt.Fprintf(&b, "+%s\n", is[j])
			j++
		}
	}
	return b.String()
}
