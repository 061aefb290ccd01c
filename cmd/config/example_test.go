package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// samples is the example with its samples in force, as its first lines say.
func samples() string {
	var out []string
	for _, line := range strings.Split(Example, "\n") {
		sample, ok := strings.CutPrefix(line, "#")
		if !ok || !strings.HasPrefix(sample, "  ") {
			out = append(out, line)
			continue
		}
		last := len(out) - 1
		out[last] = strings.TrimSuffix(strings.TrimSuffix(out[last], " []"), " {}")
		out = append(out, sample)
	}
	return strings.Join(out, "\n")
}

// shapes lists every key below a type, with * for names of one's own and [] for
// any place in a list.
func shapes(t reflect.Type, path string, out map[string]bool) {
	if path != "" {
		out[path] = true
	}
	switch t.Kind() {
	case reflect.Pointer:
		shapes(t.Elem(), path, out)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			shapes(t.Elem(), path+"[]", out)
		}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Struct {
			shapes(t.Elem(), path+".*", out)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			switch key := t.Field(i).Tag.Get("yaml"); key {
			case "-", "":
			case ",rest":
				shapes(t.Field(i).Type.Elem(), path+".*", out)
			default:
				shapes(t.Field(i).Type, join(path, key), out)
			}
		}
	}
}

var (
	listPlace = regexp.MustCompile(`\[\d+\]`)
	modeName  = regexp.MustCompile(`^(agents\.[^.]+\.modes)\.[^.]+`)
	ownName   = regexp.MustCompile(`^(agents|definitions\[\]\.mcp_servers)\.([^.]+)`)
)

func TestExampleShowsEveryKey(t *testing.T) {
	t.Parallel()
	l := &loader{src: Source{Home: "/home/u"}, cfg: Default("/home/u", false), origins: map[string]origin{}, env: map[string]string{
		"GIT_TOKEN": "x", "NPM_TOKEN": "x", "DOCS_TOKEN": "x", "FILES_KEY": "x", "REVIEWER_LLM_URL": "x", "REVIEWER_LLM_KEY": "x", "APP_TOKEN": "0123456789abcdef"}}
	l.decode("samples", []byte(samples()), structOf(l.cfg))
	l.check()
	for _, p := range l.problems {
		if !strings.Contains(p.What, "not built yet") || p.Key != "definitions[0].workspace.git" {
			if p.Key == "auth.tokens[1].token_file" && strings.Contains(p.What, "no such file") { // it is an example
				continue
			}
			t.Error(p)
		}
	}
	shown := map[string]bool{}
	for at := range l.origins {
		at = listPlace.ReplaceAllString(at, "[]")
		at = modeName.ReplaceAllString(at, "$1.*")
		shown[ownName.ReplaceAllString(at, "$1.*")] = true
		shown[at] = true
	}
	all := map[string]bool{}
	shapes(reflect.TypeFor[Config](), "", all)
	if len(all) < 120 {
		t.Fatalf("only %d keys found", len(all))
	}
	for key := range all {
		if !shown[key] {
			t.Errorf("the example does not show %s", key)
		}
	}
}

func TestExampleIsExplained(t *testing.T) {
	t.Parallel()
	if n := strings.Count(Example, "#"); n < 60 {
		t.Errorf("only %d comments", n)
	}
	for i, line := range strings.Split(Example, "\n") {
		if len(line) > 100 || strings.ContainsAny(line, "\t") || strings.TrimRight(line, " ") != line {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
}
