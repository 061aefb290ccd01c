package command

import (
	"errors"
	"strconv"
	"strings"

	jsoniter "github.com/json-iterator/go"
)

// path is a dot path: names of objects' fields and numbers of lists' entries.
type path []any

// parsePath reads ".message.content.0.text".
func parsePath(s string) (path, error) {
	rest, ok := strings.CutPrefix(s, ".")
	if !ok || rest == "" {
		return nil, errors.New("a path begins with a dot and a name, such as .message.text")
	}
	var p path
	for part := range strings.SplitSeq(rest, ".") {
		if part == "" {
			return nil, errors.New("a path has a name between two dots")
		}
		if n, err := strconv.Atoi(part); err == nil && n >= 0 {
			p = append(p, n)
			continue
		}
		p = append(p, part)
	}
	return p, nil
}

// in finds the value in a line, nil when it is not there or null.
func (p path) in(obj []byte) jsoniter.Any {
	if len(p) == 0 {
		return nil
	}
	v := jsoniter.Get(obj, p...)
	if t := v.ValueType(); t == jsoniter.InvalidValue || t == jsoniter.NilValue {
		return nil
	}
	return v
}

// truthy says that a value marks the end: it is neither false, 0 nor "".
func truthy(v jsoniter.Any) bool {
	switch v.ValueType() {
	case jsoniter.BoolValue:
		return v.ToBool()
	case jsoniter.NumberValue:
		return v.ToFloat64() != 0
	case jsoniter.StringValue:
		return v.ToString() != ""
	}
	return true
}
