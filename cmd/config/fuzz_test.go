package config

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// FuzzFile: any file gives settings or problems, each of which is text for a person
// and names where it is; secrets of the environment are in none.
func FuzzFile(f *testing.F) {
	var paths []string
	for _, pattern := range []string{"example.yaml", "testdata/*.yaml", "testdata/*.json", "testdata/bad/*"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			f.Fatal(pattern, err)
		}
		paths = append(paths, found...)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(dir, "agenthost.yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, env := range [][]string{environ, append(environ[:len(environ):len(environ)], "ABX_AGENTS_CONFIG="+file)} {
			c, warnings, err := Load(Source{File: file, Environ: env, Home: "/home/u", Aliases: aliases})
			if c == nil {
				t.Fatal("no settings")
			}
			if err != nil && (err.Error() == "" || !utf8.ValidString(err.Error())) {
				t.Errorf("%q", err)
			}
			for _, w := range warnings {
				if w == "" || !utf8.ValidString(w) {
					t.Errorf("%q", w)
				}
			}
		}
	})
}
