// Package cursor reads what `cursor-agent -p --output-format stream-json` prints,
// with and without --stream-partial-output. It was written from the vendor's
// documentation and captures of others; the program was not run by its authors.
//
// What to know:
//
//   - With partial output a passage comes as pieces and then once more as a whole:
//     before a tool call with a model_call_id, at the end without timestamp_ms. What
//     the pieces have told is not told again.
//   - The result line repeats all passages without anything between them. It is the
//     last line, so its verdict is final: some versions do not exit after it.
//   - Tokens are not told.
//   - A failure may end the output without a result line; its text is on stderr.
//
// It may import actors/agent, actors/event and the packages below adapters/internal.
package cursor
