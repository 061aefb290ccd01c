// Package simulation plays the pure cores of the engine together: many
// queue.Session, one queue.Admission, a turn.Turn for each running turn, a
// fold.State a session, and the memory store. It is tests only.
//
// One goroutine, virtual time and one seed decide everything: which of two
// actors is served first, when a commit lands, what a CLI says, when it hangs,
// exits or ignores a signal, when a client posts, cancels or deletes, when the
// store refuses a commit, and when the server crashes, drains and restarts. What
// one actor sends another arrives in order; messages of different senders arrive
// in any order. The actors are models of those in package actors: they carry out
// the cores' effects and keep these rules, each of which a test breaks to see the
// judge notice:
//
//   - an input is acknowledged after its commit;
//   - a CLI is spawned after the commit of its TurnStarted, so a crash cannot
//     make a turn run twice;
//   - a slot is returned when the turn's process is gone, whatever happened;
//   - a turn that waits for its caller has no slot, unless as many wait as may, and
//     gets one before it goes on; its CLI is told each answer once;
//   - an answer is acknowledged after its commit;
//   - a message for a running turn is acknowledged after its commit, and is a turn of
//     its own in the commit that says that the turn is over or its CLI refused it;
//   - after a restart, started turns are failed and queued ones run in the order
//     of acceptance;
//   - what a budget holds is not started before it is lifted;
//   - slots are shared by principals and held to the bounds of principals and agents.
//
// The judge sees every commit that landed, every process and every
// acknowledgement, and holds: an acknowledged input is never lost and runs at
// most once, or is part of one turn; turns of a session start in the order of acceptance, one at a time;
// one TurnEnded a turn and nothing after it; journals have no gaps and fold to
// the live state, from the start and from the newest checkpoint; never more
// turns or CLIs than slots, but for those that wait for their caller, which are
// bounded too; never more than a principal or an agent may have, no slot free that
// somebody who waits may have, nobody passed over for ever; no session in progress
// without a turn that lives or waits in the line; and when everything is quiet nothing is left.
//
// A failing run prints its seed, and -seed N plays it again, step by step the same.
// -runs and -steps play longer: go test ./actors/simulation -runs 1000.
package simulation
