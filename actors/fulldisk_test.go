package actors_test

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// On a disk that is full and stays so, the turn that filled it is ended, and that is
// stored and told; with room again the session goes on.
//
//cases:114
func TestEndIsStoredOnADiskThatStaysFull(t *testing.T) {
	t.Parallel()
	faults := &sqlite.Faults{}
	dir := t.TempDir()
	st, err := sqlite.Open(dir, sqlite.Options{Faults: faults, Reserve: 4 << 20})
	must(t, err)
	h := startedIn(t, dir, quick(), st)
	p := create(t, h, "while :; do echo 0123456789012345678901234567890123456789; done")
	follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	faults.SmallDisk(2 << 20)
	eventually(t, "its end is stored", func() bool {
		v, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
		return err == nil && v.End != nil && v.End.Outcome == event.Failed && v.End.Failure.Code == event.StorageFailed
	})
	// Nothing else is taken.
	if _, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("true")}); event.CodeOf(err) != event.StorageFailed {
		t.Errorf("a session for a full disk: %v", err)
	}
	faults.Clear()
	eventually(t, "the session goes on", func() bool {
		_, err := h.Post(ctx(t), "alice", p.Session.ID, []spec.Action{{Input: input("echo on")}}, nil)
		return err == nil
	})
	eventually(t, "it is idle", func() bool {
		s, err := h.Session(ctx(t), "alice", p.Session.ID)
		return err == nil && s.Open == 0 && s.Turns == 2
	})
	nothingLeft(t, h, dir)
}

// Below the floor of the disk the running turn is ended while there is room to say so:
// what it said is stored and told, its reader sees the end, and what is queued waits,
// over a restart too, until there is room.
//
//cases:114
func TestTurnsEndBelowTheFloorOfTheDisk(t *testing.T) {
	t.Parallel()
	faults := &sqlite.Faults{}
	dir := t.TempDir()
	open := func() *sqlite.Store {
		st, err := sqlite.Open(dir, sqlite.Options{Faults: faults, MinFreeDisk: 1 << 20})
		must(t, err)
		return st
	}
	h := startedIn(t, dir, quick(), open())
	p := create(t, h, "echo begun; sleep 300")
	sub, err := h.Subscribe(ctx(t), "alice", p.Session.ID, 0)
	must(t, err)
	defer sub.Close()
	seen := drain(t, sub, 0, spoke(p.Turns[0].ID))
	queued := send(t, h, p.Session.ID, "echo on")
	other := create(t, h, "")
	faults.SmallDisk(900 << 10)
	end := outcome(t, drain(t, sub, seen[len(seen)-1].Seq, ended(p.Turns[0].ID)))
	if end.Outcome != event.Failed || end.Failure.Code != event.StorageFailed || !strings.Contains(end.Failure.Message, "min_free_disk") {
		t.Errorf("%s %v", end.Outcome, end.Failure)
	}
	if turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID); err != nil || spoken(turn) != "begun" {
		t.Errorf("%v %v", turn, err)
	}
	if _, err := h.Post(ctx(t), "alice", other.Session.ID, []spec.Action{{Input: input("true")}}, nil); event.CodeOf(err) != event.StorageFailed {
		t.Errorf("input below the floor: %v", err)
	}
	waits := func(h *actors.Host) {
		t.Helper()
		eventually(t, "the queue waits", func() bool { s := h.Stats(); return s.LowDisk && s.Waiting == 1 && s.Running == 0 })
		if turn, err := h.Turn(ctx(t), "alice", queued.ID); err != nil || turn.Status != fold.Queued {
			t.Errorf("the queued turn: %v %v", turn, err)
		}
	}
	waits(h)
	stop(t, h)
	h = startedIn(t, dir, quick(), open())
	waits(h)
	faults.Clear()
	if turn := toTheEnd(t, h, p.Session.ID, queued.ID); turn.Status != fold.Completed || spoken(turn) != "on" {
		t.Errorf("%s %q", turn.Status, spoken(turn))
	}
	nothingLeft(t, h, dir)
}
