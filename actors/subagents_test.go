package actors_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

const delegates = `echo '#sub a'; echo '#of a I look'; echo '#sub b a'; echo '#of b deep'; echo '#subdone b a'
echo '#of a done'; echo '#subdone a'; echo '#sub c'; echo '#subdone c'; echo answer; echo '#final'`

// names are what subagents are called, in order.
func names(list []*fold.Subagent) string {
	var b []string
	for _, s := range list {
		b = append(b, s.Call.Tool)
	}
	return strings.Join(b, " ")
}

func subagents(t *testing.T, h *actors.Host, session event.ID, p spec.Page) ([]*fold.Subagent, bool) {
	t.Helper()
	list, more, err := h.Subagents(ctx(t), "alice", session, p)
	must(t, err)
	return list, more
}

// Subagents are read from a running turn, an ended one and a stored one alike, and
// a restart changes nothing of them nor of the stream.
func TestSubagentsAreTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := sqlite.Open(dir, sqlite.Options{})
	must(t, err)
	h := dropped(t, dir, quick(), st)
	p := create(t, h, delegates)
	ses, turn := p.Session.ID, p.Turns[0]
	follow(t, h, ses, 0, ended(turn.ID))
	list, _ := subagents(t, h, ses, spec.Page{})
	if names(list) != "a b c" || list[1].Call.Parent != list[0].ID() || list[0].Closed == 0 || len(list[0].Items) != 4 {
		t.Fatalf("subagents %q: %+v", names(list), list[0])
	}
	if first, last := list[0].Items[0], list[0].Items[3]; !first.User || first.Text != "do a" || last.Text != "done" || last.Phase != event.FinalAnswer {
		t.Errorf("first and last of its items: %+v, %+v", first, last)
	}
	before, err := json.Marshal(list)
	must(t, err)
	head := headOf(t, h, ses)
	live, err := bytesAfter(t, h, ses, 0, head)
	must(t, err)
	stop(t, h)
	must(t, st.Close())

	st, err = sqlite.Open(dir, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, st.Close()) })
	h = startedIn(t, dir, quick(), st)
	list, _ = subagents(t, h, ses, spec.Page{})
	if after, err := json.Marshal(list); err != nil || !bytes.Equal(after, before) {
		t.Errorf("after the restart %s\nbefore %s (%v)", after, before, err)
	}
	if again, err := bytesAfter(t, h, ses, 0, head); err != nil || !bytes.Equal(again, live) {
		t.Errorf("the stream after the restart\n%s\nbefore\n%s (%v)", again, live, err)
	}
	one, err := h.Subagent(ctx(t), "alice", ses, list[1].ID())
	if err != nil || one.Call.Tool != "b" {
		t.Errorf("read by its id: %+v, %v", one, err)
	}
}

func TestSubagentsAreListedAcrossTurnsAndPages(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	ses := create(t, h, delegates).Session.ID
	send(t, h, ses, "echo none; echo '#final'")
	last := send(t, h, ses, "echo '#sub d'; echo '#subdone d'; echo '#final'")
	follow(t, h, ses, 0, ended(last.ID))
	for _, desc := range []bool{false, true} {
		want := map[bool]string{false: "a b c d", true: "d c b a"}[desc]
		for limit := 1; limit <= 5; limit++ {
			var all []*fold.Subagent
			p := spec.Page{Limit: limit, Desc: desc}
			for more := true; more; {
				var list []*fold.Subagent
				list, more = subagents(t, h, ses, p)
				if more != (len(all)+len(list) < 4) || len(list) > limit {
					t.Fatalf("a page of %d behind %q: more %v", len(list), names(all), more)
				}
				all = append(all, list...)
				p.After = all[len(all)-1].ID()
			}
			if names(all) != want {
				t.Errorf("pages of %d: %q, want %q", limit, names(all), want)
			}
		}
	}
	if _, _, err := h.Subagents(ctx(t), "alice", ses, spec.Page{After: event.ItemID(last.ID, 0)}); event.CodeOf(err) != event.CursorNotFound {
		t.Errorf("a cursor that names a message: %v", err)
	}
	list, _ := subagents(t, h, ses, spec.Page{})
	for what, err := range map[string]error{
		"a stranger":      errOf(h.Subagent(ctx(t), "mallory", ses, list[0].ID())),
		"another session": errOf(h.Subagent(ctx(t), "alice", create(t, h, "").Session.ID, list[0].ID())),
		"no such":         errOf(h.Subagent(ctx(t), "alice", ses, event.NewID())),
		"no subagent":     errOf(h.Subagent(ctx(t), "alice", ses, event.ItemID(last.ID, 0))),
	} {
		if event.CodeOf(err) != event.SubagentNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, _, err := h.Subagents(ctx(t), "mallory", ses, spec.Page{}); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("a stranger lists: %v", err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// Whoever ends a turn in its actor's place ends its subagents too.
func TestSubagentsOfACrashedTurnAreClosed(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	p := create(t, h, "echo '#sub a'; echo '#sub b a'; while :; do sleep 1; done")
	ses, turn := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, func(ev event.Event) bool { return ev.Kind == event.SubagentStarted })
	actors.CrashTurns(h)
	follow(t, h, ses, 0, ended(turn))
	list, _ := subagents(t, h, ses, spec.Page{})
	if names(list) != "a b" {
		t.Fatalf("subagents %q", names(list))
	}
	for _, s := range list {
		if s.Closed == 0 || s.Call.Status != event.Incomplete {
			t.Errorf("%s was left open: %+v", s.Call.Tool, s.Call)
		}
	}
}

func TestSubagentsAreRefusedWhereTheCLIHasNone(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	n := &spec.NewSession{Agent: spec.Agent{Adapter: "script", MultiAgent: spec.MultiAgent{Enabled: true}}}
	_, err := h.CreateSession(ctx(t), "alice", n)
	if f, ok := event.AsFailure(err); !ok || f.Code != event.Unsupported || f.Param != "multi_agent.enabled" {
		t.Errorf("enabled: %v", err)
	}
	n.Agent.MultiAgent = spec.MultiAgent{Disabled: true}
	if _, err := h.CreateSession(ctx(t), "alice", n); err != nil {
		t.Errorf("disabled: %v", err)
	}
}
