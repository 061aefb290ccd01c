package call

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/event"
)

// maxDepth of nesting in a body.
const maxDepth = 1000

var utf8Mark = []byte("\xef\xbb\xbf")

// Decode reads the JSON body into v. Its errors are fit for the caller and name
// the field at fault; they never quote the body.
func (c *Call) Decode(v any) error {
	b, err := c.value()
	if err != nil {
		return err
	}
	return Unmarshal("", b, v)
}

// DecodeOptional is Decode where a body may be missing; false without one.
func (c *Call) DecodeOptional(v any) (bool, error) {
	if len(bytes.TrimSpace(c.Body)) == 0 {
		return false, nil
	}
	return true, c.Decode(v)
}

// Object reads the JSON body as an object, its values undecoded and compacted.
func (c *Call) Object() (map[string]stdjson.RawMessage, error) {
	b, err := c.value()
	if err != nil {
		return nil, err
	}
	// The fast parser makes an empty value of null here.
	var m map[string]stdjson.RawMessage
	if err := stdjson.Unmarshal(b, &m); err != nil || m == nil {
		return nil, event.Fail(event.InvalidRequest, "the request body must be a JSON object")
	}
	return m, nil
}

// value is the body as one strictly valid JSON value, compacted.
func (c *Call) value() ([]byte, error) {
	b := bytes.TrimPrefix(c.Body, utf8Mark)
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, event.Fail(event.InvalidRequest, "this request needs a JSON body")
	}
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	if deeper(b, maxDepth) {
		return nil, event.Fail(event.InvalidRequest, fmt.Sprintf("the request body is nested deeper than %d levels", maxDepth))
	}
	// The strict parser judges: the fast one accepts a few things that are not JSON.
	// Without space between tokens a raw value can be looked at by its first byte
	// and given back inside an event's data line.
	var whole bytes.Buffer
	whole.Grow(len(b))
	if stdjson.Compact(&whole, b) != nil {
		var syntax *stdjson.SyntaxError
		at := int64(len(b))
		if errors.As(stdjson.Unmarshal(b, new(stdjson.RawMessage)), &syntax) { // Compact does not say where
			at = syntax.Offset
		}
		return nil, event.Fail(event.InvalidRequest, fmt.Sprintf("the request body is not valid JSON (at byte %d of %d)", at, len(b)))
	}
	return whole.Bytes(), nil
}

// Unmarshal reads a valid JSON value into v; param is where it stands in the body.
func Unmarshal(param string, b []byte, v any) error {
	err := json.Unmarshal(b, v)
	if err == nil {
		return nil
	}
	// The fast parser's errors quote the body and name Go types. The strict one,
	// asked again, says which field it was.
	field, got := param, ""
	fresh := reflect.New(reflect.TypeOf(v).Elem()).Interface()
	var mismatch *stdjson.UnmarshalTypeError
	if errors.As(stdjson.Unmarshal(b, fresh), &mismatch) {
		field = join(param, jsonPath(reflect.TypeOf(v), mismatch.Field))
		got, _, _ = strings.Cut(mismatch.Value, " ")
		got = fmt.Sprintf(": expected %s, got %s", jsonKind(mismatch.Type), got)
	}
	if field == "" {
		return event.Fail(event.InvalidRequest, "the request body does not have the right shape"+got)
	}
	return event.FailParam(event.InvalidRequest, field, field+" does not have the right shape"+got)
}

// jsonPath takes the names of embedded structs, which are not in the JSON, out of
// a field's path in a value of type t.
func jsonPath(t reflect.Type, path string) string {
	var out []string
	for _, name := range strings.Split(path, ".") {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			out = append(out, name)
			continue
		}
		if f, ok := t.FieldByName(name); ok && f.Anonymous && f.Tag.Get("json") == "" {
			t = f.Type
			continue
		}
		out = append(out, name)
		for i := range t.NumField() {
			f := t.Field(i)
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
				t = f.Type
				break
			}
		}
	}
	return strings.Join(out, ".")
}

func join(param, field string) string {
	if param == "" || field == "" {
		return param + field
	}
	return param + "." + field
}

func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKind(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "an integer"
	}
}

// deeper reports whether b nests more than limit levels. b need not be valid.
func deeper(b []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
