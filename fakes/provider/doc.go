// Package provider is a scripted model provider: an HTTP server that speaks the
// OpenAI Responses, Anthropic Messages, Chat Completions and Google Gemini wires, streamed and
// not, so that real coding CLIs run offline and always the same way.
//
// What it answers is decided by the mind package from the conversation in the
// request, or by moves that a test has queued. It looks up the name and shape of
// the caller's own tools in the request, so one prompt works with every CLI.
//
// Every request is logged with its body; of a credential only the name of its
// header and a SHA-256 are kept. It never checks a key unless Script.Key is set.
package provider
