// Package sqlite is the embedded store: one SQLite file in WAL mode below the
// state directory.
//
// Who owns what. One writer goroutine owns the only writing connection: commits
// and the blocking changes queue for it, and it takes all that wait into one
// transaction (group commit). A group is synced before it is answered when one of
// its members asks for that; a later synced group makes the earlier ones durable
// too. Four reading connections are lent for one short transaction each, so that
// no reader holds the write-ahead log back for long. One checkpointer goroutine
// copies the log into the file. Close ends both goroutines.
//
// A session's events are chunk rows, one a commit, each with a checksum that
// covers the session's id and the numbers of its events, so that a damaged index
// can neither hand a row to another session nor hide one: readers check that
// chunks follow each other without a gap up to the head.
//
// The session row is not rewritten for commits that only append deltas. Its head
// is a lower bound then, and the newest chunk tells the true one; the row catches
// up with the next synced commit and at least every 64 commits.
//
// The file notes in which run of the machine it is open and whether it was closed
// (boot.go); a crash of the machine, and a damaged log, begin a new era, in which
// sessions of an older one are Uncertain. A session's mark and era are written with
// its row.
//
// Faults: a full disk refuses what does not fit and goes on; a failed sync is
// fatal (Store.Fatal), because the kernel may have dropped what an earlier commit
// reported as written. All files are read and written through vfs.go, where tests
// put the faults. Damage is found where it is read and is ErrCorrupt for that
// session alone; the store keeps no list of damaged sessions. Lists leave damaged
// rows out, with a line in the log.
//
// Without a server, and with its lock: Check reads everything (it works beside one,
// too), Compact writes the file anew, Repair makes it sound: from rows (mend.go),
// or, when SQLite cannot read the file, from its pages (salvage.go). What bytes mean
// is told to a repair by a store.Refold.
//
// It may import actors/{event,spec,store}. Only driver.go and vfs.go name
// the SQLite driver.
package sqlite
