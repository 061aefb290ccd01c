package actors_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// heard is a script adapter whose CLI only says that it was asked; what each turn
// was handed is kept. A prompt that ends in "!" runs until it is cancelled and says
// nothing.
type heard struct {
	mu    sync.Mutex
	turns []agent.Request
}

func (r *heard) adapter() script {
	return script{invocation: func(req *agent.Request, inv *agent.Invocation) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.turns = append(r.turns, *req)
		inv.Args = []string{"-c", "echo '#session n-1'; echo said; echo '#final'"}
		if strings.HasSuffix(req.Prompt, "!") {
			inv.Args = []string{"-c", "exec sleep 300"}
		}
	}}
}

func (r *heard) last() agent.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turns[len(r.turns)-1]
}

func postedItem(line string) *event.Item {
	return &event.Item{Type: event.Foreign, Status: event.Done, Text: line, Raw: []byte(fmt.Sprintf(`{"type":"message","said":%q}`, line))}
}

func rule(text string) *event.Item {
	it := postedItem(text)
	it.Instructs = true
	return it
}

func conversation(t *testing.T, h *actors.Host, items ...*event.Item) event.ID {
	t.Helper()
	p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Conversation: true, Items: items})
	must(t, err)
	return p.Session.ID
}

func postItems(t *testing.T, h *actors.Host, ses event.ID, items ...*event.Item) []*event.Item {
	t.Helper()
	p, err := h.PostItems(ctx(t), "alice", ses, items, nil)
	must(t, err)
	return p.Turns[0].Input.Items
}

// ask runs a turn to its end.
func ask(t *testing.T, h *actors.Host, ses event.ID, prompt string) *fold.Turn {
	t.Helper()
	in := input(prompt)
	in.Agent = &spec.Agent{Adapter: "script", Model: "script"}
	p, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: in}}, nil)
	must(t, err)
	follow(t, h, ses, p.Before, ended(p.Turns[0].ID))
	return p.Turns[0]
}

func texts(t *testing.T, h *actors.Host, ses event.ID, p spec.Page) []string {
	t.Helper()
	items, _, err := h.AllItems(ctx(t), "alice", ses, p)
	must(t, err)
	out := []string{}
	for _, i := range items {
		out = append(out, strings.TrimSpace(i.Item.Text))
	}
	return out
}

const askedAfter = "\n\nThe user's message now:\n\n"

// What is posted is told to the agent once, in the preface of the next turn, and
// stands in the lists where it was posted; rules hold for every later turn.
func TestPostedItemsAreListedInPlaceAndToldOnce(t *testing.T) {
	t.Parallel()
	r := &heard{}
	h := started(t, quick(), memory.New(), with(r.adapter()))
	ses := conversation(t, h, postedItem("user: one"), rule("be brief"))
	postItems(t, h, ses, postedItem("assistant: two"), postedItem(""))
	first := ask(t, h, ses, "three")
	if got := r.last(); got.Prompt != "Earlier in this conversation:\n\nuser: one\n\nassistant: two"+askedAfter+"three" || got.Instructions != "be brief" {
		t.Errorf("first turn heard %q under %q", got.Prompt, got.Instructions)
	}
	second := ask(t, h, ses, "five")
	if got := r.last(); got.Prompt != "five" || got.Instructions != "be brief" {
		t.Errorf("second turn heard %q under %q", got.Prompt, got.Instructions)
	}
	postItems(t, h, ses, postedItem("[result -> 6]"), rule("be kind"))
	in := input("seven")
	instructions := "own"
	in.Before, in.Overrides = []string{"user: before"}, &spec.Overrides{Instructions: &instructions}
	in.After = second.ID // notes do not make it old
	p, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: in}}, nil)
	must(t, err)
	follow(t, h, ses, p.Before, ended(p.Turns[0].ID))
	if got := r.last(); got.Prompt != "Earlier in this conversation:\n\n[result -> 6]\n\nuser: before"+askedAfter+"seven" || got.Instructions != "own\n\nbe brief\n\nbe kind" {
		t.Errorf("third turn heard %q under %q", got.Prompt, got.Instructions)
	}
	want := []string{"user: one", "be brief", "assistant: two", "", "three", "said", "five", "said", "[result -> 6]", "be kind", "seven", "said"}
	if got := texts(t, h, ses, spec.Page{}); !slices.Equal(got, want) {
		t.Errorf("items %q", got)
	}
	slices.Reverse(want)
	var paged []string
	for at := (spec.Page{Limit: 5, Desc: true}); ; {
		items, more, err := h.AllItems(ctx(t), "alice", ses, at)
		must(t, err)
		for _, i := range items {
			paged, at.After = append(paged, strings.TrimSpace(i.Item.Text)), i.Item.ID
		}
		if !more {
			break
		}
	}
	if !slices.Equal(paged, want) {
		t.Errorf("newest first, five a page: %q", paged)
	}
	turns, more, err := h.Turns(ctx(t), "alice", ses, spec.Page{Limit: 3})
	if err != nil || more || len(turns) != 3 || turns[0].ID != first.ID || turns[0].Note {
		t.Errorf("turns %v, more %v, %v", turns, more, err)
	}
	if items, _, err := h.Items(ctx(t), "alice", ses, spec.Page{}); err != nil || len(items) != 6 {
		t.Errorf("%d items of turns, %v", len(items), err)
	}
	if turns[2].Previous != second.ID {
		t.Errorf("the turn before the last is %s, want %s", turns[2].Previous, second.ID)
	}
}

// A note is no turn: nothing that takes a turn's id takes its.
func TestANoteIsNoTurn(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	ses := create(t, h, "").Session.ID
	note := event.TurnOf(postItems(t, h, ses, postedItem("x"))[0].ID)
	for name, call := range map[string]func() error{
		"Turn":       func() error { _, err := h.Turn(ctx(t), "alice", note); return err },
		"CancelTurn": func() error { _, err := h.CancelTurn(ctx(t), "alice", note); return err },
		"ForgetTurn": func() error { return h.ForgetTurn(ctx(t), "alice", note) },
		"TurnItems": func() error {
			_, _, err := h.TurnItems(ctx(t), "alice", ses, note, spec.Page{})
			return err
		},
	} {
		if err := call(); event.CodeOf(err) != event.TurnNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The agent comes with the first input; until then the session has none, is left
// out where one is needed, and takes no input that brings none.
func TestTheFirstInputBringsTheAgent(t *testing.T) {
	t.Parallel()
	r := &heard{}
	h := started(t, quick(), memory.New(), with(r.adapter()), with(script{name: "other"}))
	ses := conversation(t, h)
	if _, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: input("x")}}, nil); event.CodeOf(err) != event.AdapterRequired {
		t.Errorf("input without an agent: %v", err)
	}
	if list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{Settled: true}, spec.Page{}); err != nil || len(list) != 0 {
		t.Errorf("settled: %v, %v", list, err)
	}
	if _, err := h.UpdateSession(ctx(t), "alice", ses, &spec.Update{Metadata: &map[string]string{"a": "b"}}); err != nil {
		t.Error(err)
	}
	ask(t, h, ses, "hi")
	s, err := h.Session(ctx(t), "alice", ses)
	must(t, err)
	if set := s.Settings; set.Agent.Adapter != "script" || set.Agent.ID.IsZero() || set.Environment.Workspace == "" || set.Metadata["a"] != "b" {
		t.Errorf("settings %+v", set)
	}
	if list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{Settled: true}, spec.Page{}); err != nil || len(list) != 1 {
		t.Errorf("settled: %v, %v", list, err)
	}
	// One that came second at the same moment: the same adapter goes on with its
	// model, another is refused.
	in := input("again")
	in.Agent = &spec.Agent{Adapter: "script", Model: "large"}
	p, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: in}}, nil)
	must(t, err)
	follow(t, h, ses, p.Before, ended(p.Turns[0].ID))
	if got := r.last().Model; got != "large" {
		t.Errorf("model %q", got)
	}
	in.Agent = &spec.Agent{Adapter: "other"}
	if _, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: in}}, nil); event.CodeOf(err) != event.InvalidRequest {
		t.Errorf("another adapter: %v", err)
	}
}

// A turn that was cancelled before its CLI said anything gives back what it would
// have told.
func TestWhatNobodyHeardIsToldAgain(t *testing.T) {
	t.Parallel()
	r := &heard{}
	h := started(t, quick(), memory.New(), with(r.adapter()))
	ses := create(t, h, "").Session.ID
	postItems(t, h, ses, postedItem("user: one"))
	silent := send(t, h, ses, "wait!")
	queued := send(t, h, ses, "never")
	_, err := h.CancelTurn(ctx(t), "alice", queued.ID)
	must(t, err)
	eventually(t, "the CLI was started", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return len(r.turns) > 0 })
	postItems(t, h, ses, postedItem("user: two")) // behind the running turn
	_, err = h.CancelTurn(ctx(t), "alice", silent.ID)
	must(t, err)
	follow(t, h, ses, 0, ended(silent.ID))
	ask(t, h, ses, "now")
	if got := r.last().Prompt; got != "Earlier in this conversation:\n\nuser: one\n\nuser: two"+askedAfter+"now" {
		t.Errorf("heard %q", got)
	}
	ask(t, h, ses, "then")
	if got := r.last().Prompt; got != "then" {
		t.Errorf("heard %q", got)
	}
}

// What was posted for the next turn is bounded; the newest is kept whole.
func TestThePrefaceOfPostedItemsIsBounded(t *testing.T) {
	t.Parallel()
	r := &heard{}
	h := started(t, restless(), memory.New(), with(r.adapter()))
	ses := create(t, h, "").Session.ID
	for i := range 12 {
		postItems(t, h, ses, postedItem(fmt.Sprintf("user: %d %s", i, strings.Repeat("w", 10<<10))))
	}
	passivated(t, h)
	ask(t, h, ses, "go")
	got := r.last().Prompt
	if !strings.HasPrefix(got, "Earlier in this conversation (older messages are left out):\n\nuser: 6 w") || !strings.Contains(got, "user: 11 w") || len(got) > 66<<10 {
		t.Errorf("%d bytes: %.90q", len(got), got)
	}
}

// A removed item is in no list, is not told, and stays removed over passivation;
// as a cursor it is still a place.
func TestRemovedItemsStayRemoved(t *testing.T) {
	t.Parallel()
	r := &heard{}
	h := started(t, restless(), memory.New(), with(r.adapter()))
	ses := conversation(t, h)
	items := postItems(t, h, ses, postedItem("user: a"), postedItem("user: b"), postedItem("user: c"), rule("no"))
	for _, i := range []int{1, 3} {
		must(t, h.RemoveItem(ctx(t), "alice", ses, items[i].ID))
	}
	turn := ask(t, h, ses, "d")
	if got := r.last(); got.Prompt != "Earlier in this conversation:\n\nuser: a\n\nuser: c"+askedAfter+"d" || got.Instructions != "" {
		t.Errorf("heard %q under %q", got.Prompt, got.Instructions)
	}
	// Two of one turn, at once.
	said, _, err := h.TurnItems(ctx(t), "alice", ses, turn.ID, spec.Page{})
	must(t, err)
	var both sync.WaitGroup
	for _, it := range said {
		both.Go(func() {
			if err := h.RemoveItem(ctx(t), "alice", ses, it.Item.ID); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	judge := func(where string) {
		t.Helper()
		if got := texts(t, h, ses, spec.Page{}); !slices.Equal(got, []string{"user: a", "user: c"}) {
			t.Errorf("%s: items %q", where, got)
		}
		if got := texts(t, h, ses, spec.Page{After: items[1].ID}); !slices.Equal(got, []string{"user: c"}) {
			t.Errorf("%s: after a removed one: %q", where, got)
		}
		for _, id := range []event.ID{items[1].ID, said[0].Item.ID, event.NewID()} {
			if _, err := h.Item(ctx(t), "alice", ses, id); event.CodeOf(err) != event.ItemNotFound {
				t.Errorf("%s: %v", where, err)
			}
			if err := h.RemoveItem(ctx(t), "alice", ses, id); event.CodeOf(err) != event.ItemNotFound {
				t.Errorf("%s: removed again: %v", where, err)
			}
		}
		if it, err := h.Item(ctx(t), "alice", ses, items[2].ID); err != nil || it.Item.Text != "user: c" {
			t.Errorf("%s: %+v, %v", where, it, err)
		}
		if back, err := h.Turn(ctx(t), "alice", turn.ID); err != nil || len(back.Items) != 1 || len(back.Removed) != 2 {
			t.Errorf("%s: the turn itself: %+v, %v", where, back, err)
		}
	}
	judge("at once")
	passivated(t, h)
	judge("passivated")
	must(t, h.ForgetTurn(ctx(t), "alice", turn.ID))
	if back, err := h.Turn(ctx(t), "alice", turn.ID); err != nil || !back.Forgotten {
		t.Errorf("forgotten: %+v, %v", back, err)
	}
}

func TestAnItemOfARunningTurnIsNotRemoved(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	p := create(t, h, "echo on; sleep 300")
	follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	it := p.Turns[0].Input.Items[0].ID
	if err := h.RemoveItem(ctx(t), "alice", p.Session.ID, it); event.CodeOf(err) != event.ItemInUse {
		t.Errorf("%v", err)
	}
	if _, err := h.Item(ctx(t), "alice", p.Session.ID, it); err != nil {
		t.Error(err)
	}
	cancelSession(t, h, p.Session.ID)
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	must(t, h.RemoveItem(ctx(t), "alice", p.Session.ID, it))
}

// The same request with the same key posts once, at once and after a restart;
// everything of notes survives it, and what was not told is told then, once.
func TestNotesSurviveARestart(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), &heard{}
	open := func() *actors.Host {
		st, err := sqlite.Open(dir, sqlite.Options{})
		must(t, err)
		t.Cleanup(func() { _ = st.Close() })
		h := dropped(t, dir, quick(), st, with(r.adapter()))
		t.Cleanup(func() { stop(t, h); _ = st.Close() })
		return h
	}
	h := open()
	ses := conversation(t, h, postedItem("user: zero"))
	ask(t, h, ses, "first")
	key := &spec.Key{Value: "k", Hash: "h"}
	one, err := h.PostItems(ctx(t), "alice", ses, []*event.Item{postedItem("user: a"), postedItem("user: b")}, key)
	must(t, err)
	must(t, h.RemoveItem(ctx(t), "alice", ses, one.Turns[0].Input.Items[1].ID))
	agentless := conversation(t, h, postedItem("user: alone"))
	before, err := bytesAfter(t, h, ses, 0, headOf(t, h, ses))
	must(t, err)
	stop(t, h)

	h = open()
	again, err := h.PostItems(ctx(t), "alice", ses, []*event.Item{postedItem("user: a"), postedItem("user: b")}, key)
	if err != nil || !again.Replayed || again.Turns[0].ID != one.Turns[0].ID || len(again.Turns[0].AllItems()) != 1 {
		t.Errorf("repeated: %+v, %v", again, err)
	}
	if _, err := h.PostItems(ctx(t), "alice", ses, nil, &spec.Key{Value: "k", Hash: "other"}); event.CodeOf(err) != event.IdempotencyMismatch {
		t.Errorf("another body: %v", err)
	}
	if got := texts(t, h, ses, spec.Page{}); !slices.Equal(got, []string{"user: zero", "first", "said", "user: a"}) {
		t.Errorf("items %q", got)
	}
	if after, err := bytesAfter(t, h, ses, 0, headOf(t, h, ses)); err != nil || string(after) != string(before) {
		t.Errorf("replay\n%s\nwas\n%s, %v", after, before, err)
	}
	ask(t, h, ses, "second")
	if got := r.last(); got.Prompt != "Earlier in this conversation:\n\nuser: a"+askedAfter+"second" || got.Native != "n-1" {
		t.Errorf("heard %q, native %q", got.Prompt, got.Native)
	}
	ask(t, h, ses, "third")
	if got := r.last().Prompt; got != "third" {
		t.Errorf("heard %q", got)
	}
	ask(t, h, agentless, "hi")
	if got := r.last().Prompt; got != "Earlier in this conversation:\n\nuser: alone"+askedAfter+"hi" {
		t.Errorf("heard %q", got)
	}
}

// A journal of notes alone stays within its limit: the oldest items go, lists and
// further posts go on.
func TestNotesAreTrimmed(t *testing.T) {
	t.Parallel()
	l := quick()
	l.JournalMaxBytes = 256 << 10
	st, err := sqlite.Open(t.TempDir(), sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	h := started(t, l, st)
	ses := conversation(t, h)
	const posts = 80
	for i := range posts {
		noise := make([]byte, 10<<10) // that no compression makes small
		_, _ = rand.Read(noise)
		postItems(t, h, ses, postedItem(fmt.Sprintf("user: %d w %x", i, noise)))
	}
	eventually(t, "the journal fits", func() bool {
		rec, err := st.Session(ctx(t), "", ses)
		return err == nil && rec.Bytes <= l.JournalMaxBytes
	})
	got := texts(t, h, ses, spec.Page{Desc: true})
	if len(got) == 0 || len(got) >= posts || !strings.HasPrefix(got[0], "user: 79 w") {
		t.Errorf("%d items are left", len(got))
	}
	postItems(t, h, ses, postedItem("one more"))
	if got := texts(t, h, ses, spec.Page{Desc: true, Limit: 1}); !slices.Equal(got, []string{"one more"}) {
		t.Errorf("%.80q", got)
	}
}

// A stranger's look, post and removal are answered like those of nothing.
func TestForeignNotesAreUnknown(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	ses := conversation(t, h, postedItem("x"))
	items, _, err := h.AllItems(ctx(t), "alice", ses, spec.Page{})
	must(t, err)
	if _, err := h.PostItems(ctx(t), "mallory", ses, nil, nil); event.CodeOf(err) != event.SessionNotFound {
		t.Error(err)
	}
	if _, _, err := h.AllItems(ctx(t), "mallory", ses, spec.Page{}); event.CodeOf(err) != event.SessionNotFound {
		t.Error(err)
	}
	if _, err := h.Item(ctx(t), "mallory", ses, items[0].Item.ID); event.CodeOf(err) != event.ItemNotFound {
		t.Error(err)
	}
	if err := h.RemoveItem(ctx(t), "mallory", ses, items[0].Item.ID); event.CodeOf(err) != event.ItemNotFound {
		t.Error(err)
	}
	other := conversation(t, h)
	if err := h.RemoveItem(ctx(t), "alice", other, items[0].Item.ID); event.CodeOf(err) != event.ItemNotFound {
		t.Errorf("in another session: %v", err)
	}
	must(t, h.DeleteSession(ctx(t), "alice", ses))
	if _, err := h.PostItems(ctx(t), "alice", ses, nil, nil); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("deleted: %v", err)
	}
}
