package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Direction says whose hand a type is in.
type Direction uint8

const (
	// Written types are answers: every field is there unless it may be omitted.
	Written Direction = iota
	// Read types are requests: a field may be missing or null unless it is needed.
	Read
)

// Variants is implemented by a struct with fields of type any, []any or raw JSON:
// for each of them the values whose types it can hold; nil stands for null. In a
// list they are the types of the elements.
type Variants interface {
	Variants() map[string][]any
}

// Closed is implemented by a struct that is decoded field by field, where a name
// that is not a field is refused.
type Closed interface{ Closed() }

// With is the type of v with one field of type any holding only the given
// variants, under a name of its own: a page of a list, for one.
type With struct {
	V        any
	Name     string
	Field    string
	Variants []any
}

// Word is a variant that is just this text.
type Word string

// Given is a type that no Go type stands for: its schema under its name.
type Given struct {
	Name   string
	Schema *Schema
}

// OneOf is a value of any of these types.
type OneOf []any

// Book collects the schemas of named types.
type Book struct {
	// Schemas by name.
	Schemas map[string]*Schema
	types   map[string]any
	errs    []error
}

// NewBook is an empty book.
func NewBook() *Book { return &Book{Schemas: map[string]*Schema{}, types: map[string]any{}} }

// Err tells everything that could not be described.
func (b *Book) Err() error { return errors.Join(b.errs...) }

func (b *Book) fail(format string, a ...any) *Schema {
	b.errs = append(b.errs, fmt.Errorf("openapi: "+format, a...))
	return anything()
}

// Of is the schema of v's type. Named structs become references into the book.
func (b *Book) Of(v any, d Direction) *Schema {
	if w, ok := v.(With); ok {
		t := reflect.TypeOf(w.V)
		name := title(path.Base(t.PkgPath())) + w.Name
		return b.named(name, w, func() *Schema {
			return b.object(t, d, map[string][]any{w.Field: w.Variants})
		})
	}
	if w, ok := v.(Word); ok {
		return &Schema{Type: "string", Const: string(w)}
	}
	if g, ok := v.(Given); ok {
		return b.named(g.Name, g, func() *Schema { return g.Schema })
	}
	if of, ok := v.(OneOf); ok {
		return b.anyOf(of, d)
	}
	if v == nil {
		return &Schema{Type: "null"}
	}
	return b.of(reflect.TypeOf(v), d, "")
}

// named enters a schema once. Its key tells two types of one name apart.
func (b *Book) named(name string, key any, schema func() *Schema) *Schema {
	ref := &Schema{Ref: "#/components/schemas/" + name}
	if have, ok := b.types[name]; ok {
		if !reflect.DeepEqual(have, key) {
			return b.fail("two types are called %s: %v and %v", name, have, key)
		}
		return ref
	}
	b.types[name] = key
	b.Schemas[name] = nil // a type may contain itself
	b.Schemas[name] = schema()
	return ref
}

// typeKey is what a type is entered under.
type typeKey struct {
	t reflect.Type
	d Direction
}

var (
	rawType       = reflect.TypeFor[json.RawMessage]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
)

// of is the schema of t; at names the place for errors.
func (b *Book) of(t reflect.Type, d Direction, at string) *Schema {
	if t == rawType {
		return b.fail("%s is raw JSON: say with Variants or the tag as what it holds", at)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.of(t.Elem(), d, at).null()
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Schema{Type: "integer"}
	case reflect.Slice, reflect.Array:
		return &Schema{Type: "array", Items: b.of(t.Elem(), d, at+"[]")}
	case reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: b.of(t.Elem(), d, at+"{}")}
	case reflect.Struct:
		if t.Implements(marshalerType) {
			return b.fail("%s (%s) encodes itself", at, t)
		}
		if t.Name() == "" {
			return b.object(t, d, nil)
		}
		return b.named(typeName(t, d), typeKey{t, d}, func() *Schema { return b.object(t, d, nil) })
	default:
		return b.fail("%s has the type %s: say with Variants or the tag as what it holds", at, t)
	}
}

// typeName is a struct's name in the document: its package and its own, without
// what only tells it from other Go types.
func typeName(t reflect.Type, d Direction) string {
	name := t.Name()
	if base, of, ok := strings.Cut(name, "["); ok { // list[.../server.runtime]
		of = strings.TrimSuffix(of, "]")
		name = of[strings.LastIndexByte(of, '.')+1:] + title(base)
	}
	for _, end := range []string{"Object", "Wire", "Body"} {
		if short := strings.TrimSuffix(name, end); short != "" {
			name = short
		}
	}
	name = title(path.Base(t.PkgPath())) + title(name)
	if d == Read {
		name += "Param"
	}
	return name
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// object is the schema of a struct.
func (b *Book) object(t reflect.Type, d Direction, variants map[string][]any) *Schema {
	s := &Schema{Type: "object", Properties: map[string]*Schema{}}
	zero := reflect.Zero(t).Interface()
	if _, ok := zero.(Closed); ok {
		s.AdditionalProperties = false
	}
	all := map[string][]any{}
	if v, ok := zero.(Variants); ok {
		maps.Copy(all, v.Variants())
	}
	maps.Copy(all, variants)
	for _, f := range Fields(t) {
		at := t.String() + "." + f.Name
		p := b.field(f, d, at, all)
		delete(all, f.Name)
		s.Properties[f.Name] = p
		if d == Written && !f.Omit || d == Read && f.Tag.Get("need") == "true" {
			s.Required = append(s.Required, f.Name)
		}
	}
	for name := range all {
		b.fail("%s has variants for %s, which is no field", t, name)
	}
	slices.Sort(s.Required)
	if len(s.Properties) == 0 {
		s.Properties = nil
	}
	return s
}

func (b *Book) field(f Field, d Direction, at string, variants map[string][]any) *Schema {
	t, null := f.Type, d == Read && f.Tag.Get("need") != "true"
	if t.Kind() == reflect.Pointer {
		t, null = t.Elem(), null || !f.Omit // an omitted field is never null
	}
	null = null || f.Tag.Get("null") == "true" // a nil slice
	var s *Schema
	as := f.Tag.Get("as")
	vs, varies := variants[f.Name]
	switch {
	case varies && t.Kind() == reflect.Slice && t != rawType:
		s = &Schema{Type: "array", Items: b.anyOf(vs, d)}
	case varies:
		s = b.anyOf(vs, d)
	case as == "any":
		s, null = anything(), false
	case as != "":
		s = &Schema{Type: as}
	default:
		s = b.of(t, d, at)
	}
	if words := f.Tag.Get("enum"); words != "" {
		s.words(strings.Split(words, ","))
	}
	s.MaxItems = b.number(f, "maxitems", at)
	s.Minimum, s.Maximum = b.number(f, "min", at), b.number(f, "max", at)
	if null {
		s = s.null()
	}
	if text := f.Tag.Get("doc"); text != "" {
		s.Description = text
	}
	return s
}

func (b *Book) anyOf(variants []any, d Direction) *Schema {
	s := &Schema{}
	for _, v := range variants {
		s.AnyOf = append(s.AnyOf, b.Of(v, d))
	}
	if len(s.AnyOf) == 1 {
		return s.AnyOf[0]
	}
	return s
}

func (b *Book) number(f Field, tag, at string) *int {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.fail("%s: tag %s: %w", at, tag, err)
		return nil
	}
	return &n
}

// Field is a JSON field of a struct, those of embedded structs included.
type Field struct {
	Name string
	Type reflect.Type
	Tag  reflect.StructTag
	// Omit says that the field may be left out.
	Omit bool
}

// Fields lists the JSON fields of a struct type in their order; of two with one
// name it is the first.
func Fields(t reflect.Type) []Field {
	all := fields(t)
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(f Field) bool {
		again := seen[f.Name]
		seen[f.Name] = true
		return again
	})
}

func fields(t reflect.Type) []Field {
	var out []Field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			out = append(out, fields(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		out = append(out, Field{Name: name, Type: f.Type, Tag: f.Tag, Omit: strings.Contains(options, "omitempty")})
	}
	return out
}

// Names are the JSON names of v's fields: the closed set of a decoder that goes
// field by field.
func Names(v any) []string {
	var out []string
	for _, f := range Fields(reflect.TypeOf(v)) {
		out = append(out, f.Name)
	}
	return out
}

// Words are the words that a field of v can be, as its tag enum lists them.
func Words(v any, field string) []string {
	for _, f := range Fields(reflect.TypeOf(v)) {
		if f.Name == field {
			return strings.Split(f.Tag.Get("enum"), ",")
		}
	}
	return nil
}
