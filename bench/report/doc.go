// Package report holds the figures of a measurement, judges them against goals and
// writes them as a table, JSON, a chart and a page. It measures nothing and is pure
// but for its writers' output.
//
// Every judgement is a ratio of two subjects that were measured in turn within one
// repetition; the machine's mood is then on both sides of it. The plain host runs
// twice under two names: when the two differ by more than a tenth in a figure that a
// goal compares with it, the goal is not judged.
package report
