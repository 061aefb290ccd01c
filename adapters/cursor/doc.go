// Package cursor runs the Cursor CLI: with the exec driver by one `cursor-agent -p
// --output-format stream-json` a turn, with the persistent one by `cursor-agent acp`
// (package acp). It reads the former's output, with and without --stream-partial-output,
// for declared adapters as well.
//
// It is experimental: the CLI comes from its vendor's installer only and was not run
// by this package's authors. What is here follows the vendor's documentation and
// captures of versions 2025.x to 2026.02 by others, and is tested on lines of that
// format; Capabilities.Experimental says so.
//
// What to know:
//
//   - The CLI talks to its vendor only: a provider's address is refused. Its key is
//     CURSOR_API_KEY.
//   - read_only is its ask mode. workspace_write is its sandbox without --force: what
//     then runs unasked is what the rules of its cli-config.json allow, so it may do
//     less than the permission says, never more. full_access is --force.
//   - It takes MCP servers from files of the workspace or of the person only, so a
//     request's servers and functions are refused.
//   - There is no place for instructions: they go before the prompt, at the start of
//     a conversation and when they change. Reasoning effort is part of a model's name.
//   - With partial output a passage comes as pieces and then once more as a whole:
//     before a tool call with a model_call_id, at the end without timestamp_ms. What
//     the pieces have told is not told again.
//   - The result line repeats all passages without anything between them. It is the
//     last line, so its verdict is final: some versions do not exit after it.
//   - Tokens are told by newer versions only.
//   - With acp, read_only is its ask mode and the others its agent mode, where the host
//     answers its questions: edits outside the workspace are denied with workspace_write.
//     Which tools ask is for its own rules to say, so permission ask is refused.
//   - A failure may end the output without a result line; its text is on stderr, which
//     may repeat the events as well, or a bare line among the others.
//
// It may import actors/agent, actors/event, actors/spec and the packages below
// adapters/internal.
package cursor
