package openapi

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// About is what a document says beside its operations.
type About struct {
	Title, Version, Description string
	// Envelope is the type of every refusal.
	Envelope any
	Refusals []Refusal
	// Closed makes the schemas of answers refuse fields that they do not name. It
	// is for tests: callers must take new fields.
	Closed bool
}

// Document is an OpenAPI document.
type Document struct {
	OpenAPI    string               `json:"openapi"`
	Dialect    string               `json:"jsonSchemaDialect"`
	Info       info                 `json:"info"`
	Servers    []server             `json:"servers"`
	Security   []map[string][]any   `json:"security"`
	Paths      map[string]*PathItem `json:"paths"`
	Components components           `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type server struct {
	URL         string              `json:"url"`
	Description string              `json:"description,omitempty"`
	Variables   map[string]variable `json:"variables,omitempty"`
}

type variable struct {
	Default     string `json:"default"`
	Description string `json:"description"`
}

type components struct {
	Schemas         map[string]*Schema        `json:"schemas"`
	Responses       map[string]*Answer        `json:"responses"`
	SecuritySchemes map[string]securityScheme `json:"securitySchemes"`
}

type securityScheme struct {
	Type   string `json:"type"`
	Scheme string `json:"scheme,omitempty"`
	In     string `json:"in,omitempty"`
	Name   string `json:"name,omitempty"`
}

// PathItem is one path of a Document.
type PathItem struct {
	Servers    []server    `json:"servers,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	Get        *Entry      `json:"get,omitempty"`
	Post       *Entry      `json:"post,omitempty"`
	Delete     *Entry      `json:"delete,omitempty"`
}

// Entry is one operation of a Document.
type Entry struct {
	OperationID string             `json:"operationId"`
	Summary     string             `json:"summary"`
	Tags        []string           `json:"tags"`
	Unavailable bool               `json:"x-unavailable,omitempty"`
	Security    *[]map[string]any  `json:"security,omitempty"`
	Parameters  []Parameter        `json:"parameters,omitempty"`
	RequestBody *requestBody       `json:"requestBody,omitempty"`
	Responses   map[string]*Answer `json:"responses"`
}

// Parameter of a path, a query or a header.
type Parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required,omitempty"`
	Description string  `json:"description,omitempty"`
	Style       string  `json:"style,omitempty"`
	Explode     bool    `json:"explode,omitempty"`
	Schema      *Schema `json:"schema"`
}

type requestBody struct {
	Required bool                  `json:"required"`
	Content  map[string]*MediaType `json:"content"`
}

// Answer is one response of a Document.
type Answer struct {
	Ref         string                `json:"$ref,omitempty"`
	Description string                `json:"description,omitempty"`
	Content     map[string]*MediaType `json:"content,omitempty"`
	Refusals    map[string]Refusal    `json:"x-error-codes,omitempty"`
}

// MediaType is a body of one kind. Events are those of an event stream.
type MediaType struct {
	Schema *Schema           `json:"schema"`
	Events map[string]*Event `json:"x-sse-events,omitempty"`
}

// Event is the schema of a frame's data: a named type whose type is one word.
type Event struct {
	Ref        string             `json:"$ref"`
	Properties map[string]*Schema `json:"properties"`
}

const errorRef = "#/components/responses/Error"

// Build makes the document of routes, whose operations are described by id. It
// fails when a built route has no description or a description no route.
func Build(about About, routes []Route, operations map[string]Operation) (*Document, error) {
	book := NewBook()
	d := &Document{
		OpenAPI: "3.1.0", Dialect: "https://json-schema.org/draft/2020-12/schema",
		Info: info{about.Title, about.Version, about.Description},
		Servers: []server{
			{URL: "/"},
			{URL: "/agents/{adapter}", Description: "the same, with the coding agent pinned", Variables: map[string]variable{
				"adapter": {Default: "codex", Description: "a name or an alias of GET /v1/agents/runtimes"},
			}},
		},
		Security: []map[string][]any{{"bearer": {}}, {"accessToken": {}}},
		Paths:    map[string]*PathItem{},
	}
	described := map[string]bool{}
	for _, r := range routes {
		o, ok := operations[r.ID]
		if !ok && !r.Unavailable {
			book.fail("operation %s has no description", r.ID)
			continue
		}
		if ok && r.Unavailable {
			book.fail("operation %s is described and not built", r.ID)
		}
		described[r.ID] = true
		item := d.Paths[r.Path]
		if item == nil {
			item = &PathItem{Parameters: pathParameters(r.Path)}
			if !r.Pinned {
				item.Servers = []server{{URL: "/"}}
			}
			d.Paths[r.Path] = item
		}
		e := book.entry(&r, &o)
		switch r.Method {
		case "GET":
			item.Get = e
		case "POST":
			item.Post = e
		case "DELETE":
			item.Delete = e
		default:
			book.fail("%s %s: no place for this method", r.Method, r.Path)
		}
	}
	for id := range operations {
		if !described[id] {
			book.fail("%s is described and has no route", id)
		}
	}
	refusals := map[string]Refusal{}
	for _, r := range about.Refusals {
		refusals[r.Code] = r
	}
	d.Components = components{
		Responses: map[string]*Answer{"Error": {
			Description: "A refusal. x-should-retry: false says that the same request is refused again, Retry-After when to come back.",
			Content:     map[string]*MediaType{"application/json": {Schema: book.Of(about.Envelope, Written)}},
			Refusals:    refusals,
		}},
		SecuritySchemes: map[string]securityScheme{
			"bearer":      {Type: "http", Scheme: "bearer"},
			"accessToken": {Type: "apiKey", In: "header", Name: "X-Access-Token"},
		},
		Schemas: book.Schemas,
	}
	if about.Closed {
		book.close()
	}
	return d, book.Err()
}

// close makes every written object refuse what it does not name, unless its schema
// says what else it may have.
func (b *Book) close() {
	for _, s := range b.Schemas {
		if len(s.Properties) > 0 && s.AdditionalProperties == nil {
			s.AdditionalProperties = false
		}
	}
}

var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

func pathParameters(path string) []Parameter {
	var out []Parameter
	for _, m := range placeholder.FindAllStringSubmatch(path, -1) {
		out = append(out, Parameter{Name: m[1], In: "path", Required: true, Schema: &Schema{Type: "string"}})
	}
	return out
}

// entry describes one operation.
func (b *Book) entry(r *Route, o *Operation) *Entry {
	e := &Entry{
		OperationID: r.ID, Summary: o.Summary, Tags: []string{r.Tag}, Unavailable: r.Unavailable,
		Responses: map[string]*Answer{},
	}
	if e.Summary == "" {
		e.Summary = "Not built yet: answers 501 operation_unavailable."
	}
	if r.Open {
		e.Security = &[]map[string]any{}
	}
	if r.Unavailable {
		e.Responses["501"] = &Answer{Ref: errorRef}
		return e
	}
	e.Parameters = append(b.parameters("query", o.Query), b.parameters("header", o.Headers)...)
	if o.Body != nil || o.Form != nil {
		e.RequestBody = &requestBody{Required: !o.MayBeEmpty, Content: map[string]*MediaType{}}
	}
	if o.Body != nil {
		e.RequestBody.Content["application/json"] = &MediaType{Schema: b.Of(o.Body, Read)}
	}
	if o.Form != nil {
		e.RequestBody.Content["multipart/form-data"] = &MediaType{Schema: b.Of(o.Form, Read)}
	}
	status := o.Status
	if status == 0 {
		status = 200
	}
	e.Responses[strconv.Itoa(status)] = b.answer(o)
	for status, v := range o.Also {
		e.Responses[strconv.Itoa(status)] = &Answer{
			Description: "not now", Content: map[string]*MediaType{"application/json": {Schema: b.Of(v, Written)}},
		}
	}
	e.Responses["default"] = &Answer{Ref: errorRef}
	return e
}

func (b *Book) answer(o *Operation) *Answer {
	a := &Answer{Description: "done"}
	content := map[string]*MediaType{}
	if o.Answer != nil {
		content["application/json"] = &MediaType{Schema: b.Of(o.Answer, Written)}
	}
	if o.Text != "" {
		content[o.Text] = &MediaType{Schema: &Schema{Type: "string"}}
	}
	if len(o.Events) > 0 {
		m := &MediaType{Schema: &Schema{Type: "string", Description: o.When}, Events: map[string]*Event{}}
		for kind, v := range o.Events {
			m.Events[kind] = &Event{Ref: b.Of(v, Written).Ref, Properties: map[string]*Schema{"type": {Const: kind}}}
		}
		content["text/event-stream"] = m
	}
	if len(content) > 0 {
		a.Content = content
	}
	return a
}

func (b *Book) parameters(in string, v any) []Parameter {
	if v == nil {
		return nil
	}
	var out []Parameter
	for _, f := range Fields(reflect.TypeOf(v)) {
		f.Omit = true // one that is not there is not null
		p := Parameter{Name: f.Name, In: in, Description: f.Tag.Get("doc"), Required: f.Tag.Get("need") == "true"}
		p.Schema = b.field(f, Written, fmt.Sprintf("%T.%s", v, f.Name), nil)
		p.Schema.Description = ""
		if f.Type.Kind() == reflect.Map {
			p.Style, p.Explode = "deepObject", true
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Parameter) int { return strings.Compare(a.Name, b.Name) })
	return out
}
