package actors_test

import (
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

func restless() actors.Limits {
	l := quick()
	l.PassivateAfter = 20 * time.Millisecond
	return l
}

// A session that was put away comes back with its ids, its native session, its
// usage and its cursors.
func TestPassivatedSessionComesBack(t *testing.T) {
	t.Parallel()
	h := started(t, restless(), memory.New())
	p := create(t, h, "echo '#session n-1'; echo one; echo '#final'")
	ses, first := p.Session.ID, p.Turns[0].ID
	seen := follow(t, h, ses, 0, ended(first))
	passivated(t, h)

	back, err := h.Turn(ctx(t), "alice", first)
	if err != nil || back.Status != fold.Completed || back.Items[0].Text != "one\n" || *back.End.Usage != (event.Usage{Input: 3, Output: 5}) {
		t.Errorf("turn of a passivated session: %+v, %v", back, err)
	}
	if s, err := h.Session(ctx(t), "alice", ses); err != nil || s.Usage.Total() != 8 || s.Native != "n-1" {
		t.Errorf("passivated session: %+v, %v", s, err)
	}
	if h.Stats().Active != 0 {
		t.Error("reading woke the session")
	}

	cursor := seen[len(seen)-2].Seq
	sub, err := h.Subscribe(ctx(t), "alice", ses, cursor)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	second := send(t, h, ses, "echo two $NATIVE; echo '#final'")
	got := drain(t, sub, cursor, ended(second.ID))
	if got[0].Seq != seen[len(seen)-1].Seq || got[0].Turn != first || second.Ordinal != 2 || second.Previous != first {
		t.Errorf("after the cursor came %+v; second turn %+v", got[0], second)
	}
	back, err = h.Turn(ctx(t), "alice", second.ID)
	if err != nil || back.Items[0].Text != "two n-1\n" {
		t.Errorf("second turn: %+v, %v", back, err)
	}
	if s, err := h.Session(ctx(t), "alice", ses); err != nil || s.Usage.Total() != 16 {
		t.Errorf("usage after both: %+v, %v", s, err)
	}
}

// A reader keeps its session in memory, and hears of a turn long afterwards.
func TestSubscribedSessionIsNotPassivated(t *testing.T) {
	t.Parallel()
	h := started(t, restless(), memory.New())
	p, other := create(t, h, ""), create(t, h, "")
	sub, err := h.Subscribe(ctx(t), "alice", p.Session.ID, -1)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "only the other one is put away", func() bool { return h.Stats().Active == 1 })
	_ = other
	turn := send(t, h, p.Session.ID, "echo hi")
	drain(t, sub, sub.After(), ended(turn.ID))
	sub.Close()
	sub.Close()
	passivated(t, h)
	if n := h.Stats().Subscribers; n != 0 {
		t.Errorf("%d subscribers left", n)
	}
}

// Messages and passivations meet at every moment: nothing is lost.
func TestInputsMeetPassivation(t *testing.T) {
	t.Parallel()
	l := quick()
	l.PassivateAfter = time.Nanosecond
	h := started(t, l, memory.New())
	ses := create(t, h, "").Session.ID
	for range 60 {
		turn := send(t, h, ses, "echo hi")
		follow(t, h, ses, turn.First-1, ended(turn.ID))
		if err := h.ForgetTurn(ctx(t), "alice", turn.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := h.UpdateSession(ctx(t), "alice", ses, &spec.Update{Metadata: &map[string]string{"a": "b"}}); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := h.Session(ctx(t), "alice", ses); err != nil || s.Turns != 60 || s.Open != 0 {
		t.Errorf("session %+v, %v", s, err)
	}
}
