// Package fakes holds no code; its folders are what tests, the bench and `make
// run` use in place of the paid and the slow:
//
//   - mind: what a scripted model does next, as a pure function of a conversation;
//   - provider: an HTTP server that speaks three model wires with that mind, so
//     that real CLIs run offline;
//   - standin: stand-in CLIs that speak a real CLI's output dialect with that
//     mind and no provider, replay recordings, or show one failure mode;
//   - appserver: a stand-in for codex app-server, which serves many turns;
//   - registry: a package registry on loopback, for installations;
//   - tools: the pinned real CLIs and SDKs, and where they are installed;
//   - drift: what those SDKs have and docs/openapi.json has not;
//   - cmd/fake, cmd/provider: small binaries of standin and provider.
//
// Nothing here imports another package of this module outside fakes.
package fakes
