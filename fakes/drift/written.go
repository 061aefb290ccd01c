package drift

import "strings"

// union reads a whole type.
func (m *module) union(r *reader, scope string) (*node, error) {
	r.take("|")
	n, err := m.both(r, scope)
	if err != nil || r.peek() != "|" {
		return n, err
	}
	u := &node{kind: "union", of: []*node{n}}
	for r.take("|") {
		if n, err = m.both(r, scope); err != nil {
			return nil, err
		}
		u.of = append(u.of, n)
	}
	return u, nil
}

// both reads an intersection.
func (m *module) both(r *reader, scope string) (*node, error) {
	r.take("&")
	n, err := m.postfix(r, scope)
	if err != nil || r.peek() != "&" {
		return n, err
	}
	b := &node{kind: "both", of: []*node{n}}
	for r.take("&") {
		if n, err = m.postfix(r, scope); err != nil {
			return nil, err
		}
		b.of = append(b.of, n)
	}
	return b, nil
}

// postfix reads a type with the brackets behind it.
func (m *module) postfix(r *reader, scope string) (*node, error) {
	n, err := m.single(r, scope)
	for err == nil && r.peek() == "[" {
		r.next()
		if r.take("]") {
			n = &node{kind: "list", of: []*node{n}}
			continue
		}
		if _, err = m.union(r, scope); err == nil { // T['field']
			err = r.want("]")
		}
		n = &node{kind: "any"}
	}
	return n, err
}

func (m *module) single(r *reader, scope string) (*node, error) {
	switch t := r.peek(); {
	case t == "(":
		return m.grouped(r, scope)
	case t == "{":
		return m.object(r, scope)
	case t == "[": // a tuple
		r.skip("[")
		return &node{kind: "any"}, nil
	case t != "" && strings.Contains("'\"`", t[:1]):
		return &node{kind: "words", name: strings.Trim(r.next(), "'\"`")}, nil
	case t == "typeof" || t == "keyof" || t == "readonly":
		r.next()
		return m.single(r, scope)
	}
	n := &node{kind: "name", name: r.next(), scope: scope}
	if n.name == "import" && r.peek() == "(" { // import("file").Name
		r.skip("(")
		for r.take(".") {
			r.next()
		}
		return &node{kind: "any"}, nil
	}
	if r.take("<") {
		for r.peek() != ">" && r.peek() != "" {
			of, err := m.union(r, scope)
			if err != nil {
				return nil, err
			}
			n.of = append(n.of, of)
			r.take(",")
		}
		if err := r.want(">"); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// grouped reads a type in parentheses, or a function's.
func (m *module) grouped(r *reader, scope string) (*node, error) {
	at := r.at
	r.skip("(")
	if r.take("=>") {
		_, err := m.union(r, scope)
		return &node{kind: "any"}, err
	}
	r.at = at + 1
	n, err := m.union(r, scope)
	if err == nil {
		err = r.want(")")
	}
	return n, err
}

// object reads the fields of an object, or a map.
func (m *module) object(r *reader, scope string) (*node, error) {
	n := &node{kind: "object", fields: map[string]*member{}}
	at := r.at
	if err := r.want("{"); err != nil {
		return nil, err
	}
	for r.peek() != "}" && r.peek() != "" {
		if r.peek() == "[" {
			r.skip("[")
			if r.take(":") {
				of, err := m.union(r, scope)
				if err != nil {
					return nil, err
				}
				n.kind, n.of = "map", []*node{of}
				r.take(";")
				continue
			}
			r.at = at // a mapped type: conditions on others
			r.skip("{")
			return &node{kind: "any"}, nil
		}
		name := r.next()
		if name == "readonly" && r.peek() != ":" && r.peek() != "?" {
			name = r.next()
		}
		name = strings.Trim(name, `'"`)
		optional := r.take("?")
		if r.peek() == "(" || r.peek() == "<" { // a method
			r.at = at
			r.skip("{")
			return &node{kind: "any"}, nil
		}
		if err := r.want(":"); err != nil {
			return nil, err
		}
		of, err := m.union(r, scope)
		if err != nil {
			return nil, err
		}
		n.fields[name] = &member{of, !optional}
		if !r.take(";") {
			r.take(",")
		}
	}
	return n, r.want("}")
}
