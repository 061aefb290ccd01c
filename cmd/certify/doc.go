// Package certify plays the conformance conversation with an installed CLI: what a
// caller may ask of a coding agent, against the scripted model provider, which needs no
// key and no network. It tells each case; it starts no server, and keeps nothing but
// what it writes below the state directory of the Host that it is given.
package certify
