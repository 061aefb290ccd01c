// Package argv holds what must be true of every command line that an adapter
// builds, and how secrets get past it.
//
// It is pure and imports actors packages only.
package argv
