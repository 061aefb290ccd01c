package drift

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Go reads the operations of the openai-go module in dir, without their types.
func Go(dir string) (*SDK, error) {
	s := &SDK{Name: "go", Types: map[string]*Type{}}
	for _, folder := range []string{"", "responses", "conversations", "webhooks"} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.go"))
		if err != nil {
			return nil, fmt.Errorf("read the Go module: %w", err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			src, err := os.ReadFile(file) //nolint:gosec // below the module's folder
			if err != nil {
				return nil, fmt.Errorf("read the Go module: %w", err)
			}
			s.Operations = append(s.Operations, goOperations(string(src))...)
		}
	}
	if len(s.Operations) == 0 {
		return nil, fmt.Errorf("read the Go module: %s has no operations", dir)
	}
	return s, nil
}

var (
	goMethod = regexp.MustCompile(`(?m)^func \(r \*(\w+)Service\) (\w+)\(`)
	goPath   = regexp.MustCompile(`path := (?:requestconfig\.FormatPath\()?"([^"]+)"`)
	goVerb   = regexp.MustCompile(`http\.Method(\w+), path`)
)

// goOperations finds the methods of a file that call the server.
func goOperations(src string) (list []Operation) {
	methods := goMethod.FindAllStringSubmatchIndex(src, -1)
	for i, at := range methods {
		end := len(src)
		if i+1 < len(methods) {
			end = methods[i+1][0]
		}
		body := src[at[0]:end]
		path, verb := goPath.FindStringSubmatch(body), goVerb.FindStringSubmatch(body)
		if path == nil || verb == nil {
			continue
		}
		o := Operation{
			Name: src[at[2]:at[3]] + "." + src[at[4]:at[5]], Method: strings.ToUpper(verb[1]),
			Path: "/" + strings.ReplaceAll(path[1], "%s", "{}"),
		}
		if slices.ContainsFunc(Scope, func(s string) bool { return strings.HasPrefix(o.Path, s) }) {
			list = append(list, o)
		}
	}
	return list
}
