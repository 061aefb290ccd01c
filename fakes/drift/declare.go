package drift

import (
	"fmt"
	"path"
	"strings"
)

// module is a file of declarations.
type module struct {
	file string
	// imports map a local name to where it comes from; name "" is the whole module.
	imports map[string]imported
	// types by their name, with that of their namespaces: "A.B".
	types map[string]*node
	// methods of classes, all overloads: "Class.method".
	methods map[string][]signature
}

type imported struct{ file, name string }

// signature is one overload of a method.
type signature struct {
	params map[string]*node
	result *node
}

// node is a type as it is written. Kind is name, words, union, both (an
// intersection), list, map, object or any.
type node struct {
	kind   string
	name   string
	of     []*node
	scope  string // namespace that names are looked up in
	fields map[string]*member
}

type member struct {
	of       *node
	required bool
}

// declarations reads a .d.ts file.
func declarations(file, src string) (*module, error) {
	m := &module{file: file, imports: map[string]imported{}, types: map[string]*node{}, methods: map[string][]signature{}}
	r := &reader{file: file, list: tokens(src)}
	return m, m.block(r, "")
}

// block reads statements up to the end of the file or of a namespace.
func (m *module) block(r *reader, scope string) error {
	for r.peek() != "" && r.peek() != "}" {
		var err error
		switch t := r.next(); t {
		case "import":
			err = m.imported(r)
		case "export", "declare", "default", "abstract", ";":
			if r.peek() == "{" || r.peek() == "*" {
				m.exported(r)
			}
		case "namespace":
			name := r.next()
			if err = r.want("{"); err == nil {
				err = m.block(r, join(scope, name))
			}
			if err == nil {
				err = r.want("}")
			}
		case "interface":
			err = m.interfaced(r, scope)
		case "type":
			if r.peek() == "{" { // export type { A }
				m.exported(r)
				break
			}
			name := r.next()
			if r.peek() == "<" {
				r.skip("<")
			}
			if err = r.want("="); err == nil {
				m.types[join(scope, name)], err = m.union(r, scope)
			}
		case "class":
			err = m.class(r, scope)
		default: // const, function: nothing of ours
			for r.peek() != "" && r.peek() != ";" {
				if _, ok := closing[r.peek()]; ok && r.peek() != "<" {
					r.skip(r.peek())
					continue
				}
				r.next()
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

// imported reads an import behind its first word.
func (m *module) imported(r *reader) error {
	names := map[string]string{} // local name -> name there
	r.take("type")
	for r.peek() != "from" && r.peek() != "" {
		switch t := r.next(); t {
		case "*":
			r.take("as")
			names[r.next()] = ""
		case "{", ",", "}", "type":
		default:
			if t[0] == '\'' || t[0] == '"' {
				return nil // import for its effect
			}
			names[t] = t
			if r.take("as") {
				delete(names, t)
				names[r.next()] = t
			}
		}
	}
	r.take("from")
	file := m.beside(r.next())
	for local, name := range names {
		m.imports[local] = imported{file, name}
	}
	return nil
}

// exported reads `export { A, type B as C } from "x"` behind export.
func (m *module) exported(r *reader) {
	names := map[string]string{}
	for r.peek() != ";" && r.peek() != "from" && r.peek() != "" {
		switch t := r.next(); t {
		case "{", "}", ",", "type", "*":
		default:
			name := t
			if r.take("as") {
				name = r.next()
			}
			names[name] = t
		}
	}
	if r.take("from") {
		file := m.beside(r.next())
		for name, there := range names {
			m.imports[name] = imported{file, there}
		}
	}
}

// beside is the declaration file that an import's text leads to.
func (m *module) beside(quoted string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.Trim(quoted, `'"`), ".js"), ".mjs")
	if !strings.HasPrefix(name, ".") {
		return "" // another package
	}
	return path.Join(path.Dir(m.file), name) + ".d.ts"
}

func (m *module) interfaced(r *reader, scope string) error {
	name := r.next()
	if r.peek() == "<" {
		r.skip("<")
	}
	n := &node{kind: "object", name: join(scope, name)}
	if r.take("extends") {
		for {
			base, err := m.postfix(r, scope)
			if err != nil {
				return err
			}
			n.of = append(n.of, base)
			if !r.take(",") {
				break
			}
		}
	}
	body, err := m.object(r, scope)
	if err != nil {
		return err
	}
	n.fields = body.fields
	if body.kind == "map" {
		n.kind, n.of = "map", body.of
	}
	m.types[join(scope, name)] = n
	return nil
}

// class reads the methods' signatures.
func (m *module) class(r *reader, scope string) error {
	name := r.next()
	for r.peek() != "{" && r.peek() != "" {
		r.next()
	}
	if err := r.want("{"); err != nil {
		return err
	}
	for r.peek() != "}" && r.peek() != "" {
		member := r.next()
		for member == "private" || member == "static" || member == "protected" || member == "readonly" || member == "get" && r.peek() != "(" {
			member = r.next()
		}
		if r.peek() == "<" {
			r.skip("<")
		}
		if r.peek() != "(" { // a property
			for r.peek() != ";" && r.peek() != "" {
				if _, ok := closing[r.peek()]; ok {
					r.skip(r.peek())
					continue
				}
				r.next()
			}
			r.take(";")
			continue
		}
		s, err := m.signature(r, scope)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, member, err)
		}
		m.methods[name+"."+member] = append(m.methods[name+"."+member], s)
	}
	return r.want("}")
}

func (m *module) signature(r *reader, scope string) (signature, error) {
	s := signature{params: map[string]*node{}, result: &node{kind: "any"}}
	if err := r.want("("); err != nil {
		return s, err
	}
	for r.peek() != ")" && r.peek() != "" {
		r.take("...")
		name := r.peek()
		if name == "{" || name == "[" { // taken apart in place
			r.skip(name)
		} else {
			r.next()
		}
		r.take("?")
		if err := r.want(":"); err != nil {
			return s, err
		}
		of, err := m.union(r, scope)
		if err != nil {
			return s, err
		}
		s.params[name] = of
		r.take(",")
	}
	if err := r.want(")"); err != nil {
		return s, err
	}
	if r.take(":") {
		var err error
		if s.result, err = m.union(r, scope); err != nil {
			return s, err
		}
	}
	r.take(";")
	return s, nil
}
