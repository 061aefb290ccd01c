// Package policy decides who may do what, and within which bounds.
//
// A Document is a list of statements. Each allows or denies operations, which are
// named by the ids of routes and by agents.<adapter>.<verb>, to the principals that
// it names. Compile joins a document with the operations that there are, and For
// gives what one principal may do as a table that is only looked up: a decision
// allocates nothing.
//
// # Rules
//
//   - A deny that matches wins over every allow. What no statement matches is denied.
//   - The order of the statements means nothing.
//   - Whoever comes in may read server.* (what it may do), unless a statement denies it.
//   - An allow may carry limits and a scope. Where several allows match, all of them
//     hold: of two bounds the stricter one, of two lists both.
//   - The scope of a turn is made of every allow that lets the principal start or feed
//     the turn's adapter, whichever wire it comes by: a session cannot be made on one
//     wire and used on the other with more than either gives.
//
// The package does no I/O and has no clock. It knows neither HTTP nor tokens: who a
// caller is, is told to it.
package policy
