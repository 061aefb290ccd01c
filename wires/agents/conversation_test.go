package agents

import (
	"context"
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

// A conversation without an agent is no session of this wire: it is missing
// everywhere, like one that nobody made.
func TestAConversationWithoutAnAgentIsNoSession(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	p, err := s.engine.CreateSession(context.Background(), "alice", &spec.NewSession{Conversation: true})
	if err != nil {
		t.Fatal(err)
	}
	at := "/agents/sessions/" + p.Session.ID.With(event.PrefixSession)
	missing := strings.Repeat("0", 31) + "1"
	for _, c := range []struct{ method, path, body string }{
		{"GET", "", ""}, {"POST", "", `{"metadata":{}}`}, {"DELETE", "", ""}, {"GET", "/items", ""}, {"GET", "/turns", ""}, {"GET", "/events", ""},
	} {
		want := s.do(c.method, "/agents/sessions/agsess_"+missing+c.path, c.body)
		got := s.do(c.method, at+c.path, c.body)
		if got.Status != 404 || strings.ReplaceAll(string(got.Raw), p.Session.ID.Hex(), missing) != string(want.Raw) {
			t.Errorf("%s %s: %d %s, want %s", c.method, c.path, got.Status, got.Raw, want.Raw)
		}
	}
	if got := s.do("GET", "/agents/sessions", ""); strings.Contains(string(got.Raw), p.Session.ID.Hex()) {
		t.Errorf("listed: %s", got.Raw)
	}
}

// It begins here when it gets its agent; what was posted before gives no frame.
func TestASessionBeginsWithItsAgent(t *testing.T) {
	t.Parallel()
	st := newStoryOf(t, &spec.Session{ID: fixedID(0x5e, 9), Owner: "alice", Created: storyStart})
	note := event.NewTurnID()
	st.add(event.Event{Kind: event.ItemsPosted, Turn: note, Body: &event.Input{Items: []*event.Item{{ID: event.ItemID(note, 0), Type: event.Foreign}}}})
	st.add(event.Event{Kind: event.ItemRemoved, Turn: note, Item: event.ItemID(note, 0)})
	if got := framesOf(st); got != "" {
		t.Errorf("before: %s", got)
	}
	now := *st.session().Settings
	now.Agent = spec.Agent{ID: fixedID(0xa9, 1), Adapter: "codex", Model: "gpt-5.5"}
	now.Environment = spec.Environment{Type: spec.EnvNone, ID: fixedID(0xe5, 1)}
	st.update(&now)
	got := framesOf(st)
	if !strings.HasPrefix(got, "event: agent.session.created\n") || strings.Count(got, "event: ") != 1 || !strings.Contains(got, `"model":"gpt-5.5"`) {
		t.Errorf("with its agent: %s", got)
	}
	now.Metadata = map[string]string{"a": "b"}
	st.update(&now)
	if again := framesOf(st); again != got {
		t.Errorf("after a further update: %s", again)
	}
}

// update replaces a story's settings.
func (s *story) update(set *spec.Session) {
	b, err := stdjson.Marshal(set)
	if err != nil {
		s.t.Fatal(err)
	}
	s.add(event.Event{Kind: event.SessionUpdated, Body: &event.Settings{JSON: b}})
}

func framesOf(s *story) string {
	b := s.batch()
	f := b.Rendered(fold.AgentsWire, Render)
	return string(f.Buf)
}
