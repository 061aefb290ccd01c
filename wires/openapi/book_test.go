package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/openapi"
)

type place struct {
	Row  int  `json:"row"`
	Seat *int `json:"seat" min:"1"`
}

type cat struct {
	Type string `json:"type" enum:"cat"`
}

type dog struct {
	Type string `json:"type" enum:"dog"`
	Pup  *dog   `json:"pup,omitempty"`
}

type zoo struct {
	place
	State   string            `json:"state" enum:"open,shut" doc:"by day"`
	Word    *string           `json:"word" enum:"a,b"`
	Animals []any             `json:"animals"`
	King    any               `json:"king"`
	Raw     json.RawMessage   `json:"raw" as:"object"`
	Labels  map[string]string `json:"labels"`
	Visits  []string          `json:"visits,omitempty" maxitems:"0"`
	Names   []string          `json:"names" null:"true"`
	hidden  int
}

func (zoo) Variants() map[string][]any {
	return map[string][]any{"animals": {cat{}, dog{}}, "king": {cat{}, nil}}
}

// body is a request's.
type body struct {
	Must string `json:"must" need:"true"`
	May  place  `json:"may"`
	Mode string `json:"mode" enum:"x"`
}

func (body) Closed() {}

func schemas(t *testing.T, v any, d openapi.Direction) string {
	t.Helper()
	_ = zoo{}.hidden
	book := openapi.NewBook()
	if ref := book.Of(v, d); ref.Ref == "" {
		t.Fatal("no reference")
	}
	if err := book.Err(); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(book.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSchemasSayWhatIsWritten(t *testing.T) {
	t.Parallel()
	const want = `{"Openapi_testCat":{"type":"object","properties":{"type":{"type":"string","const":"cat"}},"required":["type"]},` +
		`"Openapi_testDog":{"type":"object","properties":{"pup":{"$ref":"#/components/schemas/Openapi_testDog"},"type":{"type":"string","const":"dog"}},"required":["type"]},` +
		`"Openapi_testZoo":{"type":"object","properties":{` +
		`"animals":{"type":"array","items":{"anyOf":[{"$ref":"#/components/schemas/Openapi_testCat"},{"$ref":"#/components/schemas/Openapi_testDog"}]}},` +
		`"king":{"anyOf":[{"$ref":"#/components/schemas/Openapi_testCat"},{"type":"null"}]},` +
		`"labels":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"names":{"type":["array","null"],"items":{"type":"string"}},` +
		`"raw":{"type":"object"},"row":{"type":"integer"},"seat":{"type":["integer","null"],"minimum":1},` +
		`"state":{"description":"by day","type":"string","enum":["open","shut"]},` +
		`"visits":{"type":"array","items":{"type":"string"},"maxItems":0},` +
		`"word":{"type":["string","null"],"enum":["a","b",null]}},` +
		`"required":["animals","king","labels","names","raw","row","seat","state","word"]}}`
	if got := schemas(t, zoo{}, openapi.Written); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSchemasSayWhatIsRead(t *testing.T) {
	t.Parallel()
	const want = `{"Openapi_testParam":{"type":"object","properties":{` +
		`"may":{"anyOf":[{"$ref":"#/components/schemas/Openapi_testPlaceParam"},{"type":"null"}]},` +
		`"mode":{"type":["string","null"],"enum":["x",null]},"must":{"type":"string"}},"required":["must"],"additionalProperties":false},` +
		`"Openapi_testPlaceParam":{"type":"object","properties":{"row":{"type":["integer","null"]},"seat":{"type":["integer","null"],"minimum":1}}}}`
	got := strings.ReplaceAll(schemas(t, body{}, openapi.Read), "BodyParam", "Param")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

type vague struct {
	Any any `json:"any"`
}

type mistaken struct {
	Name string `json:"name"`
}

func (mistaken) Variants() map[string][]any { return map[string][]any{"nmae": {""}} }

func TestWhatCannotBeDescribedIsAnError(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{"Any": vague{}, "nmae": mistaken{}} {
		book := openapi.NewBook()
		book.Of(v, openapi.Written)
		if err := book.Err(); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(name)) {
			t.Errorf("%T: %v", v, err)
		}
	}
	routes := []openapi.Route{{Method: "GET", Path: "/a", ID: "a"}, {Method: "GET", Path: "/b", ID: "b", Unavailable: true}}
	_, err := openapi.Build(openapi.About{Envelope: cat{}}, routes, map[string]openapi.Operation{"b": {}, "c": {}})
	for _, want := range []string{"operation a has no description", "operation b is described and not built", "c is described and has no route"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q in %v", want, err)
		}
	}
}
