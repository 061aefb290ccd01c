package provider

import (
	"strings"

	jsoniter "github.com/json-iterator/go"
)

// sample is a JSON value that fits a schema: of a choice the first, of every field
// one, of a list one entry.
func sample(schema jsoniter.RawMessage) string {
	var root node
	if json.Unmarshal(schema, &root) != nil {
		return "{}"
	}
	return encode(root.value(&root, maxDepth))
}

// maxDepth ends a schema that contains itself.
const maxDepth = 12

// node is the part of JSON schema that SDKs make of a program's types.
type node struct {
	Type       any              `json:"type"`
	Properties map[string]*node `json:"properties"`
	Items      *node            `json:"items"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	AnyOf      []*node          `json:"anyOf"`
	Minimum    *float64         `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
	Ref        string           `json:"$ref"`
	Defs       map[string]*node `json:"$defs"`
	Old        map[string]*node `json:"definitions"`
}

func (n *node) value(root *node, depth int) any {
	switch {
	case n == nil || depth == 0:
		return nil
	case n.Ref != "":
		name := n.Ref[strings.LastIndexByte(n.Ref, '/')+1:]
		if d, ok := root.Defs[name]; ok {
			return d.value(root, depth-1)
		}
		return root.Old[name].value(root, depth-1)
	case n.Const != nil:
		return n.Const
	case len(n.Enum) > 0:
		return n.Enum[0]
	case len(n.AnyOf) > 0:
		return n.AnyOf[0].value(root, depth-1)
	}
	kind := n.Type
	if several, ok := kind.([]any); ok && len(several) > 0 {
		kind = several[0]
	}
	switch kind {
	case "object":
		o := object{}
		for name, p := range n.Properties {
			o[name] = p.value(root, depth-1)
		}
		return o
	case "array":
		return []any{n.Items.value(root, depth-1)}
	case "integer", "number":
		return n.number()
	case "boolean":
		return true
	case "null":
		return nil
	}
	return "scripted"
}

func (n *node) number() float64 {
	v := 7.0
	if n.Minimum != nil {
		v = max(v, *n.Minimum)
	}
	if n.Maximum != nil {
		v = min(v, *n.Maximum)
	}
	return v
}
