package responses_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

// png begins like a picture, which is all that is looked at.
const png = "\x89PNG\r\n\x1a\nrest"

func partsOf(parts ...string) string {
	return `{"model":"claude-code","input":[{"role":"user","content":[` + strings.Join(parts, ",") + `]}]}`
}

func TestUploadsBecomePartsOfTheMessage(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	picture, notes := e.Put("me", "cat.png", []byte(png)), e.Put("me", "notes.txt", []byte("\xef\xbb\xbfone\ntwo"))
	data := base64.StdEncoding.EncodeToString([]byte("three\n"))
	id := c.create(partsOf(`{"type":"input_text","text":"look"}`,
		`{"type":"input_image","file_id":"`+picture+`","detail":"high","image_url":null}`,
		`{"type":"input_file","file_id":"`+notes+`"}`,
		`{"type":"input_file","filename":"../../more.txt","file_data":"`+data+`"}`,
		`{"type":"input_file","file_data":"DATA:text/plain;charset=utf-8;base64,`+data+`"}`)).id()
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(png))
	want := []event.Part{
		{Text: "look"}, {ImageURL: url},
		{Text: "--- file: notes.txt ---\none\ntwo\n--- end of file: notes.txt ---"},
		{Text: "--- file: more.txt ---\nthree\n--- end of file: more.txt ---"},
		{Text: "--- file: file ---\nthree\n--- end of file: file ---"},
	}
	got := e.inputs[0].Items[0].Parts
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("parts\n%q, want\n%q", got, want)
	}
	// What is kept needs the upload no longer.
	for _, f := range []string{picture, notes} {
		fid, _ := event.Parse(f, event.PrefixFile)
		if err := e.DeleteFile(t.Context(), "me", fid); err != nil {
			t.Fatal(err)
		}
	}
	if items := c.do("GET", "/v1/responses/"+id+"/input_items", ""); !strings.Contains(string(items.body), url) || !strings.Contains(string(items.body), "one\\ntwo") {
		t.Errorf("input items %s", items.body)
	}
	if n := e.Open(); n != 0 {
		t.Errorf("%d files were left open", n)
	}
}

func TestAFileAloneIsAPrompt(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	c.create(`{"model":"codex","input":[{"role":"user","content":[{"type":"input_file","file_id":"` + e.Put("me", "a.md", []byte("do it")) + `"}]}]}`).object()
	if got := c.lastInput(); got != "--- file: a.md ---\ndo it\n--- end of file: a.md ---" {
		t.Errorf("prompt %q", got)
	}
}

func TestUploadsThatCannotBeHandedOnAreRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	for _, x := range []struct {
		name, kind, owner, content string
		status                     int
		code                       string
	}{
		{"a stranger's", "input_file", "bob", "x", 404, "file_not_found"},
		{"a stranger's picture", "input_image", "bob", png, 404, "file_not_found"},
		{"text as a picture", "input_image", "me", "hello", 400, "invalid_request"},
		{"an empty picture", "input_image", "me", "", 400, "invalid_request"},
		{"a large picture", "input_image", "me", png + strings.Repeat("x", 6<<20), 400, "invalid_request"},
		{"a picture as text", "input_file", "me", png + "\xff", 400, "agents.unsupported"},
		{"a NUL", "input_file", "me", "a\x00b", 400, "agents.unsupported"},
		{"long text", "input_file", "me", strings.Repeat("x", 256<<10+1), 400, "invalid_request"},
	} {
		id := e.Put(x.owner, x.name, []byte(x.content))
		t.Run(x.name, func(t *testing.T) {
			c.create(partsOf(`{"type":"input_text","text":"look"}`, `{"type":"`+x.kind+`","file_id":"`+id+`"}`)).refused(x.status, x.code, "input[0].content[1]")
		})
	}
	for _, id := range []string{"f", "file-1", "../x", "file-00000000000000000000000000000000"} {
		c.create(partsOf(`{"type":"input_file","file_id":"`+id+`"}`)).refused(404, "file_not_found", "input[0].content[0]")
	}
	if len(e.inputs) != 0 || e.Open() != 0 {
		t.Errorf("%d inputs reached the engine, %d files are open", len(e.inputs), e.Open())
	}
}

func TestOneUploadNamedOftenDoesNotGrow(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	part := `{"type":"input_file","file_id":"` + e.Put("me", "x", []byte(strings.Repeat("x", 256<<10))) + `"}`
	parts := make([]string, 1000)
	for i := range parts {
		parts[i] = part
	}
	c.create(partsOf(parts...)).refused(400, "invalid_request", "input[0].content[27]")
	picture := `{"type":"input_image","file_id":"` + e.Put("me", "x", []byte(png+strings.Repeat("x", 3<<20))) + `"}`
	c.create(partsOf(`{"type":"input_text","text":"x"}`, picture, picture)).refused(400, "invalid_request", "input[0].content[2]")
}

func TestEarlierAttachmentsAreNamedInThePreface(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	short, long := e.Put("me", "short.txt", []byte("brief")), base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 20<<10)))
	c.create(`{"model":"codex","input":[{"role":"developer","content":[{"type":"input_file","filename":"rules.md","file_data":"YmUgbmljZQ=="}]},` +
		`{"role":"user","content":[{"type":"input_text","text":"A"},{"type":"input_image","image_url":"https://x/y.png"},` +
		`{"type":"input_file","file_id":"` + short + `"},{"type":"input_file","filename":"long.txt","file_data":"` + long + `"}]},` +
		`{"role":"user","content":"B"}]}`).object()
	const want = "Earlier in this conversation:\n\nuser: A\n[picture]\n--- file: short.txt ---\nbrief\n--- end of file: short.txt ---\n[file long.txt, left out]\n\nThe user's message now:\n\nB"
	if got := c.lastInput(); got != want {
		t.Errorf("prompt %q", got)
	}
	if o := e.inputs[0].Overrides; o == nil || o.Instructions == nil || *o.Instructions != "--- file: rules.md ---\nbe nice\n--- end of file: rules.md ---" {
		t.Errorf("overrides %+v", o)
	}
}
