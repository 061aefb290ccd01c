package agents

import (
	stdjson "encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// fields reads a JSON object field by field and remembers the first fault, which
// names its field. After a fault the reads give zero values.
type fields struct {
	at  string // path of the object, "" for the body
	m   map[string]stdjson.RawMessage
	err *error
}

func newFields(m map[string]stdjson.RawMessage) *fields { return &fields{m: m, err: new(error)} }

// body reads a call's body; one that is missing is an empty object.
func body(c *call.Call) (*fields, error) {
	if strings.TrimSpace(string(c.Body)) == "" {
		return newFields(nil), nil
	}
	m, err := c.Object()
	if err != nil {
		return nil, err
	}
	return newFields(m), nil
}

func (f *fields) fault() error { return *f.err }

func (f *fields) path(name string) string {
	if f.at == "" {
		return name
	}
	return f.at + "." + name
}

// fail remembers the first fault.
func (f *fields) fail(code event.Code, name, message string) {
	if *f.err == nil {
		*f.err = event.FailParam(code, f.path(name), message)
	}
}

func (f *fields) invalid(name, format string, a ...any) {
	f.fail(event.InvalidRequest, name, f.path(name)+" "+fmt.Sprintf(format, a...))
}

func (f *fields) has(name string) bool { _, ok := f.m[name]; return ok }

// given reports whether the field is there and not null.
func (f *fields) given(name string) bool {
	raw, ok := f.m[name]
	return ok && !isNull(raw)
}

// isNull reports whether raw is null; the decoder leaves it empty then.
func isNull(raw stdjson.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// read decodes a field: nil when it is absent, the zero value when it is null.
func read[T any](f *fields, name string) *T {
	raw, ok := f.m[name]
	if !ok || *f.err != nil {
		return nil
	}
	v := new(T)
	if isNull(raw) {
		return v
	}
	if err := call.Unmarshal(f.path(name), raw, v); err != nil {
		*f.err = err
		return nil
	}
	return v
}

// object reads a field that is an object; nil when it is absent or null.
func (f *fields) object(name string) *fields {
	if !f.given(name) || *f.err != nil {
		return nil
	}
	m := read[map[string]stdjson.RawMessage](f, name)
	if m == nil {
		return nil
	}
	return &fields{at: f.path(name), m: *m, err: f.err}
}

// list reads a field that is a list, its elements undecoded.
func (f *fields) list(name string) []stdjson.RawMessage {
	l := read[[]stdjson.RawMessage](f, name)
	if l == nil {
		return nil
	}
	return *l
}

// element reads an element of the list name that is an object; nil on a fault.
func (f *fields) element(name string, i int, raw stdjson.RawMessage) *fields {
	place := fmt.Sprintf("%s[%d]", name, i)
	m := map[string]stdjson.RawMessage{}
	if err := call.Unmarshal(f.path(place), raw, &m); err != nil || m == nil {
		f.invalid(place, "must be an object")
		return nil
	}
	return &fields{at: f.path(place), m: m, err: f.err}
}

// word reads a field with a closed set of values: nil when it is absent, "" when
// it is null.
func (f *fields) word(name string, allowed ...string) *string {
	s := read[string](f, name)
	if s == nil || !f.given(name) {
		return s
	}
	for _, a := range allowed {
		if *s == a {
			return s
		}
	}
	f.invalid(name, "must be one of %s", strings.Join(allowed, ", "))
	return nil
}

// only refuses fields that are not known, the first one by alphabet.
func (f *fields) only(known ...string) {
	unknown := f.unknown(known...)
	if len(unknown) == 0 {
		return
	}
	name := unknown[0]
	message := fmt.Sprintf("%s is not a field that can be set here", f.path(clip(name)))
	if name == "permissions" {
		message += ": what an agent may do is said by who runs this host, in its configuration"
	} else if near := nearest(name, known); near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	f.fail(event.InvalidRequest, clip(name), message)
}

// unknown lists the fields that are not known, sorted.
func (f *fields) unknown(known ...string) []string {
	var out []string
next:
	for name := range f.m {
		for _, k := range known {
			if name == k {
				continue next
			}
		}
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// metadata reads a map of strings. Numbers and booleans are taken as they are
// written, as existing deployments send them; null empties the map.
func (f *fields) metadata(name string) *map[string]string {
	raw := read[map[string]stdjson.RawMessage](f, name)
	if raw == nil {
		return nil
	}
	m := make(map[string]string, len(*raw))
	for k, v := range *raw {
		if k == metaPosition || k == metaWait || k == metaIsolation {
			continue // sent back as it was shown
		}
		var s string
		switch {
		case isNull(v), v[0] == '{', v[0] == '[':
			f.invalid(name, "must map names to strings")
			return nil
		case v[0] == '"':
			if err := call.Unmarshal(f.path(name), v, &s); err != nil {
				*f.err = err
				return nil
			}
		default:
			s = string(v)
		}
		m[k] = s
	}
	if err := spec.ValidMetadata(f.path(name), m); err != nil && *f.err == nil {
		*f.err = err
	}
	return &m
}

// clip bounds a caller's text inside a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// nearest is the known name a misspelt one most likely means, "" when none is
// close.
func nearest(name string, known []string) string {
	best, at := "", 1+len(name)/3
	for _, k := range known {
		if d := distance(name, k, at); d <= at && (best == "" || d < at) {
			best, at = k, d
		}
	}
	return best
}

// distance is the number of edits from a to b; anything above limit may come back
// as limit+1.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
