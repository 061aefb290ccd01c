// Package plan turns an agent's to-do list, which its CLI prints anew at every
// change, into one reasoning item that grows by the lines that changed.
//
// It is pure and imports actors packages only.
package plan
