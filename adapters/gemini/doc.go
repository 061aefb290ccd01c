// Package gemini runs the Gemini CLI by `gemini --acp`, many sessions a process. It has
// no exec driver. Its facts were taken from version 0.61.0 (Pinned), which was started
// and opened sessions; no turn of it was run, because nothing here speaks its provider's
// wire: Capabilities.Experimental says so.
//
// What to know:
//
//   - Its provider is Google's wire (generateContent): a key, and an address without
//     /v1. Other providers need a gateway.
//   - Every permission but full_access uses the mode that asks before it does more than
//     reading, and the answers decide. It has no sandbox: Capabilities.Confined is false.
//   - It cannot close a session, so its processes grow until they are replaced; a
//     session is loaded anew for each turn.
//   - Nothing in the environment of its commands tells sessions apart, so a process that
//     ran a command is ended with a cancelled turn.
//
// It may import adapters/acp and actors/spec.
package gemini
