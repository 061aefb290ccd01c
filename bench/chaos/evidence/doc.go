// Package evidence is what a chaos run is judged by: the observer's records of what it
// sent and was told, the streams it read, and the CLIs' own log of what they ran. All
// of it is files that stay when a promise was broken. It reads and writes them and
// judges nothing.
package evidence
