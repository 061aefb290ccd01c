package archive_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/archive"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

const sample = `{"version":1,"sessions":[{"id":"agsess_0123456789abcdef01234567","agent":"ses-1","created_at":1796041415.24,"last_active_at":1,
"metadata":{"a":"b","n":[1]},"turns":[{"id":"turn_aaaaaaaaaaaaaaaaaaaaaaaa","status":"completed","created_at":1796041416.5,"started_at":1796041416,"completed_at":1796041420,
"usage":{"input_tokens":1,"output_tokens":2},"prompt":"hi","items":[{"type":"message","status":"completed","data":{"text":"yo","phase":"final_answer"}},
{"type":"web_thing","data":[7]},{"type":"command","status":"failed","data":{"command":["ls","-l"],"exit_code":2}},null]},
{"id":"odd id","status":"weird","error":"text","items":null}]}]}`

func TestReferenceSessionsAreRead(t *testing.T) {
	t.Parallel()
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	done, err := archive.ImportReference(t.Context(), s, "ann", strings.NewReader(sample))
	if err != nil || done.Sessions != 1 || done.Turns != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	id, _ := event.Parse("agsess_0123456789abcdef01234567", event.PrefixSession)
	rec, err := s.Session(t.Context(), "ann", id)
	if err != nil || rec.Created != 1796041415240 {
		t.Fatalf("%+v, %v", rec, err)
	}
	events, err := s.Read(t.Context(), id, 1, rec.Head, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	at := int64(0)
	for _, ev := range events {
		kinds = append(kinds, ev.Kind.String())
		if ev.At < at {
			t.Errorf("event %d is of %d, behind one of %d", ev.Seq, ev.At, at)
		}
		at = ev.At
	}
	want := "session.created input.accepted turn.started" + strings.Repeat(" item.started item.done", 3) + " turn.ended input.accepted turn.ended"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("events\n got %s\nwant %s", got, want)
	}
	turns, _, err := s.Turns(t.Context(), id, spec.Page{})
	if err != nil || len(turns) != 2 || !strings.HasPrefix(turns[0].ID.Hex(), strings.Repeat("a", 24)) || event.TurnOf(turns[1].ID) != turns[1].ID {
		t.Errorf("%+v, %v", turns, err)
	}
	// An export of it is refolded to the same.
	told, err := archive.Refold(nil, events, true)
	if err != nil || string(told.Body) != string(rec.Body) {
		t.Errorf("told %s, stored %s (%v)", told.Body, rec.Body, err)
	}
}

// Whatever a file holds: it is read, or refused in words, and nothing panics.
func FuzzReference(f *testing.F) {
	f.Add(sample)
	f.Add(`{"version":1,"sessions":[null,{"id":""}]}`)
	f.Add(`{"version":1,"sessions":[{"id":"x","created_at":1e300,"turns":[null]}]}`)
	f.Add(`{"version":1,"sessions":[{"id":"x","created_at":-5,"turns":[{"id":"t"},{"id":"t"}]}]}`)
	f.Add(`{"version":2}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		s := memory.New()
		defer func() { _ = s.Close() }()
		if _, err := archive.ImportReference(t.Context(), s, "ann", strings.NewReader(text)); err != nil && !errors.Is(err, archive.ErrReference) && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}
