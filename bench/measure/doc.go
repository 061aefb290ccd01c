// Package measure runs the subjects of the bench through its scenarios: the floors
// (bench/floor), the plain host (bench/plain) and the product on its two wires, each a
// process of its own beside the one that measures, all with the same stand-in CLI.
// Within each repetition every subject takes its turn, so a ratio has the machine's
// mood on both sides.
//
// A scenario is one file and a line in scenarios. What it returns are plain figures;
// goals and verdicts are bench/report's.
//
// It needs Linux: processor time and memory of a process come from its clock and /proc.
package measure
