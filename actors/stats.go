package actors

import (
	"sync/atomic"
	"time"
)

// Stats are the host's counts at one moment.
type Stats struct {
	Running     int64 // turns with a slot
	Waiting     int64 // turns waiting for one
	Parked      int64 // turns that wait for their caller without one
	Active      int64 // sessions in memory
	Subscribers int64
	Trees       int64 // process trees alive
	Runners     int64 // processes that serve many turns
	Actors      int64 // of all kinds
	// Counters since the start.
	Completed, Failed, Cancelled int64
	OrphansReaped                int64
	Evicted                      int64 // sessions that went by themselves
	Crashes                      int64 // actors that panicked
	Stuck                        int64 // sessions that were in progress without a turn that lives
	Commits                      int64
	CommitTime                   time.Duration
	// TurnTime is the moving average of the time that a turn holds its slot, TurnMemory
	// of the most that its process takes in bytes; 0 before the first.
	TurnTime   time.Duration
	TurnMemory int64
	// Room says that there is memory for a further turn, LowDisk that there is none on
	// the disk.
	Room, LowDisk bool
}

type stats struct {
	running, waiting, active, subscribers, trees atomic.Int64
	parked, runners, actors                      atomic.Int64
	completed, failed, cancelled                 atomic.Int64
	orphans, crashes, commits, commitNanos       atomic.Int64
	evicted                                      atomic.Int64
	tight                                        atomic.Bool
	stuck, turnMemory                            atomic.Int64
	lowDisk, asksDisk                            atomic.Bool
	lineStats
}

func (s *stats) commit(d time.Duration) {
	s.commits.Add(1)
	s.commitNanos.Add(int64(d))
}

// full reports whether a turn accepted now would wait for a slot.
func (s *stats) full(slots int) bool {
	return s.waiting.Load() > 0 || s.running.Load() >= int64(slots)
}

// Stats returns the host's counts.
func (h *Host) Stats() Stats {
	s := &h.stats
	return Stats{
		Running: s.running.Load(), Waiting: s.waiting.Load(), Parked: s.parked.Load(), Active: s.active.Load(),
		Subscribers: s.subscribers.Load(), Runners: s.runners.Load(), Trees: s.trees.Load(), Actors: s.actors.Load(),
		Completed: s.completed.Load(), Failed: s.failed.Load(), Cancelled: s.cancelled.Load(),
		OrphansReaped: s.orphans.Load(), Evicted: s.evicted.Load(), Crashes: s.crashes.Load(),
		Commits: s.commits.Load(), CommitTime: time.Duration(s.commitNanos.Load()),
		Stuck: s.stuck.Load(), TurnTime: time.Duration(s.turnTime.Load()) * time.Millisecond, TurnMemory: s.turnMemory.Load(),
		Room: !s.tight.Load(), LowDisk: s.lowDisk.Load(),
	}
}
