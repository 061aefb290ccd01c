// Package codex runs the Codex CLI: one `codex exec --json` a turn (exec driver), or
// one `codex app-server` for the turns of many threads (persistent driver, the files
// server*.go). Its facts were taken from version 0.169.0 (Pinned).
//
// What to know of both:
//
//   - Permissions are configuration overrides (-c sandbox_mode), because `exec
//     resume` has no --sandbox flag: a first and a resumed turn get the same.
//   - Instructions are one command-line argument, and Linux takes at most 128 KiB
//     in one. Codex reads developer instructions from nowhere else that a resumed
//     turn also reads, so longer ones are refused before anything is spawned.
//   - A thread keeps the developer instructions that it began with. When a session's
//     instructions have changed, a resumed turn tells the new ones before the prompt.
//   - The usage that Codex reports is the thread's total, also across resumes. The
//     parser reports the difference; the total travels in Verdict.Carry.
//   - A thread id that Codex does not take for one silently starts a new thread.
//     Ids are checked before, and a thread that announces another id than the one
//     asked for is a lost conversation: the turn fails, and the announced thread is
//     what the session goes on with.
//   - Of a subagent Codex tells no line but the calls about it. The call that sets it
//     to work is over at once; it is kept open until a later call (wait, close) tells
//     what came of it, and is incomplete when none does. What it used is in the
//     thread's own total or nowhere. Which models are offered subagents at all is
//     Codex's own knowledge of them.
//   - Secrets reach the CLI by environment. Its tool shells do not see names with
//     KEY, SECRET or TOKEN in them (shell_environment_policy).
//
// And of the app-server:
//
//   - Each turn loads its thread with settings of its own and gives it up at its end
//     (thread/unsubscribe). A thread that is still loaded is loaded anew only when
//     the request overrides something, so mcp_servers is always given, if empty: else
//     the tool servers of the turn before would stay.
//   - The settings travel by standard input, and with them the secrets of tool
//     servers, which exec has to put into the environment.
//   - A command that runs survives an interrupt: backgroundTerminals/clean ends it.
//     What it detached is found by CODEX_THREAD_ID, which every tool has.
//   - Permission ask is approval policy "untrusted" in the workspace-write sandbox.
//     There is no place for the reason of a denial: the model is told "rejected by
//     user".
//   - A message for a running turn (turn/steer) reaches the model at once: the answer
//     that is being made is cut, and its item gets no end. Codex tells the message as an
//     item of the turn, under the name that the host gave it.
//   - It tells usage while a turn works, so a budget stops it in the middle.
//   - CODEX_API_KEY is not read; a key without an address goes to OpenAI's by way of
//     a provider of the host's.
package codex
