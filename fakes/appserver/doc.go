// Package appserver is a stand-in for `codex app-server`: one process that serves
// the turns of many threads over JSON-RPC lines, with the mind package deciding what
// is said and done, and no model behind it.
//
// A turn's log lines are those of the standin package. Each turn has a goroutine,
// ended by its end or an interrupt; its commands run in sessions of their own with
// CODEX_THREAD_ID in their environment, as the real one's do. A tool call of the
// prompt ([[mcp: SERVER TOOL JSON]]) starts a real tool server as a child and asks
// it, so that there is one to be killed.
//
// It uses encoding/json and so is not part of standin, whose start is measured.
package appserver
