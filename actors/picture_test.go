package actors_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

func withPictures(prompt string, urls ...string) *spec.NewInput {
	it := &event.Item{Type: event.Message, User: true, Parts: []event.Part{{Text: prompt}}}
	for _, u := range urls {
		it.Parts = append(it.Parts, event.Part{ImageURL: u})
	}
	return &spec.NewInput{Items: []*event.Item{it}}
}

// Pictures become files of the turn's private directory, which goes with it.
func TestPicturesBecomeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New(), with(script{pictures: true, invocation: func(r *agent.Request, inv *agent.Invocation) {
		inv.Args = append(append(inv.Args, "sh"), r.Images...)
	}}))
	png := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("first"))
	p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
		Agent: spec.Agent{Adapter: "script"},
		Input: withPictures(`for f; do case $f in $DIR/*) echo "${f##*/} $(cat $f) $(stat -c %a $f)";; esac; done`, png, "DATA:image/JPEG,sec%6fnd"),
	})
	must(t, err)
	turn := p.Turns[0].ID
	follow(t, h, p.Session.ID, 0, ended(turn))
	back, err := h.Turn(ctx(t), "alice", turn)
	if err != nil || len(back.Items) == 0 || back.Items[0].Text != "picture-1.png first 600\npicture-2.jpg second 600\n" {
		t.Errorf("turn %+v, %v", back, err)
	}
	if got := back.Input.Items[0].Parts[1].ImageURL; got != png {
		t.Errorf("the input's picture reads back as %.40q", got)
	}
	nothingLeft(t, h, dir)
}

// A picture that cannot be handed over is refused by its place, and nothing is
// stored.
func TestPicturesThatAreRefused(t *testing.T) {
	t.Parallel()
	seeing, blind := started(t, quick(), memory.New(), with(script{pictures: true})), started(t, quick(), memory.New())
	good := "data:image/png;base64,aGk="
	for _, u := range []string{
		"https://example.test/cat.png", "http://x/y", "file:///etc/passwd", "/etc/passwd", "data:", "data:image/png;base64", "data:text/html,x",
		"data:image/svg+xml,x", "data:image/png;base64,%%%", "data:image/png,", "data:image/png,%zz", "x",
	} {
		n := &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: withPictures("look", good, u)}
		_, err := seeing.CreateSession(ctx(t), "alice", n)
		if f, ok := event.AsFailure(err); !ok || f.Code != event.InvalidRequest || f.Param != "input[0].content[2].image_url" {
			t.Errorf("%q: %v", u, err)
		}
	}
	_, err := blind.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: withPictures("look", good)})
	if f, ok := event.AsFailure(err); !ok || f.Code != event.Unsupported || f.Param != "input[0].content[1].image_url" || !strings.Contains(f.Message, "adapter script does not take pictures; send text only, or use an adapter that takes them: none") {
		t.Errorf("an adapter without pictures: %v", err)
	}
	if list, _, err := seeing.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{}); err != nil || len(list) != 0 {
		t.Errorf("%d sessions (%v)", len(list), err)
	}
}
