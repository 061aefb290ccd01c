package actors_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// atOnce calls f from twenty goroutines and returns the one answer that was new.
func atOnce(t *testing.T, f func() (*actors.Posted, error)) *actors.Posted {
	t.Helper()
	var mu sync.Mutex
	var all []*actors.Posted
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			p, err := f()
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, p)
		})
	}
	wg.Wait()
	var first *actors.Posted
	for _, p := range all {
		if !p.Replayed {
			if first != nil {
				t.Error("two calls did the work")
			}
			first = p
		}
	}
	if first == nil {
		t.Fatal("no call did the work")
	}
	for _, p := range all {
		if p.Session.ID != first.Session.ID || len(p.Turns) != 1 || p.Turns[0].ID != first.Turns[0].ID || p.Before != first.Before {
			t.Errorf("an answer differs: %+v, want %+v", p, first)
		}
	}
	return first
}

func TestSameKeyIsOneSessionAndOneTurn(t *testing.T) {
	t.Parallel()
	mem, dir := memory.New(), t.TempDir()
	h := dropped(t, dir, quick(), mem)
	newSession := func(h *actors.Host, hash string) (*actors.Posted, error) {
		return h.CreateSession(ctx(t), "alice", &spec.NewSession{
			Agent: spec.Agent{Adapter: "script"}, Input: input("echo hi"), Key: &spec.Key{Value: "k1", Hash: hash},
		})
	}
	made := atOnce(t, func() (*actors.Posted, error) { return newSession(h, "h1") })
	ses := made.Session.ID
	post := func(h *actors.Host, owner, hash string) (*actors.Posted, error) {
		return h.Post(ctx(t), owner, ses, []spec.Action{{Input: input("echo ho")}}, &spec.Key{Value: "k2", Hash: hash})
	}
	posted := atOnce(t, func() (*actors.Posted, error) { return post(h, "alice", "h2") })
	follow(t, h, ses, 0, ended(posted.Turns[0].ID))

	judge := func(h *actors.Host) {
		t.Helper()
		if _, err := newSession(h, "other"); event.CodeOf(err) != event.IdempotencyMismatch {
			t.Errorf("same key, other create: %v", err)
		}
		if _, err := post(h, "alice", "other"); event.CodeOf(err) != event.IdempotencyMismatch {
			t.Errorf("same key, other post: %v", err)
		}
		p, err := newSession(h, "h1")
		if err != nil || !p.Replayed || p.Session.ID != ses || p.Turns[0].ID != made.Turns[0].ID {
			t.Errorf("repeated create: %+v, %v", p, err)
		}
		p, err = post(h, "alice", "h2")
		if err != nil || !p.Replayed || p.Turns[0].ID != posted.Turns[0].ID || p.Before != posted.Before {
			t.Errorf("repeated post: %+v, %v", p, err)
		}
		if turns, _, err := h.Turns(ctx(t), "alice", ses, spec.Page{}); err != nil || len(turns) != 2 {
			t.Errorf("%d turns, want 2 (%v)", len(turns), err)
		}
		if list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{}); err != nil || len(list) != 1 {
			t.Errorf("%d sessions, want 1 (%v)", len(list), err)
		}
	}
	judge(h)
	mem = mem.Reopen()
	stop(t, h)
	h = startedIn(t, dir, quick(), mem)
	judge(h)

	// A key belongs to its principal, and a deleted session stays deleted.
	if _, err := post(h, "bob", "h2"); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("another principal's key: %v", err)
	}
	if err := h.DeleteSession(ctx(t), "alice", ses); err != nil {
		t.Fatal(err)
	}
	if p, err := newSession(h, "h1"); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("the key of a deleted session: %+v, %v", p, err)
	}
}

// A caller that gave up and repeats its request finds what the first one made.
func TestRepeatAfterGivingUpFindsTheFirst(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	st := &faulty{Store: memory.New(), held: make(chan struct{}, 100)}
	st.holding.Store(&free)
	h := started(t, quick(), st)
	n := &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Key: &spec.Key{Value: "k", Hash: "h"}}
	short, cancel := context.WithCancel(ctx(t))
	gaveUp := make(chan error, 1)
	go func() {
		_, err := h.CreateSession(short, "alice", n)
		gaveUp <- err
	}()
	<-st.held
	cancel()
	if err := <-gaveUp; err == nil {
		t.Fatal("the create did not give up")
	}
	again := make(chan *actors.Posted, 1)
	go func() {
		p, err := h.CreateSession(ctx(t), "alice", n)
		if err != nil {
			t.Error(err)
		}
		again <- p
	}()
	select {
	case p := <-again:
		t.Fatalf("answered before the first was stored: %+v", p)
	case <-time.After(30 * time.Millisecond): // nothing can be waited for: nothing may happen
	}
	close(free)
	if p := <-again; p == nil || !p.Replayed {
		t.Errorf("the repeat = %+v, want the first's answer", p)
	}
	if list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{}); err != nil || len(list) != 1 {
		t.Errorf("%d sessions (%v)", len(list), err)
	}
}

// What a keyed request makes is one record, whichever kind, also after a restart.
func TestSameKeyIsOneAgentAndOneFile(t *testing.T) {
	t.Parallel()
	mem, dir := memory.New(), t.TempDir()
	h := dropped(t, dir, quick(), mem)
	makes := map[string]func(h *actors.Host, hash string) (event.ID, error){
		"agent": func(h *actors.Host, hash string) (event.ID, error) {
			a := &spec.Agent{ID: event.NewID(), Name: "one", Adapter: "script"}
			err := h.CreateAgent(ctx(t), "alice", a, &spec.Key{Value: "agent", Hash: hash})
			return a.ID, err
		},
		"file": func(h *actors.Host, hash string) (event.ID, error) {
			f, err := h.PutFile(ctx(t), "alice", spec.File{Name: "x"}, strings.NewReader("content"), &spec.Key{Value: "file", Hash: hash})
			if err != nil {
				return event.ID{}, err
			}
			return f.ID, nil
		},
	}
	first := map[string]event.ID{}
	for name, create := range makes {
		ids := make([]event.ID, 20)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				id, err := create(h, "h")
				if err != nil {
					t.Error(err)
				}
				ids[i] = id
			})
		}
		wg.Wait()
		first[name] = ids[0]
		for _, id := range ids {
			if id.IsZero() || id != ids[0] {
				t.Errorf("%s: ids %v", name, ids)
				break
			}
		}
	}
	judge := func(h *actors.Host) {
		t.Helper()
		for name, create := range makes {
			if _, err := create(h, "other"); event.CodeOf(err) != event.IdempotencyMismatch {
				t.Errorf("same key, other %s: %v", name, err)
			}
			if id, err := create(h, "h"); err != nil || id != first[name] {
				t.Errorf("repeated %s: %v %v, want %v", name, id, err, first[name])
			}
		}
		agents, _, err := h.Agents(ctx(t), "alice", spec.Page{})
		files, _, ferr := h.Files(ctx(t), "alice", "", spec.Page{})
		if err != nil || ferr != nil || len(agents) != 1 || len(files) != 1 {
			t.Errorf("%d agents, %d files: %v, %v", len(agents), len(files), err, ferr)
		}
	}
	judge(h)
	mem = mem.Reopen()
	stop(t, h)
	h = startedIn(t, dir, quick(), mem)
	judge(h)
	must(t, h.DeleteFile(ctx(t), "alice", first["file"]))
	if id, err := makes["file"](h, "h"); event.CodeOf(err) != event.FileNotFound {
		t.Errorf("the key of a deleted file: %v, %v", id, err)
	}
}
