// Package judge says which promises a cycle of a chaos run broke. It is a pure function
// of the schedule, the observer's records, the streams and the CLIs' log; it knows no
// server and asks nobody.
//
// The promises:
//
//   - An accepted input ran exactly once and is reported completed once, or is reported
//     failed or cancelled once and ran at most once. A refused one did not run.
//   - Turns of a session stand in the order in which its inputs were accepted, their
//     CLIs start in that order, and none starts before the one before it has ended.
//   - Each turn has one terminal event, and nothing of it comes behind.
//   - A completed turn says what its CLI said; deltas join to the whole text.
//   - What a reader saw, from whatever cursors, is what a replay from the store says,
//     frame for frame, without a gap. Only a power cut may take back deltas.
//   - Without a fault everything goes as its prompt says.
package judge
