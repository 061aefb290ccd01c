// Package streamjson is a stand-in for `claude -p --input-format stream-json`: one
// process that serves the turns of one session, one after the other, with the mind
// package deciding what is said and done, and no model behind it.
//
// It speaks the lines of the real one: user messages and control requests in, what a
// turn prints and what became of each message out. A turn's log lines are those of the
// standin package. Its commands run in sessions of their own with
// CLAUDE_CODE_CHILD_SESSION=1 in their environment, its tool servers without that, as
// the real one's do. Messages that come while a turn runs wait; they are not shown to
// the model in between. Nobody is asked for permission.
//
// It uses encoding/json and so is not part of standin, whose start is measured.
package streamjson
