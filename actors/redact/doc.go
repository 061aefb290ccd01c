// Package redact takes secrets out of text: of lines, stderr, messages and logs
// whole, of deltas across their borders.
//
// It knows values, and the shapes of common tokens. A value is found as it is,
// percent-encoded, JSON-escaped (once and twice), folded over lines, and in base64 of
// the whole value or of a longer text that it is a part of. A token of a known kind
// (sk-…, GitHub's, Slack's, AWS's access key ids, JWTs, private keys in PEM) is found
// though nobody told of it.
//
// It is not found when it is encoded in another way, compressed, or split by what is
// put between its parts: who has a secret and wants to show it can. What keeps it from
// them is not to give it to them.
//
// Pure; standard library only. A Set never changes and may be shared.
package redact
