// Package codex runs the Codex CLI with the exec driver: one `codex exec --json`
// a turn. Its facts were taken from version 0.169.0 (Pinned).
//
// What to know:
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
package codex
