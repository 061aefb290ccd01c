package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// origin is where a value came from.
type origin struct {
	source string
	line   int
}

// decoder fills a struct from a file's nodes. It goes on after a problem, so
// that one run names all of them.
type decoder struct {
	file     string
	env      func(string) (string, bool)
	origins  map[string]origin
	problems Problems
	anchors  map[string]ast.Node
	depth    int
}

// located is a list element together with the line it starts on.
type located[T any] struct {
	Value T
	Line  int
}

// decode reads data into the struct v.
func (d *decoder) decode(data []byte, v reflect.Value) {
	d.anchors = map[string]ast.Node{}
	if root := d.parse(data); root != nil {
		d.value(root, field{value: v}, "")
	}
}

// parse reads the one document of a file; nil for an empty one.
func (d *decoder) parse(data []byte) ast.Node {
	if trimmed := strings.TrimSpace(string(data)); strings.HasPrefix(trimmed, "{") {
		// JSON may be indented with tabs; inside its strings they are always escaped.
		data = []byte(strings.ReplaceAll(string(data), "\t", " "))
	}
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		p := Problem{Source: d.file, What: "is not valid YAML", Remedy: yaml.FormatError(err, false, false)}
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) && syntax.Token != nil {
			p.Line, p.What, p.Remedy = syntax.Token.Position.Line, "not valid YAML: "+syntax.Message, ""
		}
		d.problems.add(p)
		return nil
	}
	var root ast.Node
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			d.problems.add(Problem{Source: d.file, Line: line(doc.Body), What: "a second document", Remedy: "keep one document a file"})
			break
		}
		root = doc.Body
	}
	return root
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// field is how a struct field is written.
type field struct {
	value        reflect.Value
	key          string
	enum         []string
	min          string
	keep, secret bool
}

// fields lists a struct's keys; rest is its map of further names, if it has one.
func fields(v reflect.Value) (list []field, rest reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		key := tag.Get("yaml")
		switch key {
		case "", "-":
			continue
		case ",rest":
			rest = v.Field(i)
			continue
		}
		f := field{value: v.Field(i), key: key, min: tag.Get("min"), keep: tag.Get("keep") != "", secret: tag.Get("secret") != ""}
		if e := tag.Get("enum"); e != "" {
			f.enum = strings.Split(e, ",")
		}
		list = append(list, f)
	}
	return list, rest
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// fail notes a problem with the value n of path.
func (d *decoder) fail(path string, n ast.Node, f field, what, remedy string) {
	p := Problem{Source: d.file, Line: line(n), Key: path, What: what, Remedy: remedy}
	if !f.secret {
		p.Value = text(n)
	}
	d.problems.add(p)
}

// text is a scalar as it was written, "" for anything else.
func text(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value
	}
	return ""
}

// kind names a node for people.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.NullNode:
		return "empty"
	case *ast.SequenceNode:
		return "a list"
	default:
		return "a map"
	}
}

// plain resolves anchors and aliases.
func (d *decoder) plain(n ast.Node) ast.Node {
	for range 64 {
		switch m := n.(type) {
		case *ast.AnchorNode:
			d.anchors[m.Name.GetToken().Value] = m.Value
			n = m.Value
		case *ast.AliasNode:
			target, ok := d.anchors[m.Value.GetToken().Value]
			if !ok {
				return n
			}
			n = target
		case *ast.TagNode:
			n = m.Value
		default:
			return n
		}
	}
	return n
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	sizeType     = reflect.TypeFor[Size]()
)

// value fills f.value from n.
func (d *decoder) value(n ast.Node, f field, path string) {
	if d.depth > 32 { // an alias inside its own anchor
		d.fail(path, n, f, "is nested too deeply", "")
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	n = d.plain(n)
	d.origins[path] = origin{d.file, line(n)}
	v := f.value
	if _, ok := n.(*ast.NullNode); ok {
		return // "key:" and "key: null" leave the default
	}
	if l, ok := v.Addr().Interface().(interface{ locate(int) reflect.Value }); ok {
		f.value = l.locate(line(n))
		d.value(n, f, path)
		return
	}
	if s, ok := v.Addr().Interface().(interface{ listed() reflect.Value }); ok {
		if _, list := n.(*ast.SequenceNode); list {
			f.value = s.listed()
			d.value(n, f, path)
			return
		}
	}
	if s, ok := v.Addr().Interface().(interface{ short() reflect.Value }); ok && text(n) != "" {
		f.value = s.short()
		d.value(n, f, path)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		f.value = v.Elem()
		d.value(n, f, path)
	case reflect.Struct:
		d.structure(n, f, path)
	case reflect.Map:
		d.mapping(n, f, path)
	case reflect.Slice:
		d.list(n, f, path)
	default:
		d.scalar(n, f, path)
	}
}

// locate notes the line and gives the value to fill.
func (l *located[T]) locate(line int) reflect.Value {
	l.Line = line
	return reflect.ValueOf(&l.Value).Elem()
}

// pairs are the keys and values of a map node.
func (d *decoder) pairs(n ast.Node, f field, path, want string) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	d.fail(path, n, f, "is "+kind(n)+", not a map", want)
	return nil
}

func (d *decoder) structure(n ast.Node, f field, path string) {
	list, rest := fields(f.value)
	names := make([]string, 0, len(list))
	for _, one := range list {
		names = append(names, one.key)
	}
next:
	for _, pair := range d.pairs(n, f, path, "its keys are "+strings.Join(names, ", ")) {
		key := pair.Key.GetToken().Value
		at := join(path, key)
		for _, one := range list {
			if one.key == key {
				d.value(pair.Value, one, at)
				continue next
			}
		}
		if rest.IsValid() {
			entry := rest.MapIndex(reflect.ValueOf(key))
			if !entry.IsValid() {
				// A name of its own: which ones are right is decided in check.
				entry = reflect.ValueOf(defaultRuntime(""))
				rest.SetMapIndex(reflect.ValueOf(key), entry)
			}
			d.value(pair.Value, field{value: entry.Elem()}, at)
			continue
		}
		d.problems.add(Problem{Source: d.file, Line: line(pair.Key), Key: at, What: "unknown key", Remedy: suggest(key, names)})
	}
}

func (d *decoder) mapping(n ast.Node, f field, path string) {
	v := f.value
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, pair := range d.pairs(n, f, path, `write it as name: value`) {
		key := pair.Key.GetToken().Value
		one := f
		one.value = reflect.New(v.Type().Elem()).Elem()
		d.value(pair.Value, one, join(path, key))
		v.SetMapIndex(reflect.ValueOf(key), one.value)
	}
}

func (d *decoder) list(n ast.Node, f field, path string) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(path, n, f, "is "+kind(n)+", not a list", "write it as [a, b]")
		return
	}
	v := f.value
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	for i, one := range seq.Values {
		e := f
		e.value = v.Index(i)
		d.value(one, e, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (d *decoder) scalar(n ast.Node, f field, path string) {
	raw := text(n)
	want := wanted(f)
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode, *ast.AliasNode:
		d.fail(path, n, f, "is "+kind(n)+", not "+want.noun, want.remedy)
		return
	case *ast.StringNode, *ast.LiteralNode:
		filled, bad, why := expand(raw, d.env)
		if bad != "" {
			d.problems.add(Problem{Source: d.file, Line: line(n), Key: path, Value: bad, What: why, Remedy: "set that variable, or write ${NAME:-default}"})
			return
		}
		if !f.keep {
			raw = filled
		}
	default:
		if f.value.Kind() == reflect.String {
			d.fail(path, n, f, "is "+kind(n)+", not a text", "put it in quotes")
			return
		}
	}
	if what, remedy := set(f, raw); what != "" {
		d.fail(path, n, f, what, remedy)
	}
}

// expectation says what a scalar field takes.
type expectation struct{ noun, remedy string }

func wanted(f field) expectation {
	switch {
	case len(f.enum) > 0:
		return expectation{"one word", "use one of " + strings.Join(f.enum, ", ")}
	case f.value.Type() == durationType:
		return expectation{"a duration", "write a number with a unit: 300ms, 30s, 5m, 24h"}
	case f.value.Type() == sizeType:
		return expectation{"a size", "write bytes or a number with KiB, MiB, GiB: 64MiB"}
	}
	switch f.value.Kind() {
	case reflect.Bool:
		return expectation{"true or false", "write true or false"}
	case reflect.Int:
		return expectation{"a whole number", "write digits only"}
	case reflect.Float64:
		return expectation{"a number", "write digits with at most one point"}
	default:
		return expectation{"a text", "write it in quotes"}
	}
}

// set reads raw into a scalar field; what is "" when it fits.
func set(f field, raw string) (what, remedy string) {
	v, want := f.value, wanted(f)
	ok, low := true, false
	switch {
	case v.Type() == durationType:
		var n time.Duration
		var err error
		if n, err = time.ParseDuration(raw); err != nil {
			ok = false
			break
		}
		low = n < 0
		v.SetInt(int64(n))
	case v.Type() == sizeType:
		var n Size
		if n, ok = ParseSize(raw); ok {
			v.SetInt(int64(n))
		}
	case v.Kind() == reflect.Bool:
		switch raw {
		case "true", "1":
			v.SetBool(true)
		case "false", "0":
			v.SetBool(false)
		default:
			ok = false
		}
	case v.Kind() == reflect.Int:
		n, err := strconv.Atoi(raw)
		if ok = err == nil; ok {
			low = n < 0
			v.SetInt(int64(n))
		}
	case v.Kind() == reflect.Float64:
		n, err := strconv.ParseFloat(raw, 64)
		if ok = err == nil && n == n && n < 1e18; ok {
			low = n < 0
			v.SetFloat(n)
		}
	default:
		if len(f.enum) > 0 && !contains(f.enum, raw) {
			if n := nearest(raw, f.enum); n != "" {
				return "is not one of " + strings.Join(f.enum, ", "), fmt.Sprintf("did you mean %q?", n)
			}
			return "is not allowed here", want.remedy
		}
		v.SetString(raw)
	}
	if !ok {
		return "is not " + want.noun, want.remedy
	}
	if f.min != "" {
		least, _ := strconv.ParseInt(f.min, 10, 64)
		low = low || v.Int() < least
		if low && v.Type() == durationType {
			return "is too short", "use more than 0"
		}
		if low {
			return "is too small", "use " + f.min + " or more"
		}
	}
	if low {
		return "is negative", "use 0 or more"
	}
	return "", ""
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}
