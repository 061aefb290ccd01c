package agents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// lineOf is a line in which alice has every other place.
func lineOf(n int) (list []*spec.Waiting) {
	for i := range n {
		w := &spec.Waiting{
			Session: fixedID(0x5e, byte(i+1)), Turn: event.ID{0x70, byte(i + 1)}, Principal: "alice",
			Position: i + 1, Wait: time.Duration(i) * 1500 * time.Millisecond, Since: 1_700_000_000_000 + int64(i)*1000,
		}
		if i%2 == 1 {
			w.Principal = "bob"
		}
		list = append(list, w)
	}
	return list
}

func positions(a *answer) string {
	var out []string
	for _, e := range a.Body["data"].([]any) {
		out = append(out, fmt.Sprint(e.(map[string]any)["position"]))
	}
	return strings.Join(out, " ")
}

func TestQueueIsListed(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	if a := s.do("GET", "/agents/queue", ""); a.Status != 200 || positions(a) != "" || a.Body["has_more"] != false || a.Body["first_id"] != nil {
		t.Errorf("an empty line: %s", a.Raw)
	}
	s.engine.line = lineOf(6)
	own := s.do("GET", "/agents/queue", "")
	if positions(own) != "1 3 5" || own.Body["object"] != "list" {
		t.Errorf("alice's: %s", own.Raw)
	}
	first, third := own.Body["data"].([]any)[0].(map[string]any), own.Body["data"].([]any)[2].(map[string]any)
	if _, told := first["principal"]; told || first["wait_seconds"] != nil || first["object"] != "agent.queue.entry" ||
		first["session_id"] != s.engine.line[0].Session.With(event.PrefixSession) || first["id"] != s.engine.line[0].Turn.With(event.PrefixTurn) ||
		first["queued_at"] != 1.7e9 || third["wait_seconds"] != 6.0 {
		t.Errorf("the entries: %s", own.Raw)
	}
	page := s.do("GET", "/agents/queue?limit=2", "")
	if positions(page) != "1 3" || page.Body["has_more"] != true {
		t.Errorf("a page: %s", page.Raw)
	}
	if rest := s.do("GET", "/agents/queue?limit=2&after="+page.Body["last_id"].(string), ""); positions(rest) != "5" || rest.Body["has_more"] != false {
		t.Errorf("the next: %s", rest.Raw)
	}
	if back := s.do("GET", "/agents/queue?order=desc", ""); positions(back) != "5 3 1" {
		t.Errorf("from its end: %s", back.Raw)
	}
	s.do("GET", "/agents/queue?after=turn_"+strings.Repeat("ab", 16), "").refused(404, "agents.cursor_not_found", "after")
	s.do("GET", "/agents/queue?limit=0", "").refused(400, "invalid_request", "limit")
	all := s.do("GET", "/agents/queue", "", "X-Test-Owner", "root")
	if positions(all) != "1 2 3 4 5 6" || all.Body["data"].([]any)[1].(map[string]any)["principal"] != "bob" {
		t.Errorf("an admin's: %s", all.Raw)
	}
}

func TestSessionSaysItsPlaceWhileItWaits(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	id := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"metadata":{"team":"a"},"input":"hello"}`).is("AgentSession").str("id")
	place := func(a *answer) string {
		m := a.Body["metadata"].(map[string]any)
		return fmt.Sprint(m["team"], " ", m["agenthost.queue_position"], " ", m["agenthost.queue_wait_seconds"])
	}
	if got := place(s.do("GET", "/agents/sessions/"+id, "")); got != "a <nil> <nil>" {
		t.Errorf("in no line: %s", got)
	}
	s.engine.line = []*spec.Waiting{{Session: s.engine.last().id, Principal: "alice", Position: 4}}
	if got := place(s.do("GET", "/agents/sessions/"+id, "").is("AgentSession")); got != "a 4 <nil>" {
		t.Errorf("nothing is known of waits: %s", got)
	}
	s.engine.line[0].Wait = 1100 * time.Millisecond
	for _, a := range []*answer{
		s.do("GET", "/agents/sessions/"+id, ""),
		s.do("POST", "/agents/sessions/"+id, `{"metadata":{"team":"b"}}`),
	} {
		if got := place(a); got[1:] != " 4 2" {
			t.Errorf("%s", a.Raw)
		}
	}
	list := s.do("GET", "/agents/sessions", "")
	if m := list.Body["data"].([]any)[0].(map[string]any)["metadata"].(map[string]any); m["agenthost.queue_position"] != "4" {
		t.Errorf("in a list: %s", list.Raw)
	}
	// What is sent back is not kept.
	s.do("POST", "/agents/sessions/"+id, `{"metadata":{"team":"b","agenthost.queue_position":"4","agenthost.queue_wait_seconds":"2"}}`)
	if kept := *s.engine.updates[len(s.engine.updates)-1].Metadata; len(kept) != 1 || kept["team"] != "b" {
		t.Errorf("kept: %v", kept)
	}
	s.engine.line = nil
	if got := place(s.do("GET", "/agents/sessions/"+id, "")); got[1:] != " <nil> <nil>" {
		t.Errorf("it waits no more: %s", got)
	}
}
