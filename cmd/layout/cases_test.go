package layout

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// updating reports the flag -update, which adaptertest defines: the documents that
// are made of the sources are rewritten then.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

const (
	casesFile = "testdata/cases.txt"
	casesPage = "../../docs/cases.md"
	// casesMark begins the line of a test's comment that names the cases it holds:
	// their numbers, or a table of the package whose entries have a number each.
	casesMark = "//cases:"
)

// wholeKinds are the kinds of which every case must be held by a test.
var wholeKinds = []string{"http", "sse", "parser", "process", "restart", "limits"}

// byNumber says that a test is named after cases: TestCase04..., or TestCase and what a
// table of several has in common, whose entries are named by their numbers.
func byNumber(test string) bool {
	_, name, _ := strings.Cut(test, " ")
	return strings.HasPrefix(name, "TestCase")
}

// trouble is one case.
type trouble struct {
	number            int
	kind, text, later string
	tests             []string
}

// readCases reads the list in the order of its numbers.
func readCases(t *testing.T) []*trouble {
	t.Helper()
	text, err := os.ReadFile(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []*trouble
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		later, indented := strings.CutPrefix(line, "\tlater: ")
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case indented && len(list) > 0:
			list[len(list)-1].later = later
			continue
		}
		f := strings.SplitN(line, " ", 3)
		n, err := strconv.Atoi(f[0])
		if err != nil || len(f) != 3 || len(list) > 0 && list[len(list)-1].number >= n {
			t.Fatalf("%s: %q is no case, or not in order", casesFile, line)
		}
		list = append(list, &trouble{number: n, kind: f[1], text: f[2]})
	}
	return list
}

// testFiles parses the tests of the tree, by folder.
func testFiles(t *testing.T) map[string][]*ast.File {
	t.Helper()
	root := filepath.Join("..", "..")
	byFolder := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) && file != root {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		byFolder[filepath.ToSlash(rel)] = append(byFolder[filepath.ToSlash(rel)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return byFolder
}

// testNames are all tests, as "folder TestName".
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for folder, files := range testFiles(t) {
		for _, f := range files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
					out[folder+" "+fn.Name.Name] = true
				}
			}
		}
	}
	return out
}

// holders are the tests that say which cases they hold, by number, as
// "folder TestName".
func holders(t *testing.T) map[int][]string {
	t.Helper()
	out := map[int][]string{}
	for folder, files := range testFiles(t) {
		marks := 0
		for _, f := range files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Doc == nil || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
					continue
				}
				for _, c := range fn.Doc.List {
					words, ok := strings.CutPrefix(c.Text, casesMark)
					if !ok {
						continue
					}
					marks++
					for _, n := range numbers(t, fn.Name.Name, words, files) {
						out[n] = append(out[n], folder+" "+fn.Name.Name)
					}
				}
			}
			for _, g := range f.Comments {
				for _, c := range g.List {
					if strings.HasPrefix(c.Text, casesMark) {
						marks--
					}
				}
			}
		}
		if marks != 0 {
			t.Errorf("%s: %d lines %s are not in the comment of a test", folder, -marks, casesMark)
		}
	}
	for n := range out {
		slices.Sort(out[n])
		out[n] = slices.Compact(out[n])
	}
	return out
}

func skipped(dir string) bool {
	return strings.HasPrefix(dir, ".") || slices.Contains([]string{"testdata", "build", "bin", "node_modules"}, dir)
}

// numbers reads what stands behind the mark.
func numbers(t *testing.T, test, words string, files []*ast.File) []int {
	t.Helper()
	var out []int
	for word := range strings.SplitSeq(words, ",") {
		if n, err := strconv.Atoi(word); err == nil {
			out = append(out, n)
			continue
		}
		table := numbersOf(word, files)
		if len(table) == 0 {
			t.Errorf("%s: %q is neither a number nor a table with numbers", test, word)
		}
		out = append(out, table...)
	}
	return out
}

// numbersOf lists the values of the field number in a table.
func numbersOf(name string, files []*ast.File) []int {
	var out []int
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok || len(v.Names) != 1 || v.Names[0].Name != name {
					continue
				}
				ast.Inspect(v, func(n ast.Node) bool {
					kv, ok := n.(*ast.KeyValueExpr)
					if !ok {
						return true
					}
					key, named := kv.Key.(*ast.Ident)
					lit, literal := kv.Value.(*ast.BasicLit)
					if named && literal && key.Name == "number" {
						if i, err := strconv.Atoi(lit.Value); err == nil {
							out = append(out, i)
						}
					}
					return true
				})
			}
		}
	}
	return out
}

// TestCasesPage makes docs/cases.md of the list and of what the tests say. A test
// that is gone is missing from the page, so its removal shows.
func TestCasesPage(t *testing.T) {
	t.Parallel()
	list, held := readCases(t), holders(t)
	byKind := map[string][]*trouble{}
	for _, c := range list {
		c.tests = held[c.number]
		delete(held, c.number)
		byKind[c.kind] = append(byKind[c.kind], c)
		switch {
		case slices.Contains(wholeKinds, c.kind) && len(c.tests) > 0 && !slices.ContainsFunc(c.tests, byNumber):
			t.Errorf("no test of case %d (%s) is named after it: %v", c.number, c.kind, c.tests)
		case len(c.tests) > 0:
		case slices.Contains(wholeKinds, c.kind):
			t.Errorf("no test says that it holds case %d (%s)", c.number, c.kind)
		case c.later == "":
			t.Errorf("no test says that it holds case %d, and %s does not say what will", c.number, casesFile)
		}
	}
	for n, tests := range held {
		t.Errorf("%v hold case %d, which is not in %s", tests, n, casesFile)
	}
	page := writeCases(byKind)
	if updating() {
		if err := os.WriteFile(casesPage, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(casesPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page) {
		t.Errorf("%s is not what the tests say; read the change and run go test ./cmd/layout -run %s -update", casesPage, t.Name())
	}
}

func writeCases(byKind map[string][]*trouble) []byte {
	var b bytes.Buffer
	b.WriteString(`# Trouble cases

What went wrong in other hosts of coding agents, and what must happen here. This
page is written by a test of cmd/layout, from its list of cases and from the tests
themselves: a test says in its comment which cases it holds (` + "`" + casesMark + "1,2`" + `).
`)
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		fmt.Fprintf(&b, "\n## %s\n\n| case | what must happen | held by |\n|---|---|---|\n", kind)
		for _, c := range byKind[kind] {
			var by []string
			for _, t := range c.tests {
				folder, name, _ := strings.Cut(t, " ")
				by = append(by, fmt.Sprintf("`%s` (%s)", name, path.Clean(folder)))
			}
			if c.later != "" {
				by = append(by, "later: "+c.later)
			}
			fmt.Fprintf(&b, "| %d | %s | %s |\n", c.number, c.text, strings.Join(by, ", "))
		}
	}
	return b.Bytes()
}
