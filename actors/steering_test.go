package actors_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

func wishing(policy spec.OnBusy, prompt string) *spec.NewInput {
	in := input(prompt)
	in.OnBusy, in.Wire = policy, "agents"
	return in
}

func says(h *actors.Host, c context.Context, session event.ID, policy spec.OnBusy, prompt string) (*fold.Posted, error) {
	return h.Post(c, "alice", session, []spec.Action{{Input: wishing(policy, prompt)}}, nil)
}

func steerInto(t *testing.T, h *actors.Host, session event.ID, prompt string) *fold.Posted {
	t.Helper()
	p, err := says(h, ctx(t), session, spec.Steer, prompt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// turnsOf are a session's turns, the oldest first, once nothing is open.
func turnsOf(t *testing.T, h *actors.Host, session event.ID) []*fold.Turn {
	t.Helper()
	var list []*fold.Turn
	eventually(t, "the session is idle", func() bool {
		ses, err := h.Session(ctx(t), "alice", session)
		return err == nil && ses.Open == 0
	})
	list, _, err := h.Turns(ctx(t), "alice", session, spec.Page{})
	must(t, err)
	for i := range list {
		list[i], err = h.Turn(ctx(t), "alice", list[i].ID)
		must(t, err)
	}
	return list
}

// dialogue is what is said in a turn, by its user and its agent, and its commands, in
// order.
func dialogue(turn *fold.Turn) (out []string) {
	for _, it := range turn.AllItems() {
		switch it.Item.Type {
		case event.Message:
			out = append(out, strings.TrimSpace(it.Item.Text))
		case event.Command:
			out = append(out, it.Item.Command)
		}
	}
	return out
}

// A message for the running turn becomes part of it: the CLI has it, it is among the
// turn's items where it came, and the live turn, its stored form and the journal tell
// the same.
func TestSteeredMessageIsPartOfTheTurn(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 4, steers: true}, nil)
	prompt := `does() { echo "#tool $*"; echo "#tooldone $*"; }; echo on; does begin; read -r id text; does hear $text; read -r id text; does then $text; read -r id text`
	p := create(t, h, prompt)
	ses, turn := p.Session.ID, p.Turns[0].ID
	does := func(command string) { // is done
		follow(t, h, ses, 0, func(ev event.Event) bool {
			it, ok := ev.Body.(*event.Item)
			return ok && ev.Kind == event.ItemDone && it.Command == command
		})
	}
	does("begin")
	key := &spec.Key{Value: "once", Hash: "h"}
	for range 2 { // the second is the first again
		got, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: wishing(spec.Steer, "and quickly")}}, key)
		if err != nil || len(got.Turns) != 1 || got.Turns[0].ID != turn {
			t.Fatalf("posted %+v, %v", got, err)
		}
	}
	does("hear and quickly")
	live, err := h.Turn(ctx(t), "alice", turn)
	must(t, err)
	steerInto(t, h, ses, "and well")
	does("then and well")
	steerInto(t, h, ses, "that is all")
	follow(t, h, ses, 0, ended(turn))
	list := turnsOf(t, h, ses)
	if len(list) != 1 || list[0].Status != fold.Completed {
		t.Fatalf("turns %+v", list)
	}
	want := []string{prompt, "on", "begin", "and quickly", "hear and quickly", "and well", "then and well", "that is all"}
	if got := dialogue(list[0]); !slices.Equal(got, want) {
		t.Errorf("the turn has %q, want %q", got, want)
	}
	items, _, err := h.TurnItems(ctx(t), "alice", ses, turn, spec.Page{})
	must(t, err)
	for _, it := range items {
		if it.Item.Text == "and quickly" && (!it.Item.User || it.Index != -1 || event.TurnOf(it.Item.ID) != turn || !strings.Contains(strings.Join(dialogue(live), "|"), "and quickly")) {
			t.Errorf("the message is %+v, the live turn said %q", it, dialogue(live))
		}
	}
	idle(t, h, ses)
}

// What cannot be steered, or is not to wait, is refused before anything is stored.
func TestSteeringIsRefusedByName(t *testing.T) {
	t.Parallel()
	steerable, _ := onStage(t, troupe{threads: 4, steers: true}, nil)
	plain, _ := onStage(t, troupe{threads: 4}, nil)
	exec := started(t, quick(), memory.New(), actors.WithRuntime(actors.RuntimeConfig{Adapter: troupe{steers: true}, Driver: actors.DriverExec}))
	response := wishing(spec.Steer, "more")
	response.Wire = "responses"
	for name, c := range map[string]struct {
		h     *actors.Host
		in    *spec.NewInput
		words string
	}{
		"no steering of runners": {plain, wishing(spec.Steer, "more"), "cannot be steered"},
		"exec":                   {exec, wishing(spec.Steer, "more"), "cannot be steered"},
		"rejected":               {steerable, wishing(spec.Reject, "more"), "is to be rejected"},
		"a response":             {steerable, response, "a turn of its own"},
	} {
		p := create(t, c.h, "echo on; sleep 300")
		follow(t, c.h, p.Session.ID, 0, spoke(p.Turns[0].ID))
		before := headOf(t, c.h, p.Session.ID)
		_, err := c.h.Post(ctx(t), "alice", p.Session.ID, []spec.Action{{Input: c.in}}, nil)
		f, _ := event.AsFailure(err)
		if f == nil || f.Code != event.SteerRefused || !strings.Contains(f.Message, c.words) || f.Param != "metadata.agenthost.on_busy" {
			t.Errorf("%s: %v", name, err)
		}
		if after := headOf(t, c.h, p.Session.ID); after != before {
			t.Errorf("%s: the journal went from %d to %d", name, before, after)
		}
		cancelSession(t, c.h, p.Session.ID)
		turnsOf(t, c.h, p.Session.ID)
		for _, policy := range []spec.OnBusy{spec.Steer, spec.Reject} { // an idle session has an ordinary turn
			if _, err := says(c.h, ctx(t), p.Session.ID, policy, "echo hi"); err != nil {
				t.Errorf("%s, idle, %s: %v", name, policy, err)
			}
			if list := turnsOf(t, c.h, p.Session.ID); dialogue(list[len(list)-1])[1] != "hi" {
				t.Errorf("%s, idle, %s: %q", name, policy, dialogue(list[len(list)-1]))
			}
		}
	}
}

// A message that the turn ends without, however it ends, is a turn of its own, before
// what was queued later, and runs once.
func TestMessageThatIsNotTakenIsATurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first  string
		end    func(t *testing.T, h *actors.Host, session event.ID, gate string)
		status fold.TurnStatus
		word   string // what the runner makes of it
	}{
		"refused":   {"until [ -e GATE ]; do sleep 0.01; done", opens, fold.Completed, "refuse"},
		"unheard":   {"until [ -e GATE ]; do sleep 0.01; done", opens, fold.Completed, "mute"},
		"killed":    {"until [ -e GATE ]; do sleep 0.01; done; kill -9 $RUNNER; sleep 300", opens, fold.Failed, "mute"},
		"broken":    {"until [ -e GATE ]; do sleep 0.01; done; echo '#break'; sleep 300", opens, fold.Failed, "mute"},
		"cancelled": {"sleep 300", func(t *testing.T, h *actors.Host, session event.ID, _ string) { cancelSession(t, h, session) }, fold.Cancelled, "mute"},
		"panicked":  {"sleep 300", func(_ *testing.T, h *actors.Host, _ event.ID, _ string) { actors.CrashTurns(h) }, fold.Failed, "mute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := onStage(t, troupe{threads: 4, steers: true}, nil)
			gate, log := gateIn(t), filepath.Join(t.TempDir(), "log")
			p := create(t, h, "echo on; "+strings.ReplaceAll(c.first, "GATE", gate))
			ses := p.Session.ID
			follow(t, h, ses, 0, spoke(p.Turns[0].ID))
			var both []spec.Action
			for _, word := range []string{"a", "b"} {
				both = append(both, spec.Action{Input: wishing(spec.Steer, fmt.Sprintf("echo %s >>%s # %s", word, log, c.word))})
			}
			if _, err := h.Post(ctx(t), "alice", ses, both, nil); err != nil {
				t.Fatal(err)
			}
			send(t, h, ses, fmt.Sprintf("echo c >>%s", log))
			c.end(t, h, ses, gate)
			list := turnsOf(t, h, ses)
			var ran []string
			for _, turn := range list[1:] {
				if turn.Status != fold.Completed {
					t.Errorf("turn %q is %s", dialogue(turn), turn.Status)
				}
				ran = append(ran, dialogue(turn)[0][:6])
			}
			if list[0].Status != c.status || !slices.Equal(ran, []string{"echo a", "echo b", "echo c"}) || len(dialogue(list[0])) != 2 {
				t.Errorf("the turn is %s and has %q; behind it ran %q", list[0].Status, dialogue(list[0]), ran)
			}
			if text, err := os.ReadFile(log); err != nil || string(text) != "a\nb\nc\n" {
				t.Errorf("they ran as %q, %v", text, err)
			}
			ends := judgeEnds(t, h, ses, func(ev event.Event) bool { return ev.Kind == event.TurnEnded && ev.Body.(*event.End).Idle })
			if len(ends) != 4 {
				t.Errorf("ends %v; only the last may say that the session is idle", ends)
			}
		})
	}
}

func opens(t *testing.T, _ *actors.Host, _ event.ID, gate string) { openGate(t, gate) }

// Once a CLI has refused a message of a turn, further ones are refused at once.
func TestTurnThatTakesNoMessagesIsKnown(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 4, steers: true}, nil)
	p := create(t, h, "echo on; sleep 300")
	follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	steerInto(t, h, p.Session.ID, "echo refuse")
	follow(t, h, p.Session.ID, 0, func(ev event.Event) bool { return ev.Kind == event.InputAccepted && ev.Turn != p.Turns[0].ID })
	if _, err := says(h, ctx(t), p.Session.ID, spec.Steer, "echo more"); event.CodeOf(err) != event.SteerRefused {
		t.Errorf("the next one: %v", err)
	}
	cancelSession(t, h, p.Session.ID)
	if list := turnsOf(t, h, p.Session.ID); len(list) != 2 || dialogue(list[1])[1] != "refuse" {
		t.Errorf("turns %d", len(list))
	}
}

// The policy comes from the request, else the session, else its agent, else the
// configuration.
func TestWhoSaysWhatBecomesOfMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := quick()
	l.InterruptGrace = time.Second
	h := startedIn(t, dir, l, memory.New(), actors.WithRuntime(actors.RuntimeConfig{Adapter: troupe{threads: 8, steers: true}, Driver: actors.DriverPersistent, OnBusy: spec.Reject}))
	for _, c := range []struct{ request, session, agent, want spec.OnBusy }{
		{"", "", "", spec.Reject},
		{"", "", spec.Steer, spec.Steer},
		{"", spec.Queue, spec.Steer, spec.Queue},
		{spec.Steer, spec.Queue, spec.Reject, spec.Steer},
		{spec.Queue, "", "", spec.Queue},
	} {
		said := func(p spec.OnBusy) map[string]string {
			if p == "" {
				return nil
			}
			return map[string]string{spec.OnBusyKey: string(p)}
		}
		p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
			Agent: spec.Agent{Adapter: "script", Model: "script", Metadata: said(c.agent)}, Metadata: said(c.session), Input: input("echo on; sleep 300"),
		})
		must(t, err)
		follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
		back, err := says(h, ctx(t), p.Session.ID, c.request, "echo more")
		var got spec.OnBusy
		switch {
		case event.CodeOf(err) == event.SteerRefused:
			got = spec.Reject
		case err == nil && back.Turns[0].ID == p.Turns[0].ID:
			got = spec.Steer
		case err == nil:
			got = spec.Queue
		}
		if got != c.want {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
		if err := h.DeleteSession(ctx(t), "alice", p.Session.ID); err != nil { // with a message on its way
			t.Error(err)
		}
	}
}

// A server that is gone between the acceptance of a message and its taking runs it as
// a turn of its own, in its place.
func TestMessageOutlivesTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := quick()
	l.InterruptGrace = time.Second
	open := func() *sqlite.Store {
		st, err := sqlite.Open(dir, sqlite.Options{})
		must(t, err)
		return st
	}
	log := filepath.Join(dir, "log")
	h := dropped(t, dir, l, open(), withTroupe(troupe{threads: 4, steers: true}))
	p := create(t, h, "echo on; sleep 300")
	ses := p.Session.ID
	follow(t, h, ses, 0, spoke(p.Turns[0].ID))
	steerInto(t, h, ses, fmt.Sprintf("echo a >>%s # mute", log))
	send(t, h, ses, fmt.Sprintf("echo b >>%s", log))
	gone, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_ = h.Stop(gone)
	h = dropped(t, dir, l, open(), withTroupe(troupe{threads: 4, steers: true}))
	defer stop(t, h)
	list := turnsOf(t, h, ses)
	if len(list) != 3 || list[0].Status != fold.Failed || dialogue(list[1])[0][:6] != "echo a" || list[2].Status != fold.Completed {
		t.Fatalf("turns %+v", list)
	}
	if text, err := os.ReadFile(log); err != nil || string(text) != "a\nb\n" {
		t.Errorf("they ran as %q, %v", text, err)
	}
}
