package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/agenthost/agenthost/wires/openapi"
)

// Checker checks answers by the ids of their operations. It is safe for
// concurrent use.
type Checker struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	places   map[string]string // operation -> pointer to it
	events   map[string]map[string]*openapi.Event
	statuses map[string]map[string]*openapi.Answer
	seen     map[string]map[string]bool
}

const resource = "openapi.json"

// Wire checks the operations of one wire, which has no routes of its own.
// envelope is the type of its refusals.
func Wire(envelope any, operations map[string]openapi.Operation) (*Checker, error) {
	var routes []openapi.Route
	for id := range operations {
		routes = append(routes, openapi.Route{Method: "GET", Path: "/" + id, ID: id})
	}
	d, err := openapi.Build(openapi.About{Envelope: envelope, Closed: true}, routes, operations)
	if err != nil {
		return nil, err
	}
	return New(d)
}

// New checks by a document, which should be closed. Its schemas must be valid
// themselves.
func New(d *openapi.Document) (*Checker, error) {
	b, err := openapi.MarshalIndent(d)
	if err != nil {
		return nil, err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	c := &Checker{
		compiler: jsonschema.NewCompiler(), places: map[string]string{}, seen: map[string]map[string]bool{},
		events: map[string]map[string]*openapi.Event{}, statuses: map[string]map[string]*openapi.Answer{},
	}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := c.compiler.AddResource(resource, v); err != nil {
		return nil, err
	}
	for name := range d.Components.Schemas {
		if _, err := c.compiler.Compile(resource + "#/components/schemas/" + name); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
	}
	for path, item := range d.Paths {
		for method, e := range map[string]*openapi.Entry{"get": item.Get, "post": item.Post, "delete": item.Delete} {
			if e == nil {
				continue
			}
			id := e.OperationID
			c.places[id] = "/paths/" + escape(path) + "/" + method
			c.statuses[id] = e.Responses
			c.seen[id] = map[string]bool{}
			for _, a := range e.Responses {
				if m := a.Content["text/event-stream"]; m != nil {
					c.events[id] = m.Events
				}
			}
		}
	}
	return c, nil
}

// Answer checks a JSON answer; an empty body is one without content.
func (c *Checker) Answer(operation string, status int, body []byte) error {
	place, ok := c.places[operation]
	if !ok {
		return fmt.Errorf("%s is not described", operation)
	}
	code := strconv.Itoa(status)
	a := c.statuses[operation][code]
	switch {
	case a != nil && a.Ref == "":
		place += "/responses/" + code
	case status >= 400 && (a != nil || c.statuses[operation]["default"] != nil):
		place, a = "/components/responses/Error", nil
	default:
		return fmt.Errorf("%s: the status %d is not described", operation, status)
	}
	c.mark(operation, code)
	if a != nil && a.Content["application/json"] == nil {
		if len(body) > 0 && len(a.Content) == 0 {
			return fmt.Errorf("%s: the answer %d is described as empty: %s", operation, status, clip(body))
		}
		return nil
	}
	if err := c.check(place+"/content/application~1json/schema", body); err != nil {
		return fmt.Errorf("%s: the answer %d: %w\n%s", operation, status, err, clip(body))
	}
	return nil
}

// Frame checks the data of a frame.
func (c *Checker) Frame(operation string, data []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%s: a frame: %w", operation, err)
	}
	if c.events[operation][head.Type] == nil {
		return fmt.Errorf("%s: the event %q is not described", operation, head.Type)
	}
	c.mark(operation, head.Type)
	at := c.places[operation] + "/responses/200/content/text~1event-stream/x-sse-events/" + escape(head.Type)
	if err := c.check(at, data); err != nil {
		return fmt.Errorf("%s: event %s: %w\n%s", operation, head.Type, err, clip(data))
	}
	return nil
}

// Stream checks the frames of a finished or cut stream.
func (c *Checker) Stream(operation string, stream []byte) []error {
	var errs []error
	for line := range bytes.Lines(stream) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok || !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		if err := c.Frame(operation, bytes.TrimSpace(data)); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Unseen lists the events of an operation that no Frame had.
func (c *Checker) Unseen(operation string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for kind := range c.events[operation] {
		if !c.seen[operation][kind] {
			out = append(out, kind)
		}
	}
	return out
}

// Answered reports whether an answer of a status was checked.
func (c *Checker) Answered(operation string, status int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[operation][strconv.Itoa(status)]
}

func (c *Checker) mark(operation, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[operation][what] = true
}

func (c *Checker) check(pointer string, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	c.mu.Lock()
	s, err := c.compiler.Compile(resource + "#" + pointer)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(token)
}

func clip(b []byte) []byte { return b[:min(len(b), 2000)] }
