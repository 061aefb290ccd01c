package drift

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// JavaScript reads the npm package in dir (node_modules/openai).
func JavaScript(dir string) (*SDK, error) {
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return nil, fmt.Errorf("read the npm package: %w", err)
	}
	var about struct{ Version string }
	if err := json.Unmarshal(b, &about); err != nil {
		return nil, fmt.Errorf("read the npm package: %w", err)
	}
	l := newLibrary()
	l.sdk.Version = about.Version
	var code []string
	err = filepath.WalkDir(filepath.Join(dir, "resources"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case strings.HasSuffix(rel, ".d.ts"):
			src, err := os.ReadFile(file) //nolint:gosec // below the package's folder
			if err != nil {
				return err
			}
			l.modules[rel], err = declarations(rel, string(src))
			return err
		case strings.HasSuffix(rel, ".js"):
			code = append(code, rel)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the npm package: %w", err)
	}
	for _, rel := range code {
		src, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(rel))) //nolint:gosec // as above
		if err != nil {
			return nil, fmt.Errorf("read the npm package: %w", err)
		}
		l.operations(strings.TrimSuffix(rel, ".js")+".d.ts", string(src))
	}
	return l.sdk, nil
}

// library resolves names across the modules.
type library struct {
	modules map[string]*module
	sdk     *SDK
	open    map[*node]bool // aliases that are being resolved
	unnamed map[*node]int  // numbers of objects without a name
}

func newLibrary() *library {
	return &library{modules: map[string]*module{}, sdk: &SDK{Name: "javascript", Types: map[string]*Type{}}, open: map[*node]bool{}, unnamed: map[*node]int{}}
}

var (
	classLine  = regexp.MustCompile(`(?m)^class (\w+) extends `)
	methodLine = regexp.MustCompile(`(?m)^    (?:async )?(\w+)\([^\n]*\) \{$`)
	clientCall = regexp.MustCompile("_client\\s*\\.(getAPIList|get|post|delete|put|patch)\\((?:\\(0, \\w+\\.path\\) ?)?[`'](/[^`']*)[`']")
	listByPost = regexp.MustCompile(`method: 'post'`)
	inPath     = regexp.MustCompile(`\$\{[^}]*\}`)
	spread     = regexp.MustCompile(`const \{([^}]*)\.\.\.(body|query) \} = params`)
	spreadName = regexp.MustCompile(`'([^']+)'|(\w+)`)
)

// operations finds the methods of a file's classes that call the server.
func (l *library) operations(file, src string) {
	m := l.modules[file]
	class := classLine.FindAllStringSubmatchIndex(src, -1)
	for i, c := range class {
		end := len(src)
		if i+1 < len(class) {
			end = class[i+1][0]
		}
		name, body := src[c[2]:c[3]], src[c[0]:end]
		methods := methodLine.FindAllStringSubmatchIndex(body, -1)
		for j, at := range methods {
			end := len(body)
			if j+1 < len(methods) {
				end = methods[j+1][0]
			}
			l.method(m, name, body[at[2]:at[3]], body[at[0]:end])
		}
	}
}

func (l *library) method(m *module, class, name, src string) {
	call := clientCall.FindStringSubmatch(src)
	if call == nil {
		return
	}
	o := Operation{Name: class + "." + name, Method: strings.ToUpper(call[1]), Path: inPath.ReplaceAllString(call[2], "{}")}
	if !slices.ContainsFunc(Scope, func(s string) bool { return strings.HasPrefix(o.Path, s) }) {
		return
	}
	if call[1] == "getAPIList" {
		o.Method = "GET"
		if listByPost.MatchString(src) {
			o.Method = "POST"
		}
	}
	rest := spread.FindStringSubmatch(src)
	for _, s := range m.methods[class+"."+name] {
		for param, of := range s.params {
			e := l.expr(m, of)
			if param == "params" && rest != nil {
				e, param = l.without(e, rest[1]), rest[2]
			}
			switch param {
			case "body":
				o.Body = either(o.Body, e)
			case "query":
				o.Query = either(o.Query, e)
			}
		}
		l.result(m, &o, s.result)
	}
	l.sdk.Operations = append(l.sdk.Operations, o)
}

// result reads what a method promises.
func (l *library) result(m *module, o *Operation, n *node) {
	switch {
	case n.kind == "union":
		for _, of := range n.of {
			l.result(m, o, of)
		}
	case n.kind == "name" && n.name == "APIPromise" && len(n.of) == 1:
		l.result(m, o, n.of[0])
	case n.kind == "name" && n.name == "PagePromise" && len(n.of) == 2:
		o.List = l.expr(m, n.of[1])
	case n.kind == "name" && n.name == "Stream" && len(n.of) == 1:
		o.Events = either(o.Events, l.expr(m, n.of[0]))
	default:
		if e := l.expr(m, n); e.Kind != "any" && e.Kind != "null" {
			o.Answer = either(o.Answer, e)
		}
	}
}

func either(a, b *Expr) *Expr {
	if a == nil {
		return b
	}
	return &Expr{Kind: "union", Of: []*Expr{a, b}}
}

// without takes path and header values, which the code names, out of parameters.
func (l *library) without(e *Expr, names string) *Expr {
	if e.Kind == "union" {
		u := &Expr{Kind: "union"}
		for _, of := range e.Of {
			u.Of = append(u.Of, l.without(of, names))
		}
		return u
	}
	t := l.sdk.Types[e.Object]
	if t == nil {
		return e
	}
	left := &Type{Name: t.Name, Fields: map[string]*Field{}}
	for name, f := range t.Fields {
		left.Fields[name] = f
	}
	for _, part := range strings.Split(names, ",") {
		if n := spreadName.FindStringSubmatch(part); n != nil {
			delete(left.Fields, n[1]+n[2])
		}
	}
	key := e.Object + " without " + names
	l.sdk.Types[key] = left
	return &Expr{Kind: "object", Object: key}
}

var plain = map[string]string{
	"string": "string", "number": "float", "boolean": "bool", "true": "bool", "false": "bool", "null": "null", "undefined": "null", "void": "null",
}

// expr resolves a written type.
func (l *library) expr(m *module, n *node) *Expr {
	switch n.kind {
	case "words":
		return &Expr{Kind: "words", Words: []string{n.name}}
	case "union":
		u := &Expr{Kind: "union"}
		for _, of := range n.of {
			u.Of = append(u.Of, l.expr(m, of))
		}
		return u
	case "list", "map":
		return &Expr{Kind: n.kind, Of: []*Expr{l.expr(m, n.of[0])}}
	case "object", "both":
		return l.object(m, n)
	case "name":
		return l.named(m, n)
	}
	return anything
}

func (l *library) named(m *module, n *node) *Expr {
	if kind, ok := plain[n.name]; ok {
		return &Expr{Kind: kind}
	}
	switch {
	case n.name == "Array" && len(n.of) == 1:
		return &Expr{Kind: "list", Of: []*Expr{l.expr(m, n.of[0])}}
	case n.name == "Record" && len(n.of) == 2:
		return &Expr{Kind: "map", Of: []*Expr{l.expr(m, n.of[1])}}
	}
	there, of := l.find(m, n.scope, n.name)
	if of == nil || l.open[of] && of.kind != "object" {
		return anything
	}
	l.open[of] = true
	defer delete(l.open, of)
	return l.expr(there, of)
}

// find looks a name up from the innermost namespace outwards, then in imports.
func (l *library) find(m *module, scope, name string) (*module, *node) {
	for at := scope; ; at = at[:max(0, strings.LastIndexByte(at, '.'))] {
		if n := m.types[join(at, name)]; n != nil {
			return m, n
		}
		if at == "" {
			break
		}
	}
	first, rest, dotted := strings.Cut(name, ".")
	from, ok := m.imports[first]
	there := l.modules[from.file]
	switch {
	case !ok || there == nil:
		return nil, nil
	case from.name == "" && dotted:
		return l.find(there, "", rest)
	case dotted:
		return l.find(there, "", from.name+"."+rest)
	}
	return l.find(there, "", from.name)
}

// object enters an object's fields, those of what it extends included. It is any
// when a part of it is not an object.
func (l *library) object(m *module, n *node) *Expr {
	key := fmt.Sprintf("%s#%s", m.file, n.name)
	if n.name == "" {
		if l.unnamed[n] == 0 {
			l.unnamed[n] = len(l.unnamed) + 1
		}
		key = fmt.Sprintf("%s#%d", m.file, l.unnamed[n])
	}
	e := &Expr{Kind: "object", Object: key}
	if l.sdk.Types[key] != nil {
		return e
	}
	t := &Type{Name: n.name, Fields: map[string]*Field{}}
	l.sdk.Types[key] = t
	for _, base := range n.of {
		is := l.expr(m, base)
		if n.kind == "both" && (is.Kind == "string" || is.Kind == "words") { // string & {}
			delete(l.sdk.Types, key)
			return is
		}
		of := l.sdk.Types[is.Object]
		if of == nil {
			continue
		}
		for name, f := range of.Fields {
			t.Fields[name] = f
		}
	}
	for name, f := range n.fields {
		t.Fields[name] = &Field{Type: l.expr(m, f.of), Required: f.required}
	}
	return e
}
