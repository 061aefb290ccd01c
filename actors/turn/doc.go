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
//	waiting    something is asked of the caller, and the turn has no slot
//	resuming   all is answered, a slot is asked for
//	stopping   the outcome is decided by us, the process was told to end
//	draining   settled: TurnEnded is out, the process is still there
//	abandoned  settled while the preparation still ran
//	done       Finished is out
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
// verdict and is still open (that item shows that the CLI has gone on), or, when
// subagents worked since the verdict before, whose reports make the CLI go on, after
// the idle timeout; a later verdict replaces it. A limit of ours that strikes after a tentative verdict
// settles with the verdict. A cancel or Stop before settling decides the
// outcome; a verdict that still comes adds its usage and carry only. The exit
// status counts only when there is no verdict. What a CLI says after settling
// is dropped and counted (Dropped).
//
// After settling the process may linger. At the end of the linger it is told to
// end; Hurry ends the linger early, but leaves the CLI hurryGrace since the
// settling, in which it saves its conversation for a later resume.
//
// # Waiting for the caller
//
// A call of the caller's function, or a question for permission, is shown once no
// other has come for Gather. Then the leg ends: every open item closes, the calls
// begin, TurnWaiting is emitted and Wait given. An answer is taken whole or refused;
// each call that is answered, that times out, that its CLI gives up or that the turn's
// end overtakes gets exactly one ItemDone, and CallAnswered follows that of an answered
// one. When nothing is open any more LegStarted is emitted, which names all answers of
// the wait, and Continue given; Wait and Continue alternate. After Resumed, and only
// then, each answer is delivered once. Calls that come meanwhile are shown in the next
// leg.
//
// While a turn waits the clocks of turn and silence stand still, and the owner keeps
// back what the CLI says (Waiting), so no item begins between TurnWaiting and
// LegStarted but at the turn's end. A cancel, a Stop, an exit and a limit end a waiting
// turn as any other. A call after a tentative verdict shows that the CLI has gone on:
// no quiet settles the turn until its next verdict.
//
// An item that the wait cut off goes on in a further item once something more is said
// of it: a message with the rest of its text, a tool with what it gives from there on.
// Until then it has no open item, but a tool still counts as running for the idle
// clock. What the CLI says about calls of HostServer is left out. With Asks a tool's
// item begins after the question that may precede it.
//
// # Steering
//
// A message for the running turn is handed to the CLI once it runs and does not wait
// for its caller, one at a time. Of one that the CLI has (Steered, Taken) InputSteered
// is emitted, which makes it part of the turn. When the CLI refuses one, it and all
// that follow are given back, in order, as Unsteered. The turn's end says nothing of
// those that are left: whoever keeps them sees it.
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
