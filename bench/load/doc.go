// Package load plays users of a running host, of either wire, for a while, and says what
// they waited and what was refused: it is how an operator sizes a machine.
//
// With a rate, turns are due at fixed times whether or not the ones before have ended,
// and what a user waits counts from when the turn was due. A host that stalls then shows
// in every turn that was due meanwhile, and not in the few that happened to be under way
// ("coordinated omission"). Without a rate each session asks again when it was answered
// and has thought; what such users wait says nothing about others that would have come.
//
// It imports bench/drive and bench/report; a histogram of high dynamic range keeps times.
package load
