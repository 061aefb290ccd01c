package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

func commitIsReadBack(s *suite) {
	id := event.NewID()
	events := []event.Event{
		{Seq: 1, At: 5, Kind: event.SessionCreated, Body: &event.Settings{JSON: []byte(`{"id":"x"}`)}},
		{Seq: 2, At: 6, Kind: event.InputAccepted, Turn: id, Body: &event.Input{Number: 7, Prompt: "hello", Items: []*event.Item{{ID: id, Type: event.Message, User: true, Text: "hello"}}}},
		{Seq: 3, At: 7, Kind: event.TurnEnded, Turn: id, Body: &event.End{Outcome: event.Completed, Usage: &event.Usage{Input: 3, Output: 4}}},
	}
	active := store.Active
	s.must(&store.Commit{
		Session: id, Host: s.host, Epoch: 1, Events: events, Durable: true, State: &active,
		Create: &store.NewSession{Owner: "ann", Created: 99}, Body: []byte("body"), Spec: []byte("spec"),
		Turns: []store.Turn{{ID: id, Ordinal: 1, State: store.TurnOpen, First: 2, Number: 7, Body: []byte("turn")}},
	})
	rec := s.session(id)
	want := store.Session{ID: id, Owner: "ann", Created: 99, State: store.Active, Host: s.host, Epoch: 1, Head: 3, Bytes: rec.Bytes}
	if string(rec.Body) != "body" || string(rec.Spec) != "spec" || rec.Bytes <= 0 {
		s.Fatalf("got %+v", rec)
	}
	if got := *rec; got.ID != want.ID || got.Owner != want.Owner || got.Created != want.Created || got.State != want.State ||
		got.Host != want.Host || got.Epoch != want.Epoch || got.Head != want.Head || got.Trimmed != 0 {
		s.Fatalf("got %+v, want %+v", got, want)
	}
	got, err := s.Read(s.ctx(), id, 1, 3, 1<<20)
	s.ok("read", err)
	if len(got) != 3 || got[1].Body.(*event.Input).Items[0].Text != "hello" || got[2].Body.(*event.End).Usage.Output != 4 ||
		string(got[0].Body.(*event.Settings).JSON) != `{"id":"x"}` {
		s.Fatalf("got %+v", got)
	}
	turn, err := s.Turn(s.ctx(), "ann", id)
	s.ok("turn", err)
	if turn.Session != id || turn.Ordinal != 1 || turn.State != store.TurnOpen || turn.First != 2 || turn.Number != 7 || string(turn.Body) != "turn" {
		s.Fatalf("got %+v", turn)
	}
}

func commitIsAllOrNothing(s *suite) {
	id, other := s.create("ann", 1), s.create("ann", 1)
	turn := event.NewID()
	c := s.after(other, 1, 1)
	c.Turns = []store.Turn{{ID: turn, Ordinal: 1, State: store.TurnOpen, Number: 1}}
	s.must(c)

	// The turn is another session's, which shows only after the events are in.
	c = s.after(id, 1, 3)
	active := store.Active
	c.State, c.Body, c.Spec, c.Checkpoint = &active, []byte("new"), []byte("new"), []byte("new")
	c.Turns = []store.Turn{{ID: event.NewID(), Ordinal: 1, State: store.TurnOpen, Number: 50}, {ID: turn, Ordinal: 2, State: store.TurnOpen, Number: 51}}
	c.Key = &store.Key{Owner: "ann", Value: "k", Hash: "h", Created: 10}
	// Commits of others queued with it are not taken along.
	beside := s.create("bob", 1)
	first, bad, last := s.send(s.after(beside, 1, 2)), s.send(c), s.send(s.after(beside, 3, 2))
	s.ok("commit beside", s.await(first))
	s.want("foreign turn", s.await(bad), store.ErrExists)
	s.ok("commit beside", s.await(last))

	rec := s.session(id)
	if rec.Head != 1 || rec.State != store.Idle || string(rec.Body) != `{"body":1}` || string(rec.Spec) != `{"spec":1}` {
		s.Fatalf("a refused commit left %+v", rec)
	}
	_, err := s.Turn(s.ctx(), "", c.Turns[0].ID)
	s.want("turn of a refused commit", err, store.ErrNotFound)
	_, err = s.Key(s.ctx(), "ann", "k", 10)
	s.want("key of a refused commit", err, store.ErrNotFound)
	k, err := s.CheckpointBefore(s.ctx(), id, 100)
	s.ok("checkpoint", err)
	if k.Seq != 0 {
		s.Fatalf("a refused commit left checkpoint %d", k.Seq)
	}
	n, err := s.NextNumber(s.ctx())
	s.ok("number", err)
	if n != 2 {
		s.Fatalf("next number is %d, want 2", n)
	}
	s.checkEvents(beside, s.readAll(beside, 1, 5), 1, 5)
	again := s.after(id, 1, 3)
	again.Turns = []store.Turn{{ID: event.NewID(), Ordinal: 1, State: store.TurnOpen, Number: 9}}
	s.must(again)
	if n, err = s.NextNumber(s.ctx()); err != nil || n != 10 {
		s.T.Fatalf("next number is %d, want 10 (%v)", n, err)
	}
	s.checkEvents(id, s.readAll(id, 1, 4), 1, 4)
}

func commitsKeepTheirOrder(s *suite) {
	id := s.create("ann", 0)
	const n = 500
	type answer struct {
		head int64
		err  error
	}
	got := make(chan answer, n)
	for i := range int64(n) {
		c := s.after(id, i, 1)
		c.Durable = i%17 == 0
		c.Done = func(err error) { got <- answer{i, err} }
		s.Store.Commit(c)
	}
	for i := range int64(n) {
		select {
		case a := <-got:
			if a.head != i || a.err != nil {
				s.Fatalf("answer %d is for head %d: %v", i, a.head, a.err)
			}
		case <-time.After(wait):
			s.Fatalf("answer %d did not come", i)
		}
	}
	s.checkEvents(id, s.readAll(id, 1, n), 1, n)
	if rec := s.session(id); rec.Head != n {
		s.Fatalf("head %d, want %d", rec.Head, n)
	}
}

func badCommitIsRefused(s *suite) {
	id := s.create("ann", 2)
	deleted := store.Deleted
	for name, change := range map[string]func(*store.Commit){
		"event numbers leave a gap": func(c *store.Commit) { c.Events[1].Seq++ },
		"event numbers repeat":      func(c *store.Commit) { c.Events[0].Seq-- },
		"state deleted":             func(c *store.Commit) { c.State = &deleted },
		"turn of another session":   func(c *store.Commit) { c.Turns = []store.Turn{{ID: id, Session: s.host}} },
		"create behind events":      func(c *store.Commit) { c.Create = &store.NewSession{} },
	} {
		c := s.after(id, 2, 2)
		change(c)
		if err := s.commit(c); err == nil {
			s.Errorf("%s: accepted", name)
		}
	}
	if rec := s.session(id); rec.Head != 2 {
		s.Fatalf("head %d, want 2", rec.Head)
	}
}

func wrongHostOrEpochIsFenced(s *suite) {
	id := s.create("ann", 1)
	c := s.after(id, 1, 1)
	c.Host = event.NewID()
	s.want("another host", s.commit(c), store.ErrFenced)
	for _, epoch := range []int64{0, 2} {
		c = s.after(id, 1, 1)
		c.Epoch = epoch
		s.want(fmt.Sprintf("epoch %d", epoch), s.commit(c), store.ErrFenced)
	}
	s.want("unknown session", s.commit(s.after(event.NewID(), 0, 1)), store.ErrNotFound)
	s.must(s.after(id, 1, 1))
}

func wrongHeadIsRefused(s *suite) {
	id := s.create("ann", 5)
	for _, head := range []int64{0, 3, 4, 6, 100} {
		c := s.after(id, head, 1)
		c.Events[0].Text = "another event"
		s.want(fmt.Sprintf("head %d", head), s.commit(c), store.ErrHead)
	}
	s.checkEvents(id, s.readAll(id, 1, 100), 1, 5)
}

func repeatedCommitIsAnsweredAlike(s *suite) {
	id := event.NewID()
	create := func() *store.Commit {
		return &store.Commit{
			Session: id, Host: s.host, Epoch: 1, Events: Events(id, 1, 40), Durable: true, Create: &store.NewSession{Owner: "ann", Created: 5},
			Key: &store.Key{Owner: "ann", Value: "k", Hash: "h", Created: 10}, Turns: []store.Turn{{ID: id, Ordinal: 1, Number: 3}},
		}
	}
	s.must(create())
	s.must(create())
	other := create()
	other.Events[0].Text = "other"
	s.want("same id, other session", s.commit(other), store.ErrExists)

	second := func() *store.Commit {
		c := s.after(id, 40, 2)
		c.Body = []byte("second")
		return c
	}
	s.must(second())
	s.must(second())
	third := s.after(id, 42, 1)
	third.Body = []byte("third")
	s.must(third)
	// A late repeat is answered and changes nothing.
	s.must(second())
	rec := s.session(id)
	if rec.Head != 43 || string(rec.Body) != "third" {
		s.Fatalf("a repeat left head %d and body %q", rec.Head, rec.Body)
	}
	s.checkEvents(id, s.readAll(id, 1, 100), 1, 43)
	longer := s.after(id, 40, 3)
	s.want("repeat with more events", s.commit(longer), store.ErrHead)
	n, err := s.SessionCount(s.ctx())
	s.ok("count", err)
	if n != 1 {
		s.Fatalf("%d sessions, want 1", n)
	}
	// A new owner makes the old one's repeat fail, for it may not go on.
	_, err = s.Claim(s.ctx(), id, event.NewID())
	s.ok("claim", err)
	s.want("repeat after a claim", s.commit(second()), store.ErrFenced)
}

func claimRaisesTheEpoch(s *suite) {
	id := s.create("ann", 3)
	host := event.NewID()
	rec, err := s.Claim(s.ctx(), id, host)
	s.ok("claim", err)
	if rec.Host != host || rec.Epoch != 2 || rec.Head != 3 || string(rec.Body) != `{"body":1}` {
		s.Fatalf("got %+v", rec)
	}
	s.want("the old owner", s.commit(s.after(id, 3, 1)), store.ErrFenced)
	c := s.after(id, 3, 1)
	c.Host, c.Epoch = host, 2
	s.must(c)
	_, err = s.Claim(s.ctx(), event.NewID(), host)
	s.want("claim of an unknown session", err, store.ErrNotFound)
	s.reopen()
	if rec = s.session(id); rec.Host != host || rec.Epoch != 2 || rec.Head != 4 {
		s.Fatalf("after reopening: %+v", rec)
	}
}

func closedRefuses(s *suite) {
	id := s.create("ann", 1)
	pending := s.send(s.after(id, 1, 1))
	s.ok("close", s.Close())
	s.ok("a commit queued before", s.await(pending))
	s.ok("second close", s.Close())
	s.want("commit", s.commit(s.after(id, 2, 1)), store.ErrClosed)
	_, err := s.Session(s.ctx(), "", id)
	s.want("look-up", err, store.ErrClosed)
	s.want("remove", s.Remove(s.ctx(), id), store.ErrClosed)
}

// shuffled is 0..n-1 in an order that is the same in every run.
func shuffled(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = (i * 7919) % n
	}
	return list
}

// equalIDs fails unless got is want.
func equalIDs(t *testing.T, what string, got, want []event.ID) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
