package actors_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// createOf makes a session of an owner with a first input.
func createOf(t *testing.T, h *actors.Host, owner, prompt string) *actors.Posted {
	t.Helper()
	p, err := h.CreateSession(ctx(t), owner, &spec.NewSession{
		Agent: spec.Agent{Adapter: "script", Model: "script"}, Input: input(prompt),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// order is what turns wrote into a log, each a word.
func order(t *testing.T, log string, n int) []string {
	t.Helper()
	var words []string
	eventually(t, fmt.Sprintf("%d turns ran", n), func() bool {
		b, _ := os.ReadFile(log)
		words = strings.Fields(string(b))
		return len(words) == n
	})
	return words
}

func TestPrincipalIsNotBehindAnothersBacklog(t *testing.T) {
	t.Parallel()
	gate, log, l := gateIn(t), t.TempDir()+"/log", quick()
	l.MaxConcurrentTurns = 1
	h := started(t, l, memory.New())
	first := createOf(t, h, "heavy", blocker(gate))
	eventually(t, "it runs", func() bool { return h.Stats().Running == 1 })
	for n := range 6 {
		createOf(t, h, "heavy", fmt.Sprintf("echo h%d >>%s; echo '#final'", n, log))
	}
	createOf(t, h, "light", "echo light >>"+log+"; echo '#final'")
	eventually(t, "seven wait", func() bool { return h.Stats().Waiting == 7 })
	all, err := h.Queue(ctx(t), "")
	if err != nil || len(all) != 7 || all[0].Principal != "light" || all[0].Position != 1 || all[0].Since == 0 || all[0].Wait != 0 {
		t.Fatalf("the line: %+v, %v", all, err)
	}
	own, err := h.Queue(ctx(t), "heavy")
	if err != nil || len(own) != 6 || own[0].Position != 2 || own[5].Position != 7 {
		t.Errorf("what heavy sees of it: %+v, %v", own, err)
	}
	if none, err := h.Queue(ctx(t), "nobody"); err != nil || len(none) != 0 {
		t.Errorf("what nobody sees: %v, %v", none, err)
	}
	openGate(t, gate)
	if got := fmt.Sprint(order(t, log, 7)); got != "[light h0 h1 h2 h3 h4 h5]" {
		t.Errorf("they ran in the order %s", got)
	}
	_ = first
	eventually(t, "the line is empty", func() bool {
		l, err := h.Queue(ctx(t), "")
		return err == nil && len(l) == 0
	})
	eventually(t, "something is known of what a turn takes", func() bool { return h.Stats().TurnTime > 0 })
}

// Once turns have been seen, who waits is told for how long.
func TestWaitIsEstimated(t *testing.T) {
	t.Parallel()
	gate, l := gateIn(t), quick()
	l.MaxConcurrentTurns, l.MaxQueue = 1, 1
	h := started(t, l, memory.New())
	p := createOf(t, h, "alice", "sleep 1.2; echo '#final'")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	eventually(t, "it is known what a turn takes", func() bool { return h.Stats().TurnTime > time.Second })
	p = createOf(t, h, "alice", blocker(gate))
	eventually(t, "it runs", func() bool { return h.Stats().Running == 1 })
	ses := createOf(t, h, "alice", "echo 1").Session.ID
	createOf(t, h, "alice", "echo 2")
	eventually(t, "two wait", func() bool { return h.Stats().Waiting == 2 })
	line, err := h.Queue(ctx(t), "alice")
	if err != nil || len(line) != 2 || line[0].Wait < time.Second || line[1].Wait < 2*line[0].Wait-time.Millisecond || line[0].Session != ses {
		t.Errorf("%+v %v", line, err)
	}
	// A full queue says when a place comes free: the turn before it has to end.
	send(t, h, p.Session.ID, "echo waits")
	_, err = h.Post(ctx(t), "alice", p.Session.ID, []spec.Action{{Input: input("echo no")}}, nil)
	if f, ok := event.AsFailure(err); !ok || f.Code != event.QueueFull || f.RetryAfter < 2 || f.RetryAfter > 60 {
		t.Errorf("%+v", f)
	}
	send(t, h, ses, "echo waits")
	_, err = h.Post(ctx(t), "alice", ses, []spec.Action{{Input: input("echo no")}}, nil)
	if waiting, ok := event.AsFailure(err); !ok || waiting.Code != event.QueueFull || waiting.RetryAfter < 4 {
		t.Errorf("of a session that waits itself: %+v", waiting)
	}
	openGate(t, gate)
}

func TestBoundsOfPrincipalsAndAgents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits actors.Limits
		shares map[string]actors.Share
		free   string // who is not bound by it
	}{
		"every principal":              {actors.Limits{MaxPrincipalTurns: 2}, nil, "bob"},
		"this principal":               {actors.Limits{}, map[string]actors.Share{"alice": {Turns: 2}}, "bob"},
		"unsaved agents of an adapter": {actors.Limits{MaxAgentTurns: 2}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate, l := gateIn(t), quick()
			l.MaxConcurrentTurns = 6
			l.MaxPrincipalTurns, l.MaxAgentTurns = c.limits.MaxPrincipalTurns, c.limits.MaxAgentTurns
			h := started(t, l, memory.New(), actors.WithShares(c.shares))
			var list []*actors.Posted
			for range 4 {
				list = append(list, createOf(t, h, "alice", blocker(gate)))
			}
			eventually(t, "two run and two wait", func() bool { s := h.Stats(); return s.Running == 2 && s.Waiting == 2 })
			other := createOf(t, h, "bob", "echo hi; echo '#final'")
			if c.free != "" {
				overOf(t, h, "bob", other)
			} else {
				eventually(t, "three wait", func() bool { return h.Stats().Waiting == 3 })
			}
			eventually(t, "its slot is free again", func() bool { return h.Stats().Running == 2 })
			openGate(t, gate)
			for _, p := range list {
				follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
			}
		})
	}
}

// overOf waits for the end of an owner's only turn.
func overOf(t *testing.T, h *actors.Host, owner string, p *actors.Posted) {
	t.Helper()
	eventually(t, "the turn of "+owner+" ends", func() bool {
		v, err := h.Turn(ctx(t), owner, p.Turns[0].ID)
		return err == nil && v.End != nil
	})
}

// Other shares hold at once: more lets those in who wait, less ends nothing that runs.
func TestSharesChangeWhileTurnsWait(t *testing.T) {
	t.Parallel()
	gate, l := gateIn(t), quick()
	l.MaxConcurrentTurns = 6
	h := started(t, l, memory.New(), actors.WithShares(map[string]actors.Share{"alice": {Turns: 1}}))
	var list []*actors.Posted
	for range 4 {
		list = append(list, createOf(t, h, "alice", blocker(gate)))
	}
	count := func(running, waiting int64) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d run and %d wait", running, waiting), func() bool { s := h.Stats(); return s.Running == running && s.Waiting == waiting })
	}
	count(1, 3)
	h.Reshare(map[string]actors.Share{"alice": {Turns: 3}})
	count(3, 1)
	h.Reshare(map[string]actors.Share{"alice": {Turns: 2}})
	list = append(list, createOf(t, h, "alice", blocker(gate)))
	count(3, 2)
	h.Reshare(nil)
	count(5, 0)
	openGate(t, gate)
	for _, p := range list {
		follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	}
}

// A saved agent of the configuration may have bounds of its own, which its unsaved
// like does not share.
func TestSavedAgentHasItsOwnBounds(t *testing.T) {
	t.Parallel()
	gate, l := gateIn(t), quick()
	l.MaxConcurrentTurns = 6
	h := started(t, l, memory.New(), with(script{}), actors.WithAgents(spec.Agent{
		Name: "careful", Adapter: "script", Model: "script", Limits: spec.Limits{Concurrency: 1, TurnsPerMinute: 3},
	}))
	a, err := h.ResolveModel(ctx(t), "alice", "careful", "")
	must(t, err)
	make := func(prompt string) (*actors.Posted, error) {
		return h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: *a, Input: input(prompt)})
	}
	first, err := make(blocker(gate))
	must(t, err)
	second, err := make("echo second; echo '#final'")
	must(t, err)
	eventually(t, "one waits", func() bool { s := h.Stats(); return s.Running == 1 && s.Waiting == 1 })
	p := createOf(t, h, "alice", "echo free; echo '#final'")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	// The third input is the last of this minute; it waits in its session.
	_, err = h.Post(ctx(t), "alice", second.Session.ID, []spec.Action{{Input: input("echo third")}}, nil)
	must(t, err)
	_, err = make("echo fourth")
	if f, ok := event.AsFailure(err); !ok || f.Code != event.RateLimitReached || f.RetryAfter < 10 || f.RetryAfter > 21 || !strings.Contains(f.Message, "careful") {
		t.Errorf("%+v", f)
	}
	openGate(t, gate)
	follow(t, h, first.Session.ID, 0, ended(first.Turns[0].ID))
	follow(t, h, second.Session.ID, 0, ended(second.Turns[0].ID))
}
