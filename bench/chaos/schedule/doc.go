// Package schedule says what a chaos run does and when: a pure function of the seed
// and the cycle's number, so that the same seed repeats it. What a fault meets depends
// on the machine; whom it picks is a number that is taken modulo what there is.
package schedule
