// Package acp speaks the Agent Client Protocol (ACP): JSON-RPC 2.0, an object a line,
// on the standard input and output of a CLI that serves many sessions from one process.
// It owns the protocol and knows no CLI: an Agent is what has to be known of one. The
// driver persistent of qwen-code and cursor is this protocol; CLIs that have nothing
// else (CLI) are adapters of a few lines, and so are those that a configuration declares
// (Declare).
//
// What to know:
//
//   - A turn opens its session (session/new, else session/resume or session/load), sets
//     what its request asks for, and prompts. What is told again while a session is
//     loaded is no event.
//   - The session of a turn that went well stays open. The session's next turn has it as
//     it is, when it comes next and has the same settings. Any other one has it closed,
//     where the CLI can, and opens it again: it must have no settings of another turn,
//     and all that was said in another process. Up to sixteen stay open in a process.
//   - The turn is over before its session is closed, which takes some CLIs long; the next
//     turn of that session waits for it.
//   - Files and terminals are not offered to the CLI; it uses its own. What it asks
//     beyond the protocol is answered with "method not found".
//   - A permission is kept by a session mode, which is set before the prompt and again
//     when the CLI leaves it, and by the answers to the CLI's questions (Mode). A mode
//     that cannot be set fails the turn. An option that allows something for ever is
//     never chosen.
//   - Calls of the agent's own MCP servers are allowed whatever the permission, but for
//     ask: which servers there are is the agent's definition.
//   - Sessions of one process may see each other's MCP servers, so only turns with the
//     same ones share a process. Functions of the caller's are such a server, another in
//     each turn: such a turn has a process to itself.
//   - Instructions go before the prompt, at the start of a conversation and when they
//     change: the protocol has no place for them.
//   - A cancelled turn ends by session/cancel; questions that wait are withdrawn. What
//     its commands left is found by a variable in their environment (Agent.Mark). Without
//     one the process is ended with it.
//   - A turn that says that it was cancelled, and nobody asked for that, breaks the
//     protocol: a process says so that is about to end.
//   - An error of a prompt is classified by its words, by a provider's status in its text
//     or as its number, then by the protocol's numbers. The session lives on.
//   - There is no ping in the protocol; a method that does not exist has to be refused,
//     which is a sign of life.
//
// It may import actors/agent, actors/event, actors/spec and the packages below
// adapters/internal.
package acp
