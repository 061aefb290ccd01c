// Package claudecode runs the Claude Code CLI with the exec driver: one `claude -p
// --output-format stream-json` a turn. Its facts were taken from version 2.1.328
// (Pinned).
//
// What to know:
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
package claudecode
