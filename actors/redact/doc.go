// Package redact takes known secrets out of text: of lines, stderr and messages
// whole, of deltas across their borders.
//
// It knows values, not shapes: nothing is redacted because it looks like a key. A
// value is found as it is, percent-encoded, JSON-escaped (once and twice) and in
// base64 of the whole value. It is not found when it is encoded together with
// something else (Basic credentials, say), compressed, or split by what is put
// between its parts.
//
// Pure; standard library only. A Set never changes and may be shared.
package redact
