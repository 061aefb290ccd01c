// Package layout holds the test of the house: which room may import which, that
// every room says what it is, and that the actor library is named in one room
// only. It reads sources, because a test that asks the go command can be answered
// from a cache.
package layout
