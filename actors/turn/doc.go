// Package turn decides what a turn does next. A Turn is a state machine:
// Step takes one Input and returns the Effects that its owner carries out. It
// has no clock, no goroutine and no I/O; time is an argument and limits are
// inputs, so every rule of cancelling, limits, settling and exit is tested
// without a process.
//
// # States
//
//	fresh      before Start
//	preparing  workspace and files are being made
//	starting   the process is being spawned
//	running    the process runs and its facts become events
//	stopping   the outcome is decided by us, the process was told to end
//	draining   settled: TurnEnded is out, the process is still there
//	abandoned  settled while the preparation still ran
//	done       Finished is out
//
// A turn that waits for its caller gets a state between running and draining.
//
// # Promises
//
// Whatever comes in, in whatever order: TurnEnded is emitted exactly once and
// is the last event; Finished is given exactly once, after TurnEnded, after
// Gone if a process was spawned, and after the answer to Prepare if one is
// owed, so two turns never work in one workspace. The owner must answer every
// Prepare with Prepared or PrepareFailed, every Spawn with Spawned or
// SpawnFailed, and every Spawned with Exited and then Gone.
//
// The owner feeds Prepared only after the commit of TurnStarted has landed.
// Otherwise a crash between spawn and commit leaves a turn that looks queued, and
// it would run a second time after the restart. When that commit fails, the owner
// feeds Stop first. actors/simulation plays both.
//
// # Settling
//
// A final verdict settles at once. A tentative one settles at the exit, or
// after SettleQuiet without output in which no item was opened since the
// verdict and is still open (that item shows that the CLI has gone on); a later
// verdict replaces it. A limit of ours that strikes after a tentative verdict
// settles with the verdict. A cancel or Stop before settling decides the
// outcome; a verdict that still comes adds its usage and carry only. The exit
// status counts only when there is no verdict. What a CLI says after settling
// is dropped and counted (Dropped).
//
// After settling the process may linger. At the end of the linger it is told to
// end; Hurry ends the linger early, but leaves the CLI hurryGrace since the
// settling, in which it saves its conversation for a later resume.
//
// # Items
//
// The core makes events of facts. Every ItemStarted gets one ItemDone before
// TurnEnded; the deltas of a message or reasoning joined equal the text of its
// ItemDone. A finished message is held back, because its phase depends on what
// follows: a message or tool makes it commentary, a completed end makes it the
// final answer. Items longer than MaxItemBytes continue in a further item
// (message, reasoning) or are cut with the dropped size named (tools). An open
// item of a turn that ends closes as incomplete, except the newest message of a
// completed turn: its CLI only did not say that it was complete.
//
// # Subagents
//
// A fact with a Parent says what a subagent did. Its items become one event each,
// when they are finished: first what its call asks, last its report. They have no
// place among the turn's items, its answer and its open tools; while a subagent
// works, its call is the open tool. A call that ends closes what is open below it.
//
// The package imports actors/event and actors/agent.
package turn
