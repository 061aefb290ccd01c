// Package jsontext appends JSON strings for frames that are written by hand. It
// is pure, knows no wire and imports only the standard library.
package jsontext
