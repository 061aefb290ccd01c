// Package apierr is the only place that knows how a failure looks from outside:
// its HTTP status, its envelope, its retry headers, and the code it has inside a
// turn object of the Agents wire and a response object of the Responses wire.
//
// There is one table with one row a code. Both wires and the server refuse
// through it, so the same mistake reads the same everywhere.
package apierr
