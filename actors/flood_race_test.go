//go:build race

package actors_test

// floodSize is smaller here: the race detector makes the test's own readers, not
// the host, too slow for more.
const floodSize = 20_000
