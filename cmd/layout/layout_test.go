package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agenthost/agenthost"

// protoactor is the library that only package actors may name.
const protoactor = "github.com/asynkron/protoactor-go"

// room is a folder with what its packages may import of ours: folders, each with
// everything below it, or a single package when it ends in "$".
type room struct {
	folder string
	may    []string
}

// rooms is the house; the first entry that contains a package holds for it.
var rooms = []room{
	{"actors/event", nil},
	{"actors/spec", []string{"actors/event"}},
	{"actors/agent", []string{"actors/event", "actors/spec"}},
	{"actors/policy", []string{"actors/event", "actors/spec"}},
	{"actors/queue", []string{"actors/event", "actors/spec"}},
	{"actors/budget", []string{"actors/event", "actors/spec"}},
	{"actors/turn", []string{"actors/event", "actors/spec", "actors/agent", "actors/budget"}},
	{"actors/fold", []string{"actors/event", "actors/spec", "actors/fold"}},
	{"actors/crash", nil},
	{"actors/redact", []string{"actors/event", "actors/spec"}},
	{"actors/relay", []string{"actors/crash", "actors/event", "actors/redact"}},
	{"actors/store", []string{"actors/crash", "actors/event", "actors/spec", "actors/store"}},
	{"actors/process", []string{"actors/crash", "actors/process"}},
	{"actors/isolation", []string{"actors/crash"}},
	{"actors/outputs", nil},
	{"actors/secret", []string{"actors/event", "actors/spec"}},
	{"actors/toolbox", []string{"actors/event", "actors/spec", "actors/agent"}},
	{"actors", []string{"actors"}},
	{"adapters", []string{"actors/agent", "actors/event", "actors/spec", "adapters"}},
	{"wires", []string{"actors/crash", "actors/event", "actors/spec", "actors/fold", "actors/policy", "wires"}},
	{"server", []string{"wires", "actors", "server"}},
	{"fakes", []string{"fakes"}},
	{"bench", []string{"fakes", "actors", "bench"}},
	{"cmd", []string{""}},
}

// pure rooms do no I/O: no packages of the standard library that could.
var pure = []string{"actors/event", "actors/spec", "actors/agent", "actors/policy", "actors/queue", "actors/budget", "actors/turn", "actors/fold"}

var impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "log"}

// pkg is a folder with Go files.
type pkg struct {
	folder  string
	imports map[string][]string // import path -> files, without tests
	tests   map[string][]string
	doc     bool
}

// packages reads the tree's sources.
func packages(t *testing.T) []*pkg {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	byFolder := map[string]*pkg{}
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "build" || name == "bin" || name == "node_modules") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil && file != root {
				return filepath.SkipDir // a module of its own: see TestExampleModules
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		p := byFolder[path.Dir(rel)]
		if p == nil {
			p = &pkg{folder: path.Dir(rel), imports: map[string][]string{}, tests: map[string][]string{}}
			byFolder[p.folder] = p
		}
		into := p.imports
		if strings.HasSuffix(file, "_test.go") {
			into = p.tests
		} else if f.Doc != nil && len(strings.TrimSpace(f.Doc.Text())) > 40 {
			p.doc = true
		}
		for _, i := range f.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			into[name] = append(into[name], rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []*pkg
	for _, p := range byFolder {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *pkg) int { return strings.Compare(a.folder, b.folder) })
	return list
}

func within(folder, of string) bool {
	return of == "" || folder == of || strings.HasPrefix(folder, of+"/")
}

// roomOf finds the room of a package.
func roomOf(folder string) *room {
	for i := range rooms {
		if within(folder, rooms[i].folder) {
			return &rooms[i]
		}
	}
	return nil
}

func TestImportsGoAlongTheArrows(t *testing.T) {
	t.Parallel()
	list := packages(t)
	if len(list) < 10 {
		t.Fatalf("only %d packages found", len(list))
	}
	for _, p := range list {
		r := roomOf(p.folder)
		if r == nil {
			t.Errorf("%s is no room of the house", p.folder)
			continue
		}
		for name, files := range p.imports {
			ours, ok := strings.CutPrefix(name, module+"/")
			if !ok || ours == p.folder {
				continue
			}
			if !slices.ContainsFunc(r.may, func(may string) bool { return within(ours, may) }) {
				t.Errorf("%s imports %s; %s may import only %v", files[0], ours, r.folder, r.may)
			}
		}
		for _, one := range impure {
			if files := p.imports[one]; slices.Contains(pure, p.folder) && len(files) > 0 {
				t.Errorf("%s imports %s, and %s is pure", files[0], one, p.folder)
			}
		}
	}
}

func TestOnlyActorsNamesTheActorLibrary(t *testing.T) {
	t.Parallel()
	named := false
	for _, p := range packages(t) {
		for _, imports := range []map[string][]string{p.imports, p.tests} {
			for name, files := range imports {
				if !strings.HasPrefix(name, protoactor) {
					continue
				}
				named = true
				if p.folder != "actors" {
					t.Errorf("%s names %s", files[0], name)
				}
			}
		}
	}
	if !named {
		t.Error("no package names the actor library: this test looks at the wrong tree")
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if len(p.imports) == 0 && len(p.tests) > 0 && !p.doc { // tests only
			continue
		}
		if !p.doc {
			t.Errorf("%s has no package comment", p.folder)
		}
		if main := slices.ContainsFunc(p.files(), func(f string) bool { return strings.HasSuffix(f, "/main.go") }); main {
			continue // a program's comment stands in its main file
		}
		if _, err := os.Stat(filepath.Join("../..", p.folder, "doc.go")); err != nil {
			t.Errorf("%s has no doc.go", p.folder)
		}
	}
}

// files lists the files that import anything.
func (p *pkg) files() []string {
	var out []string
	for _, files := range p.imports {
		out = append(out, files...)
	}
	return out
}

func TestTopLevelIsFixed(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"actors", "adapters", "bench", "cmd", "docs", "examples", "fakes", "server", "wires", "bin", "build",
		"go.mod", "go.sum", "Makefile", "README.md", "CHANGELOG.md", "LICENSE", "SECURITY.md", "Dockerfile",
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && !slices.Contains(allowed, name) {
			t.Errorf("%s stands at the top level", name)
		}
	}
}

// The modules in docs/examples stand for those of other people: they use what such a
// module can use, and make test builds them.
func TestExampleModules(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	mods, err := filepath.Glob("../../docs/examples/*/go.mod")
	if err != nil || len(mods) == 0 {
		t.Fatalf("no modules: %v", err)
	}
	for _, mod := range mods {
		folder := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(filepath.ToSlash(mod), "../../")))
		if !strings.Contains(string(makefile), "cd "+folder+" && go vet ./... && go test ") {
			t.Errorf("make test does not test %s", folder)
		}
		text, err := os.ReadFile(mod)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "replace "+module+" => ../../..") {
			t.Errorf("%s does not build against this tree", folder)
		}
	}
}
