// Package queue decides who runs next: Session is one session's FIFO, Admission
// the host's slots and the line before them. Both are state machines
// without clock, goroutine or I/O; their owners (the session actor, the
// supervisor) carry the results out.
//
// A session's line is in order of acceptance. An input that was accepted as a message
// for the running turn and did not become part of it comes late, and goes into the
// place that it was accepted in.
//
// # The protocol between them
//
// A Session asks for its head only, and only while it runs nothing, so an input
// whose session is busy is never in the way of others. Of one principal admission
// grants the lowest acceptance number first; between principals it shares the slots by
// weight, so that nobody stands behind another's backlog. It passes over who is at a
// bound of its principal or agent. A grant is answered by starting the turn or by
// returning the slot: a turn cancelled while its grant was under way gives
// Return. A slot is returned once the turn actor is gone, however it ended.
//
// A turn that waits for its caller is parked: it gives its slot back and stays the
// session's running turn, so nothing else of its session starts. To go on it asks
// again, at the number of its acceptance, and Resume comes with the grant. It may end
// while it has no slot, or while it asks for one: Done and the Return of its slot take
// back what is on the way.
//
// After a turn the session sends the Ask that Done gave before the turn's Return:
// so its next turn is in the line when the slot is granted, and the order of
// acceptance holds over all sessions of a principal. When a session's actor dies without a word,
// Leave takes back what it had.
//
// Messages between the two may cross. Admission therefore takes every Ask,
// Withdraw and Return in any order and any number of times: a turn holds at most
// one slot, and gives it back exactly once.
//
// Rates bounds how often something is done.
//
// The package imports actors/event.
package queue
