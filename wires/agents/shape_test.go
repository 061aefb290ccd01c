package agents

import (
	stdjson "encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"
)

// shapes are the wire's required and optional fields, as the official SDK's types
// have them: name -> type, a leading ? marks an optional field.
type shapes struct {
	Events  map[string]map[string]string
	Objects map[string]map[string]any
}

var loadShapes = sync.OnceValues(func() (*shapes, error) {
	b, err := os.ReadFile("testdata/shapes.json")
	if err != nil {
		return nil, err
	}
	s := new(shapes)
	return s, stdjson.Unmarshal(b, s)
})

func theShapes(t *testing.T) *shapes {
	t.Helper()
	s, err := loadShapes()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkObject fails the test unless the JSON object b is exactly of the named
// type: every required field there, nothing unknown, every value in its type.
func checkObject(t *testing.T, name string, b []byte) {
	t.Helper()
	var v any
	if err := stdjson.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s is not JSON: %v\n%s", name, err, b)
	}
	for _, fault := range theShapes(t).check(v, name, name) {
		t.Errorf("%s\n  in %s", fault, b)
	}
}

func (s *shapes) event(v map[string]any) []string {
	kind, _ := v["type"].(string)
	fields, ok := s.Events[kind]
	if !ok {
		return []string{fmt.Sprintf("event type %q is not on this wire", kind)}
	}
	return s.fields(v, fields, kind)
}

func (s *shapes) fields(v map[string]any, fields map[string]string, path string) (faults []string) {
	for name, want := range fields {
		plain := strings.TrimPrefix(name, "?")
		got, ok := v[plain]
		switch {
		case ok:
			faults = append(faults, s.check(got, want, path+"."+plain)...)
		case plain == name:
			faults = append(faults, path+"."+plain+" is missing")
		}
	}
	for name := range v {
		if _, ok := fields[name]; ok {
			continue
		}
		if _, ok := fields["?"+name]; !ok {
			faults = append(faults, path+"."+name+" is not a field there")
		}
	}
	sort.Strings(faults)
	return faults
}

// check holds v against a type such as `string or null`, `{a/b}`, `'word'`,
// `[Name]`, `map<string>` or the name of an object.
func (s *shapes) check(v any, want, path string) []string {
	if any := split(want); len(any) > 1 {
		var all []string
		for _, w := range any {
			faults := s.check(v, w, path)
			if len(faults) == 0 {
				return nil
			}
			all = append(all, faults...)
		}
		return all
	}
	bad := []string{fmt.Sprintf("%s is %T %.80v, want %s", path, v, v, want)}
	ok := false
	switch {
	case want == "any":
		ok = true
	case want == "null":
		ok = v == nil
	case want == "string":
		_, ok = v.(string)
	case want == "boolean":
		_, ok = v.(bool)
	case want == "number":
		_, ok = v.(float64)
	case want == "integer":
		n, is := v.(float64)
		ok = is && n == float64(int64(n))
	case want[0] == '\'':
		ok = v == strings.Trim(want, "'")
	case want[0] == '{':
		word, is := v.(string)
		for _, w := range strings.Split(strings.Trim(want, "{}"), "/") {
			ok = ok || is && w == word
		}
	case want[0] == '(':
		return s.check(v, want[1:len(want)-1], path)
	case want[0] == '[':
		list, is := v.([]any)
		if !is {
			return bad
		}
		var faults []string
		for i, e := range list {
			faults = append(faults, s.check(e, want[1:len(want)-1], fmt.Sprintf("%s[%d]", path, i))...)
		}
		return faults
	case strings.HasPrefix(want, "map<"):
		m, is := v.(map[string]any)
		if !is {
			return bad
		}
		var faults []string
		for k, e := range m {
			faults = append(faults, s.check(e, want[4:len(want)-1], path+"."+k)...)
		}
		return faults
	default:
		return s.object(v, want, path)
	}
	if ok {
		return nil
	}
	return bad
}

func (s *shapes) object(v any, name, path string) []string {
	o, known := s.Objects[name]
	if !known {
		return []string{"the test data has no object " + name}
	}
	if variants, ok := o["one of"].([]any); ok {
		words := make([]string, len(variants))
		for i, w := range variants {
			words[i], _ = w.(string)
		}
		return s.check(v, strings.Join(words, " or "), path)
	}
	m, is := v.(map[string]any)
	if !is {
		return []string{fmt.Sprintf("%s is %T, want the object %s", path, v, name)}
	}
	fields := map[string]string{}
	for k, w := range o {
		fields[k], _ = w.(string)
	}
	return s.fields(m, fields, path)
}

// split cuts at the ` or `s that are in no bracket.
func split(want string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(want); i++ {
		switch want[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ' ':
			if depth == 0 && strings.HasPrefix(want[i:], " or ") {
				out = append(out, want[from:i])
				from = i + 4
			}
		}
	}
	return append(out, want[from:])
}
