package recording

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors"
)

// Shape is a stream as it should be again with the same version of the CLI: its lines
// of JSON with sorted keys and without what differs from run to run (ids, times, ports
// and the given paths, each by its name). A line of a dialogue begins with "> " or
// "< ", as it was told or said.
func (s *Stream) Shape(paths map[string]string) []string {
	var said, told []byte
	var out []string
	flush := func(buf []byte, mark string) []byte {
		for {
			line, rest, whole := bytes.Cut(buf, []byte("\n"))
			if !whole {
				return buf
			}
			if len(bytes.TrimSpace(line)) > 0 {
				out = append(out, mark+shape(line, paths))
			}
			buf = rest
		}
	}
	mark := ""
	if s.Driver == string(actors.DriverPersistent) {
		mark = "< "
	}
	for _, p := range s.Pieces {
		switch {
		case p.Through == actors.Stdout:
			said = flush(append(said, p.Bytes...), mark)
		case p.Through == actors.Stdin && mark != "":
			told = flush(append(told, p.Bytes...), "> ")
		}
	}
	flush(append(said, '\n'), mark)
	return append(out, fmt.Sprintf("exit %d%s", s.Exit.Code, s.Exit.Signal))
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
	case []any:
		for i, one := range v {
			v[i] = plain(key, one, paths)
		}
	case string:
		return plainText(v, paths)
	case stdjson.Number:
		if timed.MatchString(key) {
			return 0
		}
	}
	return v
}

var (
	varying = []struct {
		what *regexp.Regexp
		by   string
	}{
		{regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`), "<uuid>"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`), "<time>"},
		{regexp.MustCompile(`(\d{4})-\d\d-\d\d`), "<day>"},
		{regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`), "$1:<port>"},
		{regexp.MustCompile(`\b([a-z]{2,12})[_-][A-Za-z0-9]*\d[A-Za-z0-9_-]*\b`), "<$1>"},
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
