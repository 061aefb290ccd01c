// Package opencode is a worked example: an adapter for a CLI that agenthost does not
// bring along, in a module of its own. Copy the folder, take the replace line out of
// go.mod, and put your CLI in its place:
//
//   - opencode.go says what the CLI can do and how it is started for a turn;
//   - parser.go reads what it prints;
//   - testdata/recorded has output as it came, each file with the facts that it must
//     give; `agenthost run --record DIR` and `adapter try` help to get such output;
//   - opencode_test.go runs the conformance suite, adapters/adaptertest;
//   - example_test.go starts a Host with it and runs a turn.
//
// The CLI is opencode 1.18 with `run --format json`: one process a turn, a line when
// something is finished, no line at the end but the exit.
package opencode
