// Package filestest keeps files in memory for the tests of wires. It is a stand-in
// for the host and imports what wires may.
package filestest
