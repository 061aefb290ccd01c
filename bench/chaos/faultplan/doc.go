// Package faultplan is what `agenthost serve --fault-plan FILE` reads: which of a
// server's disk operations fail and where its clock stands. A plan is a JSON file that
// is replaced as a whole, which the server notices within some milliseconds and which
// outlives its death.
package faultplan
