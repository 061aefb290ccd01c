package actors_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
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
