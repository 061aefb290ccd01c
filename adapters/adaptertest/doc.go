// Package adaptertest is the conformance suite of adapters. A package that knows a
// CLI calls Run in a test:
//
//	func TestConformance(t *testing.T) {
//		adaptertest.Run(t, &mycli.Adapter{}, adaptertest.Cases{Dir: "testdata/recorded"})
//	}
//
// Dir holds recorded output: NAME.jsonl is standard output as it came, NAME.facts
// what the parser must make of it (written by `go test -update`, read by a person
// before it is committed), and NAME.json, if there is one, what else belongs to the
// run: {"exit": 1, "signal": "killed", "stderr": "...", "native": "resumed id",
// "carry": {...}}.
//
// The suite checks what the engine relies on:
//
//   - names, permissions (what is not offered is refused by name), and that a resumed
//     turn has exactly the permissions of a first one;
//   - the provider's key and the values of MCP headers and variables are in no
//     argument and no file;
//   - each feature that a request can ask for is handed on or refused by name; what
//     became of it is recorded for the capability matrix;
//   - what callers say (model, instructions, prompt, headers) never becomes configuration:
//     what is started differs from the same for plain words by these words, quoted;
//   - a prompt is never an option, big prompts and instructions never reach a system
//     call that must fail, equal requests give equal invocations;
//   - each transcript gives its facts, whatever is read at once, with a line's memory
//     reused after each call; every line gives a fact or is declared silent; at most
//     one final verdict; pieces join to the whole text;
//   - noise between the lines changes nothing but adds Unknown facts; cut and broken
//     lines never panic and never give invalid UTF-8.
//
// Adapters of other modules use it as those here do; Cases.Facts and Record belong to
// the capability matrix of this module and stay unused there. docs/examples/adapter is
// such a module, with an adapter, its recordings, the suite and a Host that runs it.
//
// Read and Reading are there for tests of an adapter's own: what a run comes to by the
// engine's rules. Load and Lines read recordings, FuzzFeed feeds a parser at random.
//
// It imports the standard library's testing and is for tests only.
package adaptertest
