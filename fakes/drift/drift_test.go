package drift

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/fakes/tools"
)

const documentFile = "../../docs/openapi.json"

// The installed SDKs have nothing that we lack without a reason, and no reason
// outlives its gap.
func TestEveryGapHasAReason(t *testing.T) {
	t.Parallel()
	tools.Need(t, PythonTool)
	tools.Need(t, JavaScriptTool)
	doc, err := ReadDocument(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Installed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known := Known()
	used := map[*KnownGap]bool{}
	for _, sdk := range all {
		gaps, err := Gaps(sdk, doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(sdk.Operations) < 90 || len(sdk.Types) < 800 {
			t.Errorf("%s %s has only %d operations and %d types", sdk.Name, sdk.Version, len(sdk.Operations), len(sdk.Types))
		}
		for _, gap := range gaps {
			reason := false
			for _, k := range known {
				if k.Matches(gap) {
					used[k], reason = true, true
				}
			}
			if !reason {
				t.Errorf("%s %s: %s", sdk.Name, sdk.Version, gap)
			}
		}
	}
	for _, k := range known {
		switch {
		case k.Reason == "":
			t.Errorf("known.txt: no reason: %s", k.Line)
		case !used[k]:
			t.Errorf("known.txt: no such gap any more: %s", k.Line)
		}
	}
}

// toy is a document of one operation with a stream.
const toy = `{"paths":{"/v1/things/{id}":{"parameters":[],"post":{
 "parameters":[{"name":"Key","in":"header","schema":{"type":"string"}}],
 "requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Body"}}}},
 "responses":{"200":{"content":{
  "application/json":{"schema":{"$ref":"#/components/schemas/Thing"}},
  "text/event-stream":{"schema":{"type":"string"},"x-sse-events":{"thing.done":{"$ref":"#/components/schemas/Frame","properties":{"type":{"const":"thing.done"}}}}}}},
  "default":{"$ref":"#/components/responses/Error"}}},
  "delete":{"x-unavailable":true,"responses":{"501":{"$ref":"#/components/responses/Error"}}}}},
 "components":{"schemas":{
  "Body":{"type":"object","properties":{"mode":{"type":["string","null"],"enum":["a","b",null]},"must":{"type":"string"}},"required":["must"]},
  "Frame":{"type":"object","properties":{"type":{"type":"string"},"n":{"type":"integer"}},"required":["n","type"]},
  "Thing":{"type":"object","properties":{"id":{"type":"string"},"state":{"type":"string","enum":["on","odd"]},
   "parts":{"type":"array","items":{"anyOf":[{"$ref":"#/components/schemas/Text"}]}},"maybe":{"type":["string","null"]}},"required":["id","maybe","parts","state"]},
  "Text":{"type":"object","properties":{"type":{"type":"string","const":"text"},"text":{"type":"string"}},"required":["text","type"]}}}}`

// theirs is an SDK of the same, with more.
func theirs() *SDK {
	text, null := &Expr{Kind: "string"}, &Expr{Kind: "null"}
	word := func(w ...string) *Expr { return &Expr{Kind: "words", Words: w} }
	object := func(name string) *Expr { return &Expr{Kind: "object", Object: name} }
	or := func(of ...*Expr) *Expr { return &Expr{Kind: "union", Of: of} }
	return &SDK{
		Operations: []Operation{
			{
				Method: "POST", Path: "/things/{thing_id}", Body: or(object("Body"), null), Answer: object("Thing"),
				Events: or(object("Done"), object("Late")),
			},
			{Method: "DELETE", Path: "/things/{thing_id}"},
			{Method: "GET", Path: "/things"},
		},
		Types: map[string]*Type{
			"Body": {Fields: map[string]*Field{
				"mode": {Type: or(word("a", "c"), null)}, "must": {Type: text}, "more": {Type: text}, "Key": {Type: text}, "thing_id": {Type: text},
			}},
			"Thing": {Fields: map[string]*Field{
				"id": {Type: text, Required: true}, "state": {Type: word("on"), Required: true}, "maybe": {Type: text, Required: true},
				"parts": {Type: &Expr{Kind: "list", Of: []*Expr{or(object("Text"), object("Image"))}}, Required: true}, "lost": {Type: text, Required: true},
			}},
			"Text":  {Fields: map[string]*Field{"type": {Type: word("text")}, "text": {Type: text}, "cited": {Type: text}}},
			"Image": {Fields: map[string]*Field{"type": {Type: word("image")}}},
			"Done":  {Fields: map[string]*Field{"type": {Type: word("thing.done")}, "n": {Type: &Expr{Kind: "int"}}}},
			"Late":  {Fields: map[string]*Field{"type": {Type: word("thing.late")}}},
		},
	}
}

func TestGapsOfEachKindAreFound(t *testing.T) {
	t.Parallel()
	doc := &Document{}
	if err := json.Unmarshal([]byte(toy), doc); err != nil {
		t.Fatal(err)
	}
	got, err := Gaps(theirs(), doc)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`DELETE /things/{} is not built`,
		`GET /things is not served`,
		`POST /things/{} answer.lost is missing and required`,
		`POST /things/{} answer.maybe may be null`,
		`POST /things/{} answer.parts[] is never image`,
		`POST /things/{} answer.parts[].cited is missing`,
		`POST /things/{} answer.state may be "odd", which is not known there`,
		`POST /things/{} body.mode cannot be "c"`,
		`POST /things/{} body.more is missing`,
		`POST /things/{} body.must is needed`,
		`POST /things/{} event thing.late is never sent`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("gaps\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDeclarationsAreRead(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/things.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	m, err := declarations("resources/things.d.ts", string(src))
	if err != nil {
		t.Fatal(err)
	}
	l := newLibrary()
	l.modules[m.file] = m
	code, err := os.ReadFile("testdata/things.js")
	if err != nil {
		t.Fatal(err)
	}
	l.operations(m.file, string(code))
	got, err := json.MarshalIndent(l.sdk, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/things.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(got)) != strings.TrimSpace(string(want)) {
		t.Errorf("read\n%s", got)
	}
}

func TestAStarStandsForAnyText(t *testing.T) {
	t.Parallel()
	for line, gaps := range map[string][2]string{
		"a b":          {"a b", "a bc"},
		"* b":          {"x.y b", "x b."},
		"a*":           {"a", "ba"},
		"a * c * e":    {"a b c d e", "a b c d"},
		"* is never x": {"p is never x", "p is never x_y"},
	} {
		k := &KnownGap{Line: line}
		if !k.Matches(gaps[0]) || k.Matches(gaps[1]) {
			t.Errorf("%q: %v %v", line, k.Matches(gaps[0]), k.Matches(gaps[1]))
		}
	}
}
