package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// served are the folders whose code runs in a server that has secrets.
var served = []string{"actors", "adapters", "wires", "server", "cmd/agenthost", "cmd/config", "cmd/warden"}

// unserved are below them and run in tests only, or are the guard itself.
var unserved = []string{"actors/crash", "actors/store/storetest", "actors/fold/foldtest", "adapters/adaptertest"}

// begun are the functions that a library calls in goroutines of its own, by folder.
var begun = map[string][]string{
	"server":          {"serve", "expect", "malformed", "announced", "Collect"},
	"wires/sse":       {"stream.serve", "watch"},
	"actors/endpoint": {"call", "say"},
}

// Every goroutine of a server, and every function that a library calls in one of its
// own, says a panic without the secrets in it: it begins with defer crash.Guard().
func TestGoroutinesAreGuarded(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range packages(t) {
		if !slices.ContainsFunc(served, func(f string) bool { return within(p.folder, f) }) || slices.ContainsFunc(unserved, func(f string) bool { return within(p.folder, f) }) {
			continue
		}
		c := read(t, p.folder)
		seen += c.check(t)
		for _, name := range begun[p.folder] {
			if f := c.functions[name]; len(f) == 0 {
				t.Errorf("%s has no function %s: this test looks at the wrong one", p.folder, name)
			} else if !slices.ContainsFunc(f, c.guarded) {
				t.Errorf("%s: %s is called by a library and does not begin with defer crash.Guard()", p.folder, name)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d goroutines were found: this test looks at the wrong tree", seen)
	}
}

// The test is of use only if it sees what is missing.
func TestUnguardedGoroutinesAreSeen(t *testing.T) {
	t.Parallel()
	const guard = "defer crash.Guard();"
	for text, sound := range map[string]bool{
		"go func() { " + guard + " work() }()":                true,
		"go func() { defer mu.Unlock(); " + guard + " }()":    true,
		"go func() { work(); " + guard + " }()":               false,
		"go func() { work() }()":                              false,
		"go work()":                                           false,
		"go safe()":                                           true,
		"go s.safe()":                                         true,
		"go elsewhere.Work()":                                 false,
		"one := func() { " + guard + " }; go one()":           true,
		"one := func() { work() }; go one()":                  false,
		"time.AfterFunc(1, func() { work() })":                false,
		"time.AfterFunc(1, func() { " + guard + " work() })":  true,
		"time.AfterFunc(1, s.say)":                            false,
		"context.AfterFunc(ctx, cancel)":                      true,
		"wg.Go(func() { work() })":                            false,
		"wg.Go(func() { " + guard + " work() })":              true,
		"s.wg.Go(work)":                                       false,
		"s.work.Go(func() { work() })":                        true, // no WaitGroup: tasks guards
		"new(errgroup.Group).Go(func() error { return nil })": true, // likewise; no errgroup is in go.mod
	} {
		src := "package p\nvar wg sync.WaitGroup\nfunc work() {}\nfunc (s *t) say() {}\nfunc safe() { " + guard + " }\nfunc f() {\n" + text + "\n}\n"
		c := &code{files: token.NewFileSet(), functions: map[string][]*ast.BlockStmt{}}
		f, err := parser.ParseFile(c.files, "p.go", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.add(f)
		if bad := c.unguarded(); (len(bad) == 0) != sound {
			t.Errorf("%s: %v", text, bad)
		}
	}
}

// code is a package's sources without tests.
type code struct {
	files     *token.FileSet
	list      []*ast.File
	functions map[string][]*ast.BlockStmt // by name, and by type and name; literals by the variable
	groups    []string                    // names of fields and variables that are sync.WaitGroups
	found     int
}

func read(t *testing.T, folder string) *code {
	t.Helper()
	c := &code{files: token.NewFileSet(), functions: map[string][]*ast.BlockStmt{}}
	names, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(c.files, strings.TrimPrefix(filepath.ToSlash(name), "../../"), text, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.add(f)
	}
	return c
}

func (c *code) add(f *ast.File) {
	c.list = append(c.list, f)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			c.functions[n.Name.Name] = append(c.functions[n.Name.Name], n.Body)
			if n.Recv != nil {
				of := n.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if id, ok := of.(*ast.Ident); ok {
					c.functions[id.Name+"."+n.Name.Name] = append(c.functions[id.Name+"."+n.Name.Name], n.Body)
				}
			}
		case *ast.AssignStmt:
			for i, from := range n.Rhs {
				lit, isFunc := from.(*ast.FuncLit)
				if id, ok := n.Lhs[i].(*ast.Ident); ok && isFunc {
					c.functions[id.Name] = append(c.functions[id.Name], lit.Body)
				}
			}
		case *ast.Field:
			c.group(n.Type, n.Names)
		case *ast.ValueSpec:
			c.group(n.Type, n.Names)
		}
		return true
	})
}

func (c *code) group(of ast.Expr, names []*ast.Ident) {
	if s, ok := of.(*ast.SelectorExpr); ok && s.Sel.Name == "WaitGroup" {
		for _, n := range names {
			c.groups = append(c.groups, n.Name)
		}
	}
}

func (c *code) check(t *testing.T) (found int) {
	t.Helper()
	for _, at := range c.unguarded() {
		t.Errorf("%s: a goroutine that does not begin with defer crash.Guard()", at)
	}
	return c.found
}

// unguarded are the places that start a goroutine whose function, here or of this
// package, does not begin with the guard.
func (c *code) unguarded() (places []string) {
	c.found = 0
	for _, f := range c.list {
		ast.Inspect(f, func(n ast.Node) bool {
			var run ast.Expr
			switch n := n.(type) {
			case *ast.GoStmt:
				run = n.Call.Fun
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				switch {
				case !ok || len(n.Args) == 0:
				case s.Sel.Name == "AfterFunc" && !is(n.Args[1], "cancel"): // the library's own
					run = n.Args[1]
				case s.Sel.Name == "Go" && slices.Contains(c.groups, last(s.X)):
					run = n.Args[0]
				}
			}
			if run == nil {
				return true
			}
			c.found++
			if !c.safe(run) {
				places = append(places, c.files.Position(run.Pos()).String())
			}
			return true
		})
	}
	return places
}

// safe says that run is guarded.
func (c *code) safe(run ast.Expr) bool {
	if lit, ok := run.(*ast.FuncLit); ok {
		return c.guarded(lit.Body)
	}
	list := c.functions[last(run)] // of whichever type of this package
	return len(list) > 0 && slices.ContainsFunc(list, c.guarded)
}

// guarded says that the guard is among the defers that a function begins with.
func (c *code) guarded(body *ast.BlockStmt) bool {
	for _, s := range body.List {
		if r, ok := s.(*ast.ReturnStmt); ok && len(r.Results) == 1 { // one that makes the function
			lit, ok := r.Results[0].(*ast.FuncLit)
			return ok && c.guarded(lit.Body)
		}
		d, ok := s.(*ast.DeferStmt)
		if !ok {
			return false
		}
		if f, ok := d.Call.Fun.(*ast.SelectorExpr); ok && is(f.X, "crash") && f.Sel.Name == "Guard" {
			return true
		}
	}
	return false
}

func is(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// last is the last word of a name: work of b.work.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
