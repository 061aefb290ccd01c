// Package openapi is the vocabulary in which wires and the server say what they
// read and write, and turns that into JSON Schema and an OpenAPI 3.1 document.
//
// A description stands next to the code that it is about: an Operation names the
// Go types that a handler decodes and encodes, and this package reflects over
// them. What reflection cannot see is said by the type itself: which words a
// string can be (tag enum), what a field of type any holds (method Variants),
// what must be given (tag need). A field of type any or json.RawMessage without
// such a word is an error, so that a document never says less than was thought.
//
// It owns no operation and no route, and imports nothing of this module.
package openapi
