package drift

// SDK is what an installed package can call.
type SDK struct {
	Name       string           `json:"sdk"`
	Version    string           `json:"version"`
	Operations []Operation      `json:"operations"`
	Types      map[string]*Type `json:"types"`
}

// Operation is a call of an SDK. Of Answer, List and Events it has what it can be
// answered with; List is the type of a page's elements.
type Operation struct {
	Name   string `json:"name"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  *Expr  `json:"query"`
	Body   *Expr  `json:"body"`
	Answer *Expr  `json:"answer"`
	List   *Expr  `json:"list"`
	Events *Expr  `json:"events"`
}

// Type is a named object.
type Type struct {
	Name   string            `json:"name"`
	Fields map[string]*Field `json:"fields"`
}

// Field of a Type.
type Field struct {
	Type     *Expr `json:"type"`
	Required bool  `json:"required"`
}

// Expr is a type where it is used. Kind is object, union, list, map, words, null,
// string, int, float, bool or any.
type Expr struct {
	Kind   string   `json:"kind"`
	Words  []string `json:"words,omitempty"`
	Of     []*Expr  `json:"of,omitempty"`
	Object string   `json:"object,omitempty"`
}

var anything = &Expr{Kind: "any"}

// Scope are the beginnings of the paths that we serve; other products of the
// same SDK are none of ours.
var Scope = []string{"/agents", "/vaults", "/responses", "/conversations", "/models", "/files", "/webhook"}
