// Package claudecode runs the Claude Code CLI: one `claude -p --output-format
// stream-json` a turn (exec driver), or one with `--input-format stream-json` for the
// turns of one session (persistent driver, the files stream*.go). Its facts were taken
// from version 2.1.328 (Pinned).
//
// What to know of both:
//
//   - The CLI has no sandbox of its own. read_only offers it three reading tools;
//     workspace_write accepts edits and allows the shell, which nothing confines to
//     the workspace: Capabilities.Confined is false. As root it refuses full_access
//     unless told that the machine is the sandbox, which only the operator can say.
//   - The result line is a tentative verdict: the CLI may go on after it and print
//     another. Success is is_error false, never the exit status (0 after SIGINT) and
//     never the subtype (API errors have "success").
//   - Text arrives three times: as deltas, as one assistant line a block, and in
//     the result. Blocks are matched in order within their message, so each text is
//     told once. Text blocks of one message that follow each other are one item.
//   - The text of an API error comes as an assistant message of the model
//     "<synthetic>". It is a notice and the failure's message, no answer.
//   - The session id is the CLI's own, from system/init. Choosing it with
//     --session-id would make a turn that is tried again fail: the id is then in use.
//   - By default the CLI records the system prompt at the first request and sends
//     that on every resume. --system-prompt-snapshot off makes changed instructions
//     reach resumed turns.
//   - A Write is told when its result is there: only the result says whether the
//     file is new.
//   - A subagent's lines name the call that set it to work (parent_tool_use_id). By
//     default it works in the background: the call's result only says that it was
//     launched, a task_notification what came of it, and then the CLI goes on with
//     another result line. The result of one that was waited for is the report in a
//     frame of words for the model; the notification before it has the report alone.
//     One that SendMessage asks to go on is told under the call that first set it to
//     work, and what came of it under the SendMessage call.
//     No line tells a subagent's usage: its messages have that of their beginning,
//     the call's result that of the last request.
//   - Its tool shells inherit the whole environment, the provider key included; the
//     CLI has no filter for that.
//
// And of the process that serves a session:
//
//   - All settings are arguments, files and variables, so a turn with other ones gets
//     another process, which resumes the conversation. set_model would work too, but
//     asks the provider once more and leaves words in the conversation. The exception
//     are the caller's functions, whose address and token are new with each turn: they
//     are set by mcp_set_servers, over standard input.
//   - --max-turns counts each turn; --max-budget-usd counts from the start of the
//     process, so a turn with a budget has a process to itself.
//   - A result does not end a turn: subagents in the background, and messages that came
//     late, make the CLI go on. Its state "idle" does (session_state_changed, which has
//     to be asked for). An idle may be late, of what was before, so it counts only after
//     the answer to the turn's own prompt.
//   - The CLI tells what becomes of each message by its uuid (command_lifecycle:
//     queued, started, completed or cancelled). A message for a turn that runs is
//     started with the next tool's result. One that comes after the last is started
//     behind the result, without an idle between: that is the same turn to us, its first
//     verdict is kept back, and the later result's is the turn's. One that the CLI reads
//     when it is idle already is started as well; our turn is kept open for it, since it
//     cannot be over while a message is undecided. Nothing is given back that the model
//     saw, and nothing is lost.
//   - interrupt ends a turn and its commands, and the process stays. With cancel_queued
//     it takes back what was queued; an interrupt before the prompt was started gives no
//     result at all.
//   - What runs in the background when all is said would wake the CLI later: it is
//     stopped (stop_task) before the turn is over. A CLI that begins to work by itself
//     between turns is ended.
//   - Tools have CLAUDE_CODE_CHILD_SESSION in their environment; MCP servers, which live
//     on, have not.
//   - Who may be asked (permissions ask) is asked by can_use_tool, in the words in which
//     exec's prompt tool is asked; a denial's reason is the tool's result. Every request
//     of the CLI's is answered, unknown ones with an error.
//   - mcp_status is the sign of life: it costs a millisecond and no provider, unlike
//     get_context_usage, which has it count tokens. It is answered during a turn, too.
//   - Anything but JSON on standard input ends the CLI.
//   - A conversation that it does not know is told by a result, before it says that it
//     is ready, and ends it.
package claudecode
