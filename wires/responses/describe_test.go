package responses_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/openapi"
	"github.com/agenthost/agenthost/wires/openapi/openapitest"
	"github.com/agenthost/agenthost/wires/responses"
)

// described holds every answer in this package's tests against the descriptions.
var described = sync.OnceValues(func() (*openapitest.Checker, error) {
	return openapitest.Wire(apierr.Envelope(), responses.Operations())
})

// checkAnswer holds a finished answer against its operation's description.
func checkAnswer(t testing.TB, operation string, ctx *fasthttp.RequestCtx) {
	c, err := described()
	if err != nil {
		t.Error(err)
		return
	}
	if _, ok := responses.Operations()[operation]; !ok || ctx.Hijacked() {
		return // one that is not built
	}
	if err := c.Answer(operation, ctx.Response.StatusCode(), ctx.Response.Body()); err != nil {
		t.Error(err)
	}
}

func TestFramesAreAsDescribed(t *testing.T) {
	t.Parallel()
	c, err := openapitest.Wire(apierr.Envelope(), responses.Operations())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range c.Stream("responses.create", b) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if unseen := c.Unseen("responses.create"); len(unseen) > 0 {
		t.Errorf("described, and in no golden file: %s", unseen)
	}
}

// bodyOf is the described body of a create, and the schemas that it names.
func bodyOf(t *testing.T) (*openapi.Schema, map[string]*openapi.Schema) {
	t.Helper()
	book := openapi.NewBook()
	ref := book.Of(responses.Operations()["responses.create"].Body, openapi.Read)
	if err := book.Err(); err != nil {
		t.Fatal(err)
	}
	return book.Schemas[strings.TrimPrefix(ref.Ref, "#/components/schemas/")], book.Schemas
}

func TestEveryParameterIsDescribed(t *testing.T) {
	t.Parallel()
	body, _ := bodyOf(t)
	have := []string{}
	for name := range body.Properties {
		have = append(have, name)
	}
	want := append(responses.FieldNames(), "input")
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("described\n %s\nread\n %s", have, want)
	}
}

// Each parameter is read: a value of the wrong type is refused at its place.
func TestParametersAreReadAsDescribed(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("x")))
	_, all := bodyOf(t)
	for _, b := range []struct{ schema, at, body string }{
		{"ResponsesCreateParam", "", `{%}`},
		{"ResponsesReasoningParam", "reasoning", `{"reasoning":{%}}`},
		{"ResponsesTextParam", "text", `{"text":{%}}`},
		{"ResponsesFormatParam", "text.format", `{"text":{"format":{"type":"json_schema","schema":{},%}}}`},
		{"ResponsesConversationParam", "conversation", `{"conversation":{%}}`},
		{"ResponsesItemParam", "input[0]", `{"input":[{%}]}`},
		{"ResponsesPartParam", "input[0].content", `{"input":[{"role":"user","content":[{%}]}]}`},
	} {
		s := all[b.schema]
		if s == nil {
			t.Errorf("no schema %s", b.schema)
			continue
		}
		for name, p := range s.Properties {
			if p.Type == nil && p.AnyOf == nil && p.Const == nil && p.Ref == "" {
				continue // anything goes
			}
			value := `[[7]]`
			if kind, _ := p.Type.([]string); slices.Contains(kind, "array") {
				value = `7`
			}
			body := map[string]json.RawMessage{"model": json.RawMessage(`"codex"`), "input": json.RawMessage(`"x"`)}
			wrapped := strings.Replace(b.body, "%", `"`+name+`":`+value, 1)
			if err := json.Unmarshal([]byte(wrapped), &body); err != nil {
				t.Fatal(err, wrapped)
			}
			sent, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			a := c.create(string(sent))
			var e struct{ Error struct{ Param string } }
			if err := json.Unmarshal(a.body, &e); err != nil || a.status != 400 || !strings.HasPrefix(e.Error.Param, strings.TrimPrefix(b.at+"."+name, ".")) && e.Error.Param != b.at {
				t.Errorf("%s.%s is described as %v; %s was answered with %d %s", b.schema, name, p.Type, bytes.TrimSpace(sent), a.status, a.body)
			}
		}
	}
}
