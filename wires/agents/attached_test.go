package agents

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/files"
)

// png begins like a picture, which is all that is looked at.
const png = "\x89PNG\r\n\x1a\nrest"

func TestPicturesAndFilesBecomePartsOfAMessage(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(png))
	picture, notes := s.engine.Put("alice", "cat.png", []byte(png)), s.engine.Put("alice", "notes.txt", []byte("one"))
	message := `[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"` + url + `"},` +
		`{"type":"input_image","file_id":"` + picture + `"},{"type":"input_file","file_id":"` + notes + `"}]}]`
	want := fmt.Sprint([]event.Part{{Text: "look"}, {ImageURL: url}, {ImageURL: url}, {Text: "--- file: notes.txt ---\none\n--- end of file: notes.txt ---"}})
	id := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":`+message+`}`).is("AgentSession").str("id")
	if got := fmt.Sprint(s.engine.news[0].Input.Items[0].Parts); got != want {
		t.Errorf("parts\n%s, want\n%s", got, want)
	}
	event := `{"type":"agent.session.input.message","input":` + message + `}`
	if a := s.do("POST", "/agents/sessions/"+id+"/events", `{"events":[{"type":"input.message","input":"first"},`+event+`]}`); a.Status != 202 {
		t.Fatalf("%d %s", a.Status, a.Raw)
	}
	if got := fmt.Sprint(s.engine.posts[0][1].Input.Items[0].Parts); got != want {
		t.Errorf("parts\n%s, want\n%s", got, want)
	}
	items := s.do("GET", "/agents/sessions/"+id+"/items", "")
	if n := strings.Count(string(items.Raw), `"image_url":"`+url+`"`); n != 4 {
		t.Errorf("%d pictures in %s", n, items.Raw)
	}
	// A file alone says something, a picture alone does not.
	if a := s.do("POST", "/agents/sessions/"+id+"/events", `{"input":[{"role":"user","content":[{"type":"input_file","file_id":"`+notes+`"}]}]}`); a.Status != 202 {
		t.Errorf("a file alone: %d %s", a.Status, a.Raw)
	}
	s.do("POST", "/agents/sessions/"+id+"/events", `{"input":[{"role":"user","content":[{"type":"input_image","file_id":"`+picture+`"}]}]}`).refused(400, "invalid_request", "input")
	if n := s.engine.Open(); n != 0 {
		t.Errorf("%d files were left open", n)
	}
}

func TestAttachmentsThatCannotBeHandedOnAreNamed(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	id := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`).is("AgentSession").str("id")
	big := s.engine.Put("alice", "big.png", []byte(png+strings.Repeat("x", 4<<20)))
	theirs := s.engine.Put("bob", "x", []byte("x"))
	for _, c := range []struct {
		part   string
		status int
		code   string
	}{
		{`{"type":"input_file","file_id":"` + theirs + `"}`, 404, "file_not_found"},
		{`{"type":"input_file","file_id":"x"}`, 404, "file_not_found"},
		{`{"type":"input_file"}`, 400, "invalid_request"},
		{`{"type":"input_file","file_id":"` + big + `"}`, 400, "invalid_request"},
		{`{"type":"input_image","image_url":"https://x/y.png"}`, 400, "agents.unsupported"},
		{`{"type":"input_image","image_url":"data:image/png;base64,*"}`, 400, "invalid_request"},
		{`{"type":"input_image","image_url":"data:image/png;base64,` + strings.Repeat("eHh4", 1_900_000) + `"}`, 400, "invalid_request"},
	} {
		content := `[{"role":"user","content":[{"type":"input_text","text":"x"},` + c.part + `]}]`
		s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":`+content+`}`).refused(c.status, c.code, "input[0].content[1]")
		s.do("POST", "/agents/sessions/"+id+"/events", `{"events":[{"type":"input.message","input":`+content+`}]}`).refused(c.status, c.code, "events[0].input[0].content[1]")
		s.do("POST", "/agents/sessions/"+id+"/events", `{"input":`+content+`}`, "X-Test-Owner", "bob").refused(404, "session_not_found", "session_id")
	}
	if len(s.engine.news) != 1 || len(s.engine.posts) != 0 {
		t.Errorf("%d sessions, %d posts reached the engine", len(s.engine.news), len(s.engine.posts))
	}
}

func TestTheEnginesRefusalOfAPictureNamesItsPlace(t *testing.T) {
	t.Parallel()
	engines := event.FailParam(event.Unsupported, "input[0].content[1].image_url", "no pictures")
	in := func(at string, picture bool) *said {
		s := &said{f: newFields(nil)}
		kind, raw := files.InputFile, files.RawPart{FileData: "eA=="}
		if picture {
			kind, raw = files.InputImage, files.RawPart{ImageURL: "data:image/png;base64,AA=="}
		}
		a, err := files.ReadAttachment(at, kind, &raw)
		if err != nil {
			t.Fatal(err)
		}
		s.attached = []attached{{&event.Part{}, a}}
		return s
	}
	err := named(engines, []*said{nil, in("events[0].input[0].content[0]", false), in("events[1].input[0].content[1]", true)})
	if f, ok := event.AsFailure(err); !ok || f.Param != "events[1].input[0].content[1]" || f.Code != event.Unsupported || engines.Param == f.Param {
		t.Errorf("named %v", err)
	}
	other := event.FailParam(event.Unsupported, "permissions", "no")
	if f, _ := event.AsFailure(named(other, []*said{in("x", true)})); f != other {
		t.Error("another refusal was changed")
	}
}
