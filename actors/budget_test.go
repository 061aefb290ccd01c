package actors_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// use is a prompt whose CLI answers and tells what it used.
func use(tokens, microUSD string) string {
	return "echo hi; echo '#cost " + tokens + " " + microUSD + "'"
}

func capped(c budget.Caps) actors.Limits {
	l := quick()
	l.Budgets = c
	return l
}

func tokens(n int64) budget.Amount { return budget.Amount{Tokens: n} }

// refusedPost is the failure that a post is answered with.
func refusedPost(t *testing.T, h *actors.Host, owner string, session event.ID) *event.Failure {
	t.Helper()
	_, err := h.Post(ctx(t), owner, session, []spec.Action{{Input: input("echo no")}}, nil)
	f, ok := event.AsFailure(err)
	if !ok || f.Code != event.BudgetReached {
		t.Fatalf("a post at a used-up budget: %v", err)
	}
	return f
}

// hit is the event of a budget that is used up, or lifted.
func hit(lifted bool) func(event.Event) bool {
	return func(ev event.Event) bool {
		b, ok := ev.Body.(*event.Budget)
		return ok && b.Lifted == lifted
	}
}

// sessionOf makes a session with a budget of the caller.
func sessionOf(t *testing.T, h *actors.Host, owner string, cents int64) event.ID {
	t.Helper()
	p, err := h.CreateSession(ctx(t), owner, &spec.NewSession{
		Agent: spec.Agent{Adapter: "script", Model: "script"}, SpendControl: spec.SpendControl{Asked: cents > 0, Limit: cents},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.Session.ID
}

func postAs(t *testing.T, h *actors.Host, owner string, session event.ID, prompts ...string) []event.ID {
	t.Helper()
	var actions []spec.Action
	for _, p := range prompts {
		actions = append(actions, spec.Action{Input: input(p)})
	}
	p, err := h.Post(ctx(t), owner, session, actions, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []event.ID
	for _, turn := range p.Turns {
		out = append(out, turn.ID)
	}
	return out
}

// A CLI that tells its usage while it runs is stopped at the turn's budget; what it
// said is kept, and the next turn has a budget of its own.
func TestTurnIsStoppedAtItsBudget(t *testing.T) {
	t.Parallel()
	h := started(t, capped(budget.Caps{Turn: tokens(100)}), memory.New())
	p := create(t, h, "echo before; echo '#use 60 0'; echo between; echo '#use 120 0'; exec sleep 60")
	events := follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	end := outcome(t, events)
	if end.Outcome != event.Failed || end.Failure.Code != event.BudgetReached || end.Usage == nil || end.Usage.Input != 120 {
		t.Fatalf("the end: %+v %v %+v", end, end.Failure, end.Usage)
	}
	for _, part := range []string{"limits.max_turn_tokens", "100 tokens", "120 tokens", "raise"} {
		if !strings.Contains(end.Failure.Message, part) {
			t.Errorf("the failure does not say %q: %s", part, end.Failure.Message)
		}
	}
	turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
	if err != nil || len(turn.Items) != 1 || turn.Items[0].Text != "before\nbetween\n" {
		t.Errorf("the items: %+v %v", turn.Items, err)
	}
	if !end.Idle {
		t.Error("a budget of one turn holds its session")
	}
	next := send(t, h, p.Session.ID, use("40", "0"))
	if end := outcome(t, follow(t, h, p.Session.ID, 0, ended(next.ID))); end.Outcome != event.Completed {
		t.Errorf("the next turn: %+v", end.Failure)
	}
}

// The caller's budget holds the session at the end of the turn that reached it:
// queued turns neither run nor fail, further input is refused, and once it is raised
// they run in order.
func TestSpendControlHoldsAndReleasesTheQueue(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	id := sessionOf(t, h, "alice", 3) // cents
	turns := postAs(t, h, "alice", id, use("5", "20000"), use("5", "15000"), use("5", "20000"), "echo last")
	events := follow(t, h, id, 0, hit(false))
	if n := strings.Count(kinds(events), "turn.ended"); n != 2 {
		t.Fatalf("%d turns ended: %s", n, kinds(events))
	}
	b := events[len(events)-1].Body.(*event.Budget)
	if *b != (event.Budget{Name: "spend_control.limit", Scope: event.SessionScope, Money: true, Limit: 30_000, Used: 35_000}) {
		t.Errorf("the budget: %+v", b)
	}
	if end := outcome(t, events[:len(events)-1]); end.Outcome != event.Completed || end.Idle {
		t.Errorf("the end that reached it: %+v", end)
	}
	f := refusedPost(t, h, "alice", id)
	for _, part := range []string{"spend_control.limit", "$0.03", "$0.035", "raise"} {
		if !strings.Contains(f.Message, part) {
			t.Errorf("the refusal does not say %q: %s", part, f.Message)
		}
	}
	ses, err := h.Session(ctx(t), "alice", id)
	if err != nil || ses.Held == nil || ses.Open != 2 {
		t.Fatalf("the session: %+v %v", ses, err)
	}
	for _, q := range turns[2:] {
		if turn, err := h.Turn(ctx(t), "alice", q); err != nil || turn.Status.String() != "queued" {
			t.Errorf("a queued turn: %+v %v", turn, err)
		}
	}
	// Too little changes nothing.
	for _, cents := range []int64{2, 5} {
		u := &spec.Update{SpendControl: &spec.SpendControl{Asked: true, Limit: cents}}
		if ses, err = h.UpdateSession(ctx(t), "alice", id, u); err != nil || (ses.Held == nil) != (cents == 5) {
			t.Fatalf("raised to %d cents: %+v %v", cents, ses, err)
		}
	}
	// The third turn reaches it again; without a limit the last one runs.
	events = follow(t, h, id, events[len(events)-1].Seq, hit(false))
	if got := outcome(t, events[:len(events)-1]); got.Outcome != event.Completed {
		t.Errorf("the third turn: %+v", got)
	}
	if _, err := h.UpdateSession(ctx(t), "alice", id, &spec.Update{SpendControl: &spec.SpendControl{Asked: true}}); err != nil {
		t.Fatal(err)
	}
	if end := outcome(t, follow(t, h, id, 0, ended(turns[3]))); end.Outcome != event.Completed || !end.Idle {
		t.Errorf("the last turn: %+v", end)
	}
	inOrder(t, follow(t, h, id, 0, ended(turns[3])), turns)
}

func inOrder(t *testing.T, events []event.Event, want []event.ID) {
	t.Helper()
	var got []event.ID
	for _, ev := range events {
		if ev.Kind == event.TurnStarted {
			got = append(got, ev.Turn)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d turns were started, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("turn %d was started out of order", i)
		}
	}
}

// A CLI that keeps a budget in money itself is told what is left of the tightest.
func TestCLIIsToldWhatIsLeft(t *testing.T) {
	t.Parallel()
	h := started(t, capped(budget.Caps{Turn: budget.Amount{MicroUSD: 40_000}, Day: budget.Amount{MicroUSD: 90_000}}), memory.New())
	id := sessionOf(t, h, "alice", 5)
	for i, want := range []string{"0.04", "0.02"} {
		turn := postAs(t, h, "alice", id, "echo $MAX_USD; echo '#cost 1 30000'")[0]
		follow(t, h, id, 0, ended(turn))
		if got, err := h.Turn(ctx(t), "alice", turn); err != nil || got.Items[0].Text != want+"\n" {
			t.Errorf("turn %d is told %q, want %s (%v)", i, got.Items[0].Text, want, err)
		}
	}
}

// A principal's budget counts all sessions of it, stops what runs, holds what
// waits, refuses new sessions with input, and leaves others alone. It survives a
// restart, and a raised one lets the queue go on.
func TestPrincipalBudgetOverSessionsAndRestart(t *testing.T) {
	t.Parallel()
	dir, st := t.TempDir(), memory.New()
	h := dropped(t, dir, capped(budget.Caps{Principal: tokens(100)}), st)
	one, two := sessionOf(t, h, "alice", 0), sessionOf(t, h, "alice", 0)
	running := postAs(t, h, "alice", two, "echo mine; exec sleep 60", "echo queued")
	follow(t, h, two, 0, func(ev event.Event) bool { return ev.Kind == event.TextDelta })
	turn := postAs(t, h, "alice", one, use("100", "0"))[0]
	if end := outcome(t, follow(t, h, one, 0, ended(turn))); end.Outcome != event.Completed || !end.Idle {
		t.Errorf("the turn that reached it: %+v", end)
	}
	events := follow(t, h, two, 0, hit(false))
	end := outcome(t, events[:len(events)-1])
	if end.Outcome != event.Failed || end.Failure.Code != event.BudgetReached || !strings.Contains(end.Failure.Message, "limits.max_principal_tokens") {
		t.Errorf("the running turn: %+v %v", end, end.Failure)
	}
	for _, id := range []event.ID{one, two} {
		refusedPost(t, h, "alice", id)
	}
	if _, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("echo")}); !errors.Is(err, event.Fail(event.BudgetReached, "")) {
		t.Errorf("a new session with input: %v", err)
	}
	bobs := sessionOf(t, h, "bob", 0)
	postAs(t, h, "bob", bobs, use("10", "0"))
	stop(t, h)

	// The same budget after a restart still holds.
	st = st.Reopen()
	h = dropped(t, dir, capped(budget.Caps{Principal: tokens(100)}), st)
	refusedPost(t, h, "alice", one)
	if q, err := h.Turn(ctx(t), "alice", running[1]); err != nil || q.Status.String() != "queued" {
		t.Errorf("the queued turn after a restart: %+v %v", q, err)
	}
	stop(t, h)

	h = startedIn(t, dir, capped(budget.Caps{Principal: tokens(1000)}), st.Reopen())
	if end := outcome(t, follow(t, h, two, 0, ended(running[1]))); end.Outcome != event.Completed {
		t.Errorf("the queued turn with a raised budget: %+v", end.Failure)
	}
}

// A day's budget is the host's, and the next day of UTC lifts it by itself.
func TestDayBudgetEndsWithTheDay(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	now.Store(time.Date(2026, 3, 1, 23, 59, 0, 0, time.FixedZone("west", -3600)).Unix()) // 00:59 of the 2nd in UTC
	clock := actors.WithClock(func() time.Time { return time.Unix(now.Load(), 0) })
	h := started(t, capped(budget.Caps{Day: tokens(50)}), memory.New(), clock)
	id := sessionOf(t, h, "alice", 0)
	turns := postAs(t, h, "alice", id, use("30", "0"), use("30", "0"), use("30", "0"))
	events := follow(t, h, id, 0, hit(false))
	if n := strings.Count(kinds(events), "turn.ended"); n != 2 {
		t.Fatalf("%d turns ended: %s", n, kinds(events))
	}
	bobs := sessionOf(t, h, "bob", 0)
	if f := refusedPost(t, h, "bob", bobs); !strings.Contains(f.Message, "limits.max_day_tokens") || !strings.Contains(f.Message, "next day") {
		t.Errorf("the refusal: %s", f.Message)
	}
	now.Add(3600) // midnight in the west
	refusedPost(t, h, "bob", bobs)
	now.Add(23 * 3600)
	end := outcome(t, follow(t, h, id, 0, ended(turns[2])))
	if end.Outcome != event.Completed || !end.Idle {
		t.Errorf("the turn of the next day: %+v", end)
	}
	postAs(t, h, "bob", bobs, "echo again")
}

// Cancelling what a budget holds works, and a session of which nothing waits any
// more is not held by a budget that is not its own.
func TestHeldTurnsCanBeCancelled(t *testing.T) {
	t.Parallel()
	h := started(t, capped(budget.Caps{Day: tokens(50)}), memory.New())
	id := sessionOf(t, h, "alice", 0)
	turns := postAs(t, h, "alice", id, use("60", "0"), "echo a", "echo b")
	follow(t, h, id, 0, hit(false))
	for range 2 {
		cancelSession(t, h, id)
	}
	events := follow(t, h, id, 0, hit(true))
	if end := outcome(t, events[:len(events)-1]); end.Outcome != event.Cancelled || events[len(events)-2].Turn != turns[2] {
		t.Errorf("the last event before: %+v", end)
	}
	refusedPost(t, h, "alice", id)
	if err := h.DeleteSession(ctx(t), "alice", id); err != nil {
		t.Error(err)
	}
}

// A session's own budget, of its agent, holds it over a restart and a passivation.
func TestAgentBudgetSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir, st := t.TempDir(), memory.New()
	l := quick()
	l.PassivateAfter = 20 * time.Millisecond
	h := dropped(t, dir, l, st)
	p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
		Agent: spec.Agent{Adapter: "script", Limits: spec.Limits{SessionTokens: 10}}, Input: input(use("10", "0")),
	})
	if err != nil {
		t.Fatal(err)
	}
	id := p.Session.ID
	events := follow(t, h, id, 0, hit(false))
	if end := outcome(t, events[:len(events)-1]); end.Idle {
		t.Error("the session is told to be idle before it is held")
	}
	eventually(t, "the session leaves memory", func() bool { return h.Stats().Active == 0 })
	refusedPost(t, h, "alice", id)
	stop(t, h)
	h = startedIn(t, dir, l, st.Reopen())
	f := refusedPost(t, h, "alice", id)
	if !strings.Contains(f.Message, "the agent's limits.max_session_tokens") {
		t.Errorf("the refusal: %s", f.Message)
	}
}

// mute is a CLI that tells neither tokens nor their cost.
type mute struct{ script }

func (mute) Capabilities() agent.Capabilities {
	c := script{}.Capabilities()
	c.Budget, c.Usage = false, false
	return c
}

// What an adapter does not tell cannot be kept, and is refused by name.
func TestBudgetsThatCannotBeKeptAreRefused(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New(), with(mute{}))
	for param, n := range map[string]*spec.NewSession{
		"spend_control.limit":       {SpendControl: spec.SpendControl{Asked: true, Limit: 5}},
		"limits.max_budget_usd":     {Agent: spec.Agent{Limits: spec.Limits{MaxUSD: 1}}},
		"limits.max_session_usd":    {Agent: spec.Agent{Limits: spec.Limits{SessionUSD: 1}}},
		"limits.max_tokens":         {Agent: spec.Agent{Limits: spec.Limits{MaxTokens: 1}}},
		"limits.max_session_tokens": {Agent: spec.Agent{Limits: spec.Limits{SessionTokens: 1}}},
	} {
		n.Agent.Adapter = "script"
		_, err := h.CreateSession(ctx(t), "alice", n)
		if f, ok := event.AsFailure(err); !ok || f.Code != event.Unsupported || f.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	if _, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, SpendControl: spec.SpendControl{Asked: true}}); err != nil {
		t.Errorf("a spend control without a limit: %v", err)
	}
}
