// Package fold turns a session's events into its objects: the session, its
// turns, their items and usage. The non-streamed object, the last streamed one,
// what a GET returns and a replay are equal because all are this fold of the
// same journal.
//
// It also owns Batch, the unit in which events travel from the journal to
// readers, with the place where a wire's rendering of it is kept.
//
// # Views
//
// A view is a value as of one event. What it leads to is never changed
// afterwards: the fold copies what it goes on writing (an open item, a sum), and
// shares what is final (bodies of events, settings). Readers share it too and may
// not write to it.
//
// # Legs
//
// A turn that waits for its caller answers one request a leg, and Turn.Part shows each
// as a turn of its own: the legs divide the turn's items, in order, and one that has
// ended never changes again, whatever becomes of what it asked. Steps count within a
// leg. What comes between TurnWaiting and LegStarted (the ends of what was asked, the
// answers, or the turn's end) is of the next leg, which only LegStarted makes; a turn
// that ends while it waits has no such leg. Session.Required is what the waiting turn
// still asks, and nothing else changes it.
//
// # Why there is no checkpoint inside a turn
//
// Checkpoints are written at rest points, when nothing is queued or running. The
// state is then a few hundred bytes beside the settings, so writing one costs
// nothing; inside a turn it would hold every item so far and the text of the open
// ones, megabytes that would be written again and again while the turn runs, and
// a second stored format that must follow the first.
//
// Reading pays little for that. An ItemDone carries its item whole and an event
// its own Step and Index, so the deltas between say nothing that the view of an
// ended turn needs: a test here blanks them and finds the same views. A reader of
// a long turn decodes its deltas once, from the rest point before it, which is
// what it would stream anyway; should that ever be too slow, the deltas can be
// skipped when they are read, and nothing stored has to change.
//
// Beside that it holds what was posted for an agent that has not heard it, at most
// as much as a preface takes (spec.MaxPreface).
//
// What is given up: a session whose queue never empties has no rest point, so its
// journal cannot be trimmed and a cursor into it is reached from the last rest
// point however far back that is. The length of the queue bounds neither; an idle
// moment ends both.
//
// Pure: it imports actors/event and actors/spec, and does no I/O.
package fold
