// Package audit is the book of security-relevant acts: who did what, from where, what
// was decided and by which rule. It is a file of JSON lines, mode 0600, which is only
// appended to, and turned when it is full: audit.jsonl is the newest, audit.jsonl.1
// the one before it, and so on; the oldest goes when there are more than allowed.
//
// One goroutine owns the file. Add never blocks: it puts a record into a queue of
// fixed length, and a record that finds it full is dropped and counted. So is one that
// the disk does not take. The next record that is written has a line before it,
// audit.gap, that says how many are missing there: the book tells its own holes.
//
// A record has names and ids, never a body, a prompt, a token or another secret. The
// package knows no route and no policy; it imports the standard library and the JSON
// library only.
package audit
