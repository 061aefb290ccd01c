package drift

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Document is the part of an OpenAPI document that is compared.
type Document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct{ Schemas map[string]*schema }
}

type entry struct {
	Unavailable bool `json:"x-unavailable"`
	Parameters  []struct {
		Name, In string
		Required bool
		Schema   *schema
	}
	RequestBody *struct{ Content map[string]media }
	Responses   map[string]struct{ Content map[string]media }
}

type media struct {
	Schema *schema
	Events map[string]*schema `json:"x-sse-events"`
}

// schema is what JSON Schema says of a value; Type is a word or a list of words.
type schema struct {
	Ref        string `json:"$ref"`
	Type       words
	Const      *string
	Enum       []*string
	AnyOf      []*schema
	Items      *schema
	MaxItems   *int
	Properties map[string]*schema
	Required   []string
}

// words are one or several.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// ReadDocument reads an OpenAPI document.
func ReadDocument(file string) (*Document, error) {
	b, err := os.ReadFile(file) //nolint:gosec // the caller's own file
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	d := &Document{}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document %s: %w", file, err)
	}
	return d, nil
}

var pathValue = regexp.MustCompile(`\{[^}]*\}`)

// served are the operations below /v1 by method and path, path values unnamed.
func (d *Document) served() (map[string]*entry, error) {
	out := map[string]*entry{}
	for path, item := range d.Paths {
		short, ok := strings.CutPrefix(path, "/v1")
		if !ok {
			continue
		}
		for method, raw := range item {
			if method == "parameters" || method == "servers" {
				continue
			}
			e := &entry{}
			if err := json.Unmarshal(raw, e); err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			out[strings.ToUpper(method)+" "+pathValue.ReplaceAllString(short, "{}")] = e
		}
	}
	return out, nil
}

// of follows references; a word beside one is merged in.
func (d *Document) of(s *schema) *schema {
	for s != nil && s.Ref != "" {
		to := d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		if to == nil {
			return &schema{}
		}
		s = to
	}
	return s
}
