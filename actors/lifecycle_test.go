package actors_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

func TestStopLetsRunningTurnsEnd(t *testing.T) {
	t.Parallel()
	dir, gate, mem := t.TempDir(), gateIn(t), memory.New()
	h := dropped(t, dir, quick(), mem)
	p := create(t, h, blocker(gate))
	ses, running := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, spoke(running))
	queued := send(t, h, ses, "echo queued").ID
	sub, err := h.Subscribe(ctx(t), "alice", ses, 0)
	must(t, err)
	var wg sync.WaitGroup
	for range 3 { // each waits for the same end
		wg.Go(func() {
			if err := h.Stop(ctx(t)); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "it drains", h.Draining)
	_, err = h.Post(ctx(t), "alice", ses, []spec.Action{{Input: input("true")}}, nil)
	if f, ok := event.AsFailure(err); !ok || f.Code != event.ShuttingDown || f.RetryAfter == 0 {
		t.Errorf("post while draining: %v", err)
	}
	if _, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}}); event.CodeOf(err) != event.ShuttingDown {
		t.Errorf("create while draining: %v", err)
	}
	openGate(t, gate)
	wg.Wait()
	list, err := toEnd(t, sub)
	if event.CodeOf(err) != event.ShuttingDown {
		t.Errorf("the stream ended with %v", err)
	}
	if end := outcome(t, list); end.Outcome != event.Completed {
		t.Errorf("the running turn: %+v %v", end, end.Failure)
	}
	sub.Close()
	if _, err := h.Session(ctx(t), "alice", ses); event.CodeOf(err) != event.ShuttingDown {
		t.Errorf("get after Stop: %v", err)
	}
	if _, err := h.CancelTurn(ctx(t), "alice", running); event.CodeOf(err) != event.ShuttingDown {
		t.Errorf("cancel after Stop: %v", err)
	}
	if left := alive(t, dir); len(left) > 0 {
		t.Errorf("alive after Stop: %q", left)
	}

	h = startedIn(t, dir, quick(), mem.Reopen())
	got := judgeEnds(t, h, ses, ended(queued))
	if got[running] != event.Completed || got[queued] != event.Completed {
		t.Errorf("outcomes after the restart: %v", got)
	}
}

func TestStopEndsWhatOutlastsItsLimit(t *testing.T) {
	t.Parallel()
	dir, mem, l := t.TempDir(), memory.New(), quick()
	l.MaxConcurrentTurns = 1
	h := dropped(t, dir, l, mem)
	p := create(t, h, "trap '' INT TERM; echo on; while :; do sleep 1; done")
	ses, running := p.Session.ID, p.Turns[0].ID
	waiting := create(t, h, "echo waited")
	queued := send(t, h, ses, "echo queued").ID
	follow(t, h, ses, 0, spoke(running))
	over, cancel := context.WithTimeout(ctx(t), 30*time.Millisecond)
	defer cancel()
	must(t, h.Stop(over))
	if left := alive(t, dir); len(left) > 0 {
		t.Errorf("alive after Stop: %q", left)
	}

	h = startedIn(t, dir, l, mem.Reopen())
	got := judgeEnds(t, h, ses, ended(queued))
	if got[running] != event.Failed || got[queued] != event.Completed || len(got) != 2 {
		t.Errorf("outcomes %v", got)
	}
	turn, err := h.Turn(ctx(t), "alice", running)
	if err != nil || turn.End.Failure.Code != event.ServerStopped {
		t.Errorf("the turn that was ended: %+v, %v", turn, err)
	}
	follow(t, h, waiting.Session.ID, 0, ended(waiting.Turns[0].ID))
}

// An input whose commit is under way when the host stops is answered, and runs
// after the restart.
func TestStopAnswersWhatIsBeingStored(t *testing.T) {
	t.Parallel()
	dir, mem := t.TempDir(), memory.New()
	st := &faulty{Store: mem, held: make(chan struct{}, 100)}
	h := dropped(t, dir, quick(), st)
	ses := create(t, h, "").Session.ID
	free := make(chan struct{})
	st.holding.Store(&free)
	answer := make(chan *actors.Posted, 1)
	go func() {
		p, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: input("echo hi")}}, nil)
		if err != nil {
			t.Errorf("the post: %v", err)
		}
		answer <- p
	}()
	<-st.held
	stopped := make(chan error, 1)
	go func() { stopped <- h.Stop(ctx(t)) }()
	eventually(t, "it drains", h.Draining)
	select {
	case err := <-stopped:
		t.Errorf("stopped before the input was stored: %v", err)
	case <-time.After(50 * time.Millisecond): // nothing can be waited for: nothing may happen
	}
	close(free)
	p := <-answer
	must(t, <-stopped)
	if p == nil {
		return
	}
	h = startedIn(t, dir, quick(), mem.Reopen())
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
}

// A Host used outside of its life refuses, and says so.
func TestHostBeforeStart(t *testing.T) {
	t.Parallel()
	h := built(t, t.TempDir(), quick(), memory.New())
	c, id := ctx(t), event.NewID()
	key := &spec.Key{Value: "k", Hash: "h"}
	for what, err := range map[string]error{
		"create":    second(h.CreateSession(c, "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}})),
		"keyed":     second(h.CreateSession(c, "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Key: key})),
		"post":      second(h.Post(c, "alice", id, nil, nil)),
		"cancel":    second(h.CancelTurn(c, "alice", id)),
		"update":    second(h.UpdateSession(c, "alice", id, &spec.Update{})),
		"delete":    h.DeleteSession(c, "alice", id),
		"session":   second(h.Session(c, "alice", id)),
		"turn":      second(h.Turn(c, "alice", id)),
		"forget":    h.ForgetTurn(c, "alice", id),
		"subscribe": second(h.Subscribe(c, "alice", id, 0)),
		"agent":     second(h.Agent(c, "alice", id)),
		"resolve":   second(h.ResolveModel(c, "alice", "some-model", "")),
	} {
		if event.CodeOf(err) != event.ShuttingDown {
			t.Errorf("%s before Start: %v", what, err)
		}
	}
	if len(h.Runtimes(c)) != 1 || h.StoreErr() != nil {
		t.Error("what needs no start works before it")
	}
	must(t, h.Stop(c))
	must(t, h.Stop(c))
	if err := h.Start(c); err == nil {
		t.Error("started after Stop")
	}
}

func TestStartTwice(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	if err := h.Start(ctx(t)); err == nil {
		t.Error("started twice")
	}
	p := create(t, h, "echo hi")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
}

// A start that fails says why and may be tried again.
func TestStartOnABadStateDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	must(t, os.WriteFile(dir, nil, 0o600))
	h := built(t, dir, quick(), memory.New())
	if err := h.Start(ctx(t)); err == nil {
		t.Fatal("started on a file")
	}
	must(t, os.Remove(dir))
	must(t, h.Start(ctx(t)))
	defer stop(t, h)
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("state directory: %v, %v", st, err)
	}
}

// What an earlier run left in the directory of private files goes at the start.
func TestStartClearsFormerTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, "turns", "left")
	must(t, os.MkdirAll(left, 0o700))
	must(t, os.WriteFile(filepath.Join(left, "settings.json"), []byte("{}"), 0o600))
	startedIn(t, dir, quick(), memory.New())
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

func TestNewReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := actors.New(
		actors.WithStateDir("relative"), with(script{}), with(script{}), actors.WithDefaultAdapter("nobody"), actors.WithWorkspace("here"),
		actors.WithAgents(
			spec.Agent{Name: "a", Adapter: "script"}, spec.Agent{Name: "a", Adapter: "script"}, spec.Agent{Name: "script", Adapter: "script"},
			spec.Agent{Adapter: "script"}, spec.Agent{Name: "b c", Adapter: "script"}, spec.Agent{Name: "d", Adapter: "other"},
		))
	var many interface{ Unwrap() []error }
	if err == nil || !errors.As(err, &many) {
		t.Fatalf("New: %v", err)
	}
	if n := len(many.Unwrap()); n != 10 {
		t.Errorf("%d faults, want 10 (two names of the second adapter): %v", n, err)
	}
}

// The settings of a session change from its next turn on; the queued ones count
// as next.
func TestUpdateBetweenTurns(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	gate := gateIn(t)
	p := create(t, h, "echo model=$MODEL; "+blocker(gate)+"; echo model=$MODEL")
	ses, running := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, spoke(running))
	queued := send(t, h, ses, "echo model=$MODEL").ID
	model, meta := "big-1", map[string]string{"team": "x"}
	got, err := h.UpdateSession(ctx(t), "alice", ses, &spec.Update{Model: &model, Metadata: &meta})
	if err != nil || got.Settings.Agent.Model != "big-1" || got.Settings.Metadata["team"] != "x" {
		t.Errorf("update: %+v, %v", got, err)
	}
	openGate(t, gate)
	follow(t, h, ses, 0, ended(queued))
	for turn, want := range map[event.ID]string{running: "model=\nrunning\nthrough\nmodel=\n", queued: "model=big-1\n"} {
		back, err := h.Turn(ctx(t), "alice", turn)
		if err != nil || back.Items[0].Text != want {
			t.Errorf("turn said %+v, want %q (%v)", back.Items, want, err)
		}
	}
	if s, err := h.Session(ctx(t), "alice", ses); err != nil || s.Settings.Agent.Model != "big-1" {
		t.Errorf("session %+v, %v", s, err)
	}
	if _, err := h.UpdateSession(ctx(t), "bob", ses, &spec.Update{}); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("by another principal: %v", err)
	}
}

// What a turn changes for itself holds for it alone; a model that only names the
// adapter is not handed to the CLI.
func TestOverridesOfOneTurn(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	ses := create(t, h, "").Session.ID
	for model, want := range map[string]string{"big-1": "model=big-1\n", "script": "model=\n", "sh-script": "model=\n"} {
		in := input("echo model=$MODEL")
		in.Overrides = &spec.Overrides{Model: &model}
		p, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: in}}, nil)
		must(t, err)
		follow(t, h, ses, 0, ended(p.Turns[0].ID))
		back, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
		if err != nil || back.Items[0].Text != want || back.Model() != model {
			t.Errorf("with %s: %+v, %v", model, back.Items, err)
		}
	}
}

// The rules of previous_response_id.
func TestAfter(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	p := create(t, h, "echo good")
	ses, good := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, ended(good))
	post := func(prompt string, after event.ID) (*fold.Turn, error) {
		in := input(prompt)
		in.After = after
		p, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: in}}, nil)
		if err != nil {
			return nil, err
		}
		follow(t, h, ses, 0, ended(p.Turns[0].ID))
		return p.Turns[0], nil
	}
	refused := func(what string, after event.ID) {
		t.Helper()
		if _, err := post("echo never", after); event.CodeOf(err) != event.PreviousNotLatest {
			t.Errorf("after %s: %v", what, err)
		}
	}
	second, err := post("echo again", good)
	must(t, err)
	refused("an older one", good)
	bad, err := post("exit 3", second.ID)
	must(t, err)
	cancelled, err := post("kill -9 $$", bad.ID) // from a failed one
	must(t, err)
	refused("an older failed one", bad.ID)
	third, err := post("echo third", second.ID) // the newest completed one: all later ones failed
	must(t, err)
	refused("a failed one that is not the newest", cancelled.ID)
	refused("an unknown one", event.NewTurnID())
	if third.Previous != cancelled.ID {
		t.Errorf("previous of the third = %s", third.Previous)
	}
	two := []spec.Action{{Input: input("echo a")}, {Input: input("echo b")}}
	two[0].Input.After, two[1].Input.After = third.ID, third.ID
	if _, err := h.Post(ctx(t), "alice", ses, two, nil); event.CodeOf(err) != event.PreviousNotLatest {
		t.Errorf("two inputs behind one: %v", err)
	}
}

// Lists and single turns while a turn runs.
func TestListsOfALiveSession(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	gate := gateIn(t)
	p := create(t, h, "echo first")
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	running := send(t, h, ses, blocker(gate)).ID
	follow(t, h, ses, 0, spoke(running))
	queued := send(t, h, ses, "echo third").ID
	turns, more, err := h.Turns(ctx(t), "alice", ses, spec.Page{Limit: 2, Desc: true})
	if err != nil || !more || len(turns) != 2 || turns[0].ID != queued || turns[0].Status != fold.Queued || turns[1].Status != fold.Running {
		t.Errorf("turns %+v, more %v, %v", turns, more, err)
	}
	var all []fold.ItemOf
	page := spec.Page{Limit: 2}
	for {
		list, more, err := h.Items(ctx(t), "alice", ses, page)
		must(t, err)
		all = append(all, list...)
		if !more {
			break
		}
		page.After = list[len(list)-1].Item.ID
	}
	if len(all) != 5 || all[3].Item.Text != "running\n" || all[3].Item.Status != event.InProgress || all[4].Index != -1 {
		t.Errorf("items %+v", all)
	}
	back, more, err := h.Items(ctx(t), "alice", ses, spec.Page{Desc: true})
	if err != nil || more || len(back) != 5 || back[0].Item.ID != all[4].Item.ID || back[4].Item.ID != all[0].Item.ID {
		t.Errorf("backwards: %+v, %v", back, err)
	}
	if _, _, err := h.Items(ctx(t), "alice", ses, spec.Page{Limit: 2, After: event.NewID()}); event.CodeOf(err) != event.CursorNotFound {
		t.Errorf("unknown cursor: %v", err)
	}
	if _, _, err := h.TurnItems(ctx(t), "alice", event.NewID(), running, spec.Page{}); event.CodeOf(err) != event.TurnNotFound {
		t.Errorf("turn of another session: %v", err)
	}
	openGate(t, gate)
	follow(t, h, ses, 0, ended(queued))
}
