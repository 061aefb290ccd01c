//go:build !race

package actors_test

// floodSize is how many deltas a flood has.
const floodSize = 100_000
