package openapi

import (
	"encoding/json"
)

// Schema is a JSON Schema (2020-12), of which wires need a part.
type Schema struct {
	Ref         string `json:"$ref,omitempty"`
	Description string `json:"description,omitempty"`
	// Type is a word or a list of words.
	Type       any                `json:"type,omitempty"`
	Const      any                `json:"const,omitempty"`
	Enum       []any              `json:"enum,omitempty"`
	AnyOf      []*Schema          `json:"anyOf,omitempty"`
	Items      *Schema            `json:"items,omitempty"`
	MaxItems   *int               `json:"maxItems,omitempty"`
	Minimum    *int               `json:"minimum,omitempty"`
	Maximum    *int               `json:"maximum,omitempty"`
	Properties map[string]*Schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	// AdditionalProperties is false or a schema.
	AdditionalProperties any `json:"additionalProperties,omitempty"`
}

// anything is the schema of a value that is passed on as it came.
func anything() *Schema { return &Schema{} }

// null lets a schema be null as well.
func (s *Schema) null() *Schema {
	switch t := s.Type.(type) {
	case string:
		if t == "null" {
			return s
		}
		s.Type = []string{t, "null"}
		if s.Const != nil {
			s.Enum, s.Const = []any{s.Const}, nil
		}
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
		return s
	case nil:
		if s.Ref != "" {
			return &Schema{AnyOf: []*Schema{s, {Type: "null"}}}
		}
		if s.AnyOf != nil {
			s.AnyOf = append(s.AnyOf, &Schema{Type: "null"})
		}
	}
	return s
}

// words restricts a string, or the strings of a list, to the given ones.
func (s *Schema) words(words []string) {
	to := s
	if s.Items != nil {
		to = s.Items
	}
	if len(words) == 1 {
		to.Const = words[0]
		return
	}
	for _, w := range words {
		to.Enum = append(to.Enum, w)
	}
}

// MarshalIndent is v as pretty JSON whose bytes depend on v alone.
func MarshalIndent(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}
