// Package calltest is for tests of what reads requests: it answers a body by a
// handler, on no connection, and looks at what the body was read as. It knows no wire.
package calltest
