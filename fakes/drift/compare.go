package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Gaps lists what the SDK has and the document has not, one line a gap, sorted.
// The lines name places on the wire, so two SDKs of one API give the same ones.
func Gaps(sdk *SDK, d *Document) ([]string, error) {
	have, err := d.served()
	if err != nil {
		return nil, err
	}
	c := &comparison{sdk: sdk, doc: d, seen: map[pair]bool{}, gaps: map[string]bool{}}
	ops := slices.Clone(sdk.Operations)
	slices.SortStableFunc(ops, func(a, b Operation) int {
		return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
	})
	for i := range ops {
		o := &ops[i]
		path, variant, _ := strings.Cut(o.Path, "?")
		at := o.Method + " " + pathValue.ReplaceAllString(path, "{}")
		e := have[at]
		switch {
		case e == nil:
			c.gap("%s is not served", at)
		case e.Unavailable:
			c.gap("%s is not built", at)
		case variant == "": // ?beta=true has types of its own over the same wire
			c.operation(at, o, e)
		}
	}
	return slices.Sorted(maps.Keys(c.gaps)), nil
}

type pair struct {
	object, ref string
	read        bool
}

type comparison struct {
	sdk  *SDK
	doc  *Document
	seen map[pair]bool
	gaps map[string]bool
	// beside are names of an operation's parameters that are told elsewhere.
	beside map[string]bool
	// unknown counts fields of ours that they do not have.
	unknown int
}

func (c *comparison) gap(format string, a ...any) { c.gaps[fmt.Sprintf(format, a...)] = true }

func (c *comparison) operation(at string, o *Operation, e *entry) {
	query := &schema{Type: words{"object"}, Properties: map[string]*schema{}}
	// Path values and headers stand among the SDKs' parameters.
	c.beside = map[string]bool{}
	for _, name := range pathValue.FindAllString(o.Path, -1) {
		c.beside[strings.Trim(name, "{}")] = true
	}
	for _, p := range e.Parameters {
		if p.In == "query" {
			query.Properties[p.Name] = p.Schema
		} else {
			c.beside[p.Name] = true
		}
	}
	c.parameters(o.Query, query, at+" query")
	switch {
	case o.Body == nil:
	case e.RequestBody == nil:
		c.gap("%s takes no body", at)
	default:
		in, ok := e.RequestBody.Content["multipart/form-data"] // what SDKs upload as
		if !ok {
			in = e.RequestBody.Content["application/json"]
		}
		c.parameters(o.Body, in.Schema, at+" body")
	}
	var answer, stream media
	for status, r := range e.Responses {
		if strings.HasPrefix(status, "2") {
			answer, stream = r.Content["application/json"], r.Content["text/event-stream"]
		}
	}
	switch {
	case o.List != nil && answer.Schema != nil:
		page := c.doc.of(answer.Schema)
		if data := c.doc.of(page.Properties["data"]); data != nil {
			c.value(false, o.List, data.Items, at+" answer.data[]", "")
		}
	case o.Answer != nil && answer.Schema != nil:
		c.value(false, o.Answer, answer.Schema, at+" answer", "")
	case (o.Answer != nil && o.Answer.Kind != "any" || o.List != nil) && answer.Schema == nil && o.Events == nil:
		c.gap("%s has no JSON answer", at)
	}
	if o.Events != nil {
		c.events(at, o.Events, stream.Events)
	}
}

// parameters compares what a call is given; to give nothing is always right.
func (c *comparison) parameters(e *Expr, s *schema, at string) {
	given := &Expr{Kind: "union"}
	for _, of := range flat(e) {
		if of.Kind != "null" {
			given.Of = append(given.Of, of)
		}
	}
	c.value(true, given, s, at, "")
}

// events compares streams by the types of their frames.
func (c *comparison) events(at string, e *Expr, ours map[string]*schema) {
	theirs := map[string]*Expr{}
	for _, of := range flat(e) {
		for _, kind := range c.kinds(of) {
			theirs[kind] = of
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(theirs)) {
		of := theirs[kind]
		if ours[kind] == nil {
			c.gap("%s event %s is never sent", at, kind)
			continue
		}
		c.value(false, of, ours[kind], "event "+kind, kind)
	}
	for kind := range ours {
		if theirs[kind] == nil {
			c.gap("%s event %s is not known there", at, kind)
		}
	}
}

// flat is the alternatives of a type.
func flat(e *Expr) []*Expr {
	if e == nil {
		return nil
	}
	if e.Kind != "union" {
		return []*Expr{e}
	}
	var out []*Expr
	for _, of := range e.Of {
		out = append(out, flat(of)...)
	}
	return out
}

// flat is the alternatives of a schema, references followed.
func (d *Document) flat(s *schema) []*schema {
	to := d.of(s)
	if to == nil {
		return nil
	}
	if len(to.AnyOf) == 0 {
		return []*schema{to}
	}
	var out []*schema
	for _, of := range to.AnyOf {
		out = append(out, d.flat(of)...)
	}
	return out
}

// kinds are the words that an object's type can be.
func (c *comparison) kinds(e *Expr) []string {
	t := c.sdk.Types[e.Object]
	if t == nil || t.Fields["type"] == nil {
		return nil
	}
	var out []string
	for _, of := range flat(t.Fields["type"].Type) {
		out = append(out, of.Words...)
	}
	return out
}

func (s *schema) kinds() []string {
	p := s.Properties["type"]
	if p == nil {
		return nil
	}
	return p.words()
}

func (s *schema) words() (out []string) {
	if s.Const != nil {
		out = append(out, *s.Const)
	}
	for _, w := range s.Enum {
		if w != nil {
			out = append(out, *w)
		}
	}
	return out
}

func (s *schema) is(kind string) bool { return slices.Contains(s.Type, kind) }

// value compares a value that is read or written; kind is the word that tells
// which of several objects it is.
func (c *comparison) value(read bool, e *Expr, s *schema, at, kind string) {
	theirs, ours := flat(e), c.doc.flat(s)
	if len(ours) == 0 {
		return
	}
	for _, o := range ours {
		if len(o.Type) == 0 && len(o.Properties) == 0 && o.Const == nil && o.Enum == nil {
			return // anything
		}
	}
	for _, t := range theirs {
		if t.Kind == "any" {
			return
		}
	}
	c.words(read, theirs, ours, at)
	for _, t := range theirs {
		switch t.Kind {
		case "list":
			i := slices.IndexFunc(ours, func(s *schema) bool { return s.is("array") })
			switch {
			case i < 0 && read:
				c.gap("%s cannot be a list", at)
			case i >= 0 && ours[i].MaxItems != nil && *ours[i].MaxItems == 0:
				c.gap("%s is always empty", at)
			case i >= 0 && ours[i].Items != nil:
				c.value(read, t.Of[0], ours[i].Items, at+"[]", "")
			}
		case "null":
			if read && !strings.HasSuffix(at, "]") && !slices.ContainsFunc(ours, func(s *schema) bool { return s.is("null") }) {
				c.gap("%s cannot be null", at)
			}
		}
	}
	c.objects(read, theirs, ours, at, kind)
}

// objects compares each object with ours. We must take all that they send; of
// several that they may read and cannot be told apart, the nearest is meant.
func (c *comparison) objects(read bool, theirs []*Expr, ours []*schema, at, kind string) {
	alike := map[string][]*Expr{}
	for _, t := range theirs {
		if t.Kind == "object" && read {
			c.object(read, t, ours, at, kind)
		} else if t.Kind == "object" {
			key := named(c.kinds(t))
			alike[key] = append(alike[key], t)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(alike)) {
		var least *comparison
		fewest := 0
		for _, t := range alike[key] {
			try := &comparison{sdk: c.sdk, doc: c.doc, seen: maps.Clone(c.seen), gaps: map[string]bool{}, beside: c.beside}
			try.object(read, t, ours, at, kind)
			if n := len(try.gaps) + try.unknown; least == nil || n < fewest {
				least, fewest = try, n
			}
		}
		c.seen = least.seen
		maps.Copy(c.gaps, least.gaps)
	}
}

// words compares closed sets of strings: we take all that they send, and send
// none that they do not know.
func (c *comparison) words(read bool, theirs []*Expr, ours []*schema, at string) {
	know, have := map[string]bool{}, map[string]bool{}
	for _, t := range theirs {
		if t.Kind == "string" {
			know = nil
			break
		}
		for _, w := range t.Words {
			know[w] = true
		}
	}
	for _, s := range ours {
		if s.is("string") && s.Const == nil && s.Enum == nil {
			have = nil
			break
		}
		for _, w := range s.words() {
			have[w] = true
		}
	}
	if know == nil || have == nil || len(know) == 0 {
		return
	}
	for w := range know {
		if read && !have[w] {
			c.gap("%s cannot be %q", at, w)
		}
	}
	for w := range have {
		if !read && !know[w] {
			c.gap("%s may be %q, which is not known there", at, w)
		}
	}
}

// object finds the object that ours is and compares the fields.
func (c *comparison) object(read bool, t *Expr, ours []*schema, at, kind string) {
	kinds := c.kinds(t)
	if kind != "" {
		kinds = []string{kind}
	}
	var objects, same []*schema
	for _, o := range ours {
		if !o.is("object") {
			continue
		}
		objects = append(objects, o)
		if slices.ContainsFunc(o.kinds(), func(k string) bool { return slices.Contains(kinds, k) }) {
			same = append(same, o)
		}
	}
	switch {
	case len(same) > 0:
	case len(objects) == 0:
		c.gap("%s cannot be an object%s", at, named(kinds))
		return
	case len(objects) == 1 && (len(kinds) == 0 || len(objects[0].kinds()) == 0):
		same = objects
	case len(kinds) > 0:
		c.gap("%s is never%s", at, named(kinds))
		return
	default:
		same = objects
	}
	if kind == "" && len(kinds) == 1 && len(ours) > 1 {
		at += "<" + kinds[0] + ">"
	}
	for _, o := range same {
		c.fields(read, t, o, at)
	}
}

func named(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	slices.Sort(kinds)
	return " " + strings.Join(kinds, " or ")
}

func (c *comparison) fields(read bool, t *Expr, s *schema, at string) {
	key := pair{t.Object, fmt.Sprintf("%p", s), read}
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	theirs := c.sdk.Types[t.Object]
	if theirs == nil || len(s.Properties) == 0 { // any object
		return
	}
	for name := range s.Properties {
		if theirs.Fields[name] == nil {
			c.unknown++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(theirs.Fields)) {
		f := theirs.Fields[name]
		if name == "type" && len(c.kinds(t)) > 0 {
			continue // told which object it is
		}
		ours := s.Properties[name]
		switch {
		case ours == nil && c.beside[name]:
		case ours == nil && !read && f.Required:
			c.gap("%s.%s is missing and required", at, name)
		case ours == nil:
			c.gap("%s.%s is missing", at, name)
		default:
			if !read && f.Required && c.mayBeNull(ours) && !canBeNull(f.Type) {
				c.gap("%s.%s may be null", at, name)
			}
			if read && !f.Required && slices.Contains(s.Required, name) {
				c.gap("%s.%s is needed", at, name)
			}
			if !read && f.Required && !slices.Contains(s.Required, name) {
				c.gap("%s.%s may be missing", at, name)
			}
			c.value(read, f.Type, ours, at+"."+name, "")
		}
	}
}

func canBeNull(e *Expr) bool {
	return slices.ContainsFunc(flat(e), func(e *Expr) bool { return e.Kind == "null" || e.Kind == "any" })
}

func (c *comparison) mayBeNull(s *schema) bool {
	return slices.ContainsFunc(c.doc.flat(s), func(s *schema) bool { return s.is("null") })
}
