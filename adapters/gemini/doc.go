// Package gemini runs the Gemini CLI by `gemini --acp`, many sessions a process. It has
// no exec driver. Its facts were taken from version 0.61.0 (Pinned), whose turns were
// run against a scripted provider. What it cannot be relied on for is a conversation
// taken up again (below): Capabilities.Experimental says so.
//
// What to know:
//
//   - Its provider is Google's wire (generateContent): a key, and an address without
//     /v1. Other providers need a gateway.
//   - Every permission but full_access uses the mode that asks before it does more than
//     reading, and the answers decide. It has no sandbox: Capabilities.Confined is false.
//   - Its record of a session is named by the minute and the session's id, and loading a
//     session begins a new record before it looks for the old one: one that is loaded in
//     the minute in which it was begun is overwritten and lost. So a process serves one
//     session, which stays open in it, and it is loaded only when its process is gone.
//   - A command is the title of its call, which has neither an input nor, when it is
//     over, what was printed or an exit status. A tool server's call is titled
//     TOOL (SERVER MCP Server), and its input is not told either.
//   - Tool servers run, and the mode yolo is there, only in a workspace that it trusts
//     (GEMINI_CLI_TRUST_WORKSPACE), whose own settings then count and may run programs. So
//     a workspace is trusted with full_access, and with workspace_write for a turn that has
//     tool servers or functions; with other permissions such a turn is refused.
//   - A call that was cut off with its process has no answer in the record.
//   - It tries again for minutes on 429, 5xx and a stream that was cut off.
//   - Without GEMINI_MODEL it asks a small model, before each prompt, which one is to
//     answer.
//   - Told of a base URL, it signs in by itself as to a gateway; the key goes into
//     X-Goog-Api-Key, and the path begins with /v1beta.
//   - Nothing in the environment of its commands tells sessions apart, so a process that
//     ran a command is ended with a cancelled turn.
//
// It may import adapters/acp and actors/spec.
package gemini
