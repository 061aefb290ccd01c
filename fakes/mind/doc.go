// Package mind is the scripted model: given a conversation it says what the
// model does next. It is pure and deterministic, knows no wire and no CLI, and
// imports only the standard library.
//
// A prompt steers it with directives, [[name: argument]], played in order. What
// stands before and behind a tool call belongs to different model responses,
// like with a real model:
//
//	[[shell: CMD]]             run CMD with the CLI's shell tool
//	[[write: PATH TEXT]]       write TEXT to the file PATH
//	[[mcp: SERVER TOOL JSON]]  call a tool of an MCP server
//	[[call: NAME JSON]]        call a tool by its bare name: a function of the
//	                           request, else a tool of any MCP server
//	[[try: NAME JSON]]         the same, but nothing where there is no such tool
//	[[and]]                    between two calls: both in one model response
//	[[task: PROMPT]]           hand PROMPT, directives included, to a subagent
//	[[join]]                   wait for the subagents, with a CLI that has a tool for it
//	[[say: TEXT]]              answer TEXT exactly; before a call: say it first
//	[[think: TEXT]]            a reasoning summary
//	[[count: N]]               answer "1 2 3 ... N", one piece a number
//	[[big: BYTES]]             answer with that many bytes
//	[[json]]                   answer a value of the schema that is asked for
//	[[slow: MS]]               wait before each piece, the whole turn long
//	[[wait: MS]]               wait once, before the next thing
//	[[use: INPUT OUTPUT]]      each response of the turn counts that many tokens
//	[[error: KIND]]            fail: see Fault; [[error: KIND N]] the first N times
//
// Of a prompt that tells an earlier conversation, only what stands behind Now is
// played.
//
// Without a directive that answers, the mind answers by itself: it quotes what
// its tools returned, recalls what it was asked to remember anywhere in the
// conversation, or says back what it heard.
package mind
