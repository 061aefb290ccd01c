package actors_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// listed are a session's artifacts, oldest first.
func listed(t *testing.T, h *actors.Host, session event.ID) []*spec.Artifact {
	t.Helper()
	list, more, err := h.Artifacts(ctx(t), "alice", session, event.ID{}, spec.Page{})
	if err != nil || more {
		t.Fatal(list, more, err)
	}
	return list
}

func paths(list []*spec.Artifact) string {
	var out []string
	for _, a := range list {
		out = append(out, a.Path)
	}
	return strings.Join(out, " ")
}

// aged returns when a file is no longer taken for the next turn's work.
func aged(t *testing.T, file string) {
	t.Helper()
	eventually(t, "the file is older than the kernel's clock is coarse", func() bool {
		about, err := os.Stat(file)
		return err == nil && time.Since(about.ModTime()) > 200*time.Millisecond
	})
}

func artifactContent(t *testing.T, h *actors.Host, a *spec.Artifact) string {
	t.Helper()
	got, r, err := h.OpenArtifact(ctx(t), "alice", a.Session, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if *got != *a || a.Bytes != int64(len(b)) || a.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v opens as %+v with %d bytes", a, got, len(b))
	}
	return string(b)
}

// inRoom lists the contents below the room of artifacts.
func inRoom(t *testing.T, dir string) (list []string) {
	t.Helper()
	room := filepath.Join(dir, "artifacts")
	err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if about, err := d.Info(); err == nil && about.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, about.Mode())
		}
		if !d.IsDir() {
			list = append(list, strings.TrimPrefix(path, room))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// notices are the texts of the Notice events.
func notices(list []event.Event) string {
	var out []string
	for _, ev := range list {
		if ev.Kind == event.Notice {
			out = append(out, ev.Text)
		}
	}
	return strings.Join(out, "\n")
}

// Whoever has seen the end of a turn finds what it published; another turn that
// writes the same file publishes another version.
func TestACompletedTurnPublishes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New())
	p := create(t, h, `mkdir -p outputs/d src; echo one >outputs/report.txt; echo deep >outputs/d/e.json; echo main >src/main.go; echo no >other; ln -s /etc/passwd outputs/p; echo "#wrote src/main.go"`)
	ses, first := p.Session.ID, p.Turns[0].ID
	events := follow(t, h, ses, 0, ended(first))
	list := listed(t, h, ses)
	if paths(list) != "src/main.go outputs/d/e.json outputs/report.txt" {
		t.Fatalf("published %s", paths(list))
	}
	for _, a := range list {
		if a.Turn != first || a.Session != ses || a.Environment != p.Session.Settings.Environment.ID || a.Created == 0 || event.TurnOf(a.ID) != first {
			t.Errorf("published %+v", a)
		}
	}
	if got := artifactContent(t, h, list[2]); got != "one\n" || !strings.HasPrefix(list[1].Media, "application/json") {
		t.Errorf("report %q, media %q", got, list[1].Media)
	}
	if n := notices(events); !strings.Contains(n, `"outputs/p" was not published: it is a symbolic link`) {
		t.Errorf("notices %q", n)
	}

	second := send(t, h, ses, "cat outputs/report.txt")
	follow(t, h, ses, 0, ended(second.ID))
	if again := listed(t, h, ses); len(again) != 3 {
		t.Errorf("a turn that wrote nothing published %s", paths(again[3:]))
	}
	third := send(t, h, ses, "echo two >outputs/report.txt")
	follow(t, h, ses, 0, ended(third.ID))
	again := listed(t, h, ses)
	if len(again) != 4 || again[3].Path != "outputs/report.txt" || again[3].Turn != third.ID || again[3].ID == list[2].ID {
		t.Fatalf("published %s", paths(again))
	}
	if a, b := artifactContent(t, h, list[2]), artifactContent(t, h, again[3]); a != "one\n" || b != "two\n" {
		t.Errorf("versions %q and %q", a, b)
	}
}

func TestOnlyCompletedTurnsPublish(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New())
	p := create(t, h, `mkdir outputs; echo x >outputs/x; echo "#wrote outputs/x"; exit 3`)
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	running := send(t, h, ses, "echo y >outputs/y; echo on; sleep 300")
	follow(t, h, ses, 0, spoke(running.ID))
	cancelSession(t, h, ses)
	follow(t, h, ses, 0, ended(running.ID))
	if list := listed(t, h, ses); len(list) != 0 {
		t.Errorf("published %s", paths(list))
	}
	if left := inRoom(t, dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// A workspace that several sessions share: a turn publishes what was written while
// it ran, not what lies there.
func TestASharedWorkspaceIsNotCopied(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	must(t, os.Mkdir(filepath.Join(shared, "outputs"), 0o700))
	old := filepath.Join(shared, "outputs", "old")
	must(t, os.WriteFile(old, []byte("old"), 0o600))
	h := startedIn(t, t.TempDir(), quick(), memory.New(), actors.WithWorkspace(shared))
	aged(t, old)
	p := create(t, h, "echo new >outputs/new")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	if got := paths(listed(t, h, p.Session.ID)); got != "outputs/new" {
		t.Errorf("published %q", got)
	}
}

func TestArtifactsBelongToTheirOwnerAndSession(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	p := create(t, h, "mkdir outputs; echo a >outputs/a")
	q := create(t, h, "mkdir outputs; echo b >outputs/b")
	ses, other := p.Session.ID, q.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	follow(t, h, other, 0, ended(q.Turns[0].ID))
	a := listed(t, h, ses)[0]
	if _, _, err := h.Artifacts(ctx(t), "bob", ses, event.ID{}, spec.Page{}); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("list of another principal: %v", err)
	}
	for what, c := range map[string]struct {
		owner       string
		session, id event.ID
	}{
		"another principal": {"bob", ses, a.ID}, "another session": {"alice", other, a.ID}, "no session": {"alice", event.NewID(), a.ID},
		"no turn": {"alice", ses, event.NewID()}, "no file": {"alice", ses, event.ItemID(a.Turn, 7)}, "zero": {"alice", ses, event.ID{}},
	} {
		_, err1 := h.Artifact(ctx(t), c.owner, c.session, c.id)
		_, _, err2 := h.OpenArtifact(ctx(t), c.owner, c.session, c.id)
		err3 := h.DeleteArtifact(ctx(t), c.owner, c.session, c.id)
		for _, err := range []error{err1, err2, err3} {
			if event.CodeOf(err) != event.ArtifactNotFound || err.Error() != err1.Error() {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if got := artifactContent(t, h, a); got != "a\n" {
		t.Errorf("content %q", got)
	}
}

func TestPagesOfArtifacts(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	p := create(t, h, "mkdir outputs; for i in 1 2 3; do echo $i >outputs/$i; done")
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	next := send(t, h, ses, "echo 4 >outputs/4; echo 5 >outputs/5")
	follow(t, h, ses, 0, ended(next.ID))
	all := listed(t, h, ses)
	env := p.Session.Settings.Environment.ID
	for _, c := range []struct {
		page spec.Page
		env  event.ID
		want string
		more bool
	}{
		{spec.Page{Limit: 2}, env, "1 2", true},
		{spec.Page{Limit: 2, After: all[1].ID}, event.ID{}, "3 4", true},
		{spec.Page{Limit: 2, After: all[3].ID}, event.ID{}, "5", false},
		{spec.Page{Limit: 5}, event.ID{}, "1 2 3 4 5", false},
		{spec.Page{Limit: 3, Desc: true}, event.ID{}, "5 4 3", true},
		{spec.Page{Limit: 3, Desc: true, After: all[2].ID}, env, "2 1", false},
		{spec.Page{Limit: 3, After: all[4].ID}, event.ID{}, "", false},
		{spec.Page{Limit: 3}, event.NewID(), "", false},
	} {
		list, more, err := h.Artifacts(ctx(t), "alice", ses, c.env, c.page)
		if got := strings.ReplaceAll(paths(list), "outputs/", ""); err != nil || got != c.want || more != c.more {
			t.Errorf("%+v: %q, %v, %v", c.page, got, more, err)
		}
	}
	for _, nothing := range []event.ID{event.NewID(), event.ItemID(event.NewTurnID(), 0)} {
		if _, _, err := h.Artifacts(ctx(t), "alice", ses, event.ID{}, spec.Page{After: nothing}); event.CodeOf(err) != event.CursorNotFound {
			t.Errorf("after nothing: %v", err)
		}
	}
	// Who deletes what a page showed can turn to the next one.
	for _, c := range []struct {
		deleted  int
		up, down string
	}{
		{1, "3 4 5", "1"},
		{3, "5", "3 1"},
		{4, "", "3 1"}, // now the second turn has none left
		{0, "3", ""},
	} {
		id := all[c.deleted].ID
		must(t, h.DeleteArtifact(ctx(t), "alice", ses, id))
		for desc, want := range map[bool]string{false: c.up, true: c.down} {
			list, _, err := h.Artifacts(ctx(t), "alice", ses, env, spec.Page{After: id, Desc: desc})
			if got := strings.ReplaceAll(paths(list), "outputs/", ""); err != nil || got != want {
				t.Errorf("after the deleted %d, descending %v: %q, %v", c.deleted+1, desc, got, err)
			}
		}
	}
}

func TestDeletedArtifacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New())
	p := create(t, h, "mkdir outputs; echo a >outputs/a; echo b >outputs/b")
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	list := listed(t, h, ses)
	_, open, err := h.OpenArtifact(ctx(t), "alice", ses, list[0].ID)
	must(t, err)
	for i, a := range list {
		must(t, h.DeleteArtifact(ctx(t), "alice", ses, a.ID))
		if err := h.DeleteArtifact(ctx(t), "alice", ses, a.ID); event.CodeOf(err) != event.ArtifactNotFound {
			t.Errorf("deleted twice: %v", err)
		}
		if left := inRoom(t, dir); len(left) != 1-i {
			t.Errorf("left %v", left)
		}
	}
	if b, err := io.ReadAll(open); string(b) != "a\n" || err != nil {
		t.Errorf("who was reading reads %q, %v", b, err)
	}
	must(t, open.Close())
	if got := paths(listed(t, h, ses)); got != "" {
		t.Errorf("still listed: %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "workspaces", ses.Hex(), "outputs", "a")); err != nil {
		t.Errorf("the file itself: %v", err)
	}
	next := send(t, h, ses, "echo c >outputs/c")
	follow(t, h, ses, 0, ended(next.ID))
	must(t, h.DeleteSession(ctx(t), "alice", ses))
	if left := inRoom(t, dir); len(left) != 0 {
		t.Errorf("left of a deleted session: %v", left)
	}
}

// What a turn said can be forgotten; what it made stays until it is deleted itself.
func TestAForgottenTurnKeepsItsArtifacts(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	p := create(t, h, "mkdir outputs; echo a >outputs/a")
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	must(t, h.ForgetTurn(ctx(t), "alice", p.Turns[0].ID))
	if list := listed(t, h, ses); paths(list) != "outputs/a" || artifactContent(t, h, list[0]) != "a\n" {
		t.Errorf("listed %s", paths(list))
	}
}

func TestLimitsOfArtifacts(t *testing.T) {
	t.Parallel()
	l := quick()
	l.MaxArtifactBytes, l.MaxArtifactsBytes, l.MaxArtifacts = 10, 12, 3
	h := started(t, l, memory.New())
	p := create(t, h, "mkdir outputs; echo 12345678 >outputs/1; echo 12345678901 >outputs/2; echo 1234 >outputs/3")
	ses := p.Session.ID
	events := follow(t, h, ses, 0, ended(p.Turns[0].ID))
	if got := paths(listed(t, h, ses)); got != "outputs/1" || outcome(t, events).Outcome != event.Completed {
		t.Errorf("published %s, %s", got, outcome(t, events).Outcome)
	}
	if n := notices(events); !strings.Contains(n, `"outputs/2" was not published: it is larger than 10 bytes`) || !strings.Contains(n, `"outputs/3" was not published: the session's artifacts take`) {
		t.Errorf("notices %q", n)
	}
	// The bounds are the session's, over all its turns.
	next := send(t, h, ses, "rm outputs/*; for i in 4 5 6; do : >outputs/$i; done")
	events = follow(t, h, ses, 0, ended(next.ID))
	if got := paths(listed(t, h, ses)); got != "outputs/1 outputs/4 outputs/5" || !strings.Contains(notices(events), `"outputs/6" was not published: the session has as many`) {
		t.Errorf("published %s: %q", got, notices(events))
	}
}

// recordStore meddles with the records of artifacts.
type recordStore struct {
	*faulty
	put   func(*store.Record) error
	named func()
}

func (s *recordStore) PutRecord(ctx context.Context, r *store.Record) error {
	if s.put != nil && r.Kind == "artifacts" {
		if err := s.put(r); err != nil {
			return err
		}
	}
	return s.faulty.PutRecord(ctx, r)
}

func (s *recordStore) RecordsNamed(ctx context.Context, kind, owner, name string) ([]*store.Record, error) {
	if s.named != nil && kind == "artifacts" {
		s.named()
	}
	return s.faulty.RecordsNamed(ctx, kind, owner, name)
}

func TestAStoreWithoutRoomForArtifactsFailsNoTurn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := &recordStore{faulty: &faulty{Store: memory.New()}, put: func(*store.Record) error { return store.ErrFull }}
	h := startedIn(t, dir, quick(), st)
	p := create(t, h, "mkdir outputs; echo a >outputs/a")
	events := follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	if outcome(t, events).Outcome != event.Completed || !strings.Contains(notices(events), "could not be published") {
		t.Errorf("%s: %q", outcome(t, events).Outcome, notices(events))
	}
	if left := inRoom(t, dir); len(left) != 0 || len(listed(t, h, p.Session.ID)) != 0 {
		t.Errorf("left %v", left)
	}
}

// The end of a turn is lost after its files were published: the turn ends failed,
// so it has published nothing.
func TestALostEndTakesItsArtifactsAlong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := &recordStore{faulty: &faulty{Store: memory.New()}}
	var put atomic.Bool
	st.put = func(*store.Record) error { put.Store(true); st.refuse(); return nil }
	h := startedIn(t, dir, quick(), st)
	p := create(t, h, "mkdir outputs; echo a >outputs/a")
	ses, turn := p.Session.ID, p.Turns[0].ID
	eventually(t, "the end is refused", func() bool { return put.Load() && st.refused.Load() > 0 })
	st.accept()
	eventually(t, "the session is read again", func() bool {
		got, err := h.Turn(ctx(t), "alice", turn)
		return err == nil && got.End != nil && got.End.Outcome == event.Failed
	})
	eventually(t, "nothing is published", func() bool { return len(listed(t, h, ses)) == 0 && len(inRoom(t, dir)) == 0 })
}

// gated makes the store's answer about artifacts wait.
func gated(t *testing.T) (st *recordStore, asked <-chan struct{}, open func()) {
	t.Helper()
	gate, ask := make(chan struct{}), make(chan struct{}, 16)
	var once atomic.Bool
	open = func() {
		if once.CompareAndSwap(false, true) {
			close(gate)
		}
	}
	t.Cleanup(open)
	return &recordStore{faulty: &faulty{Store: memory.New()}, named: func() { ask <- struct{}{}; <-gate }}, ask, open
}

func TestAWorkspaceThatDoesNotAnswerHoldsNoTurnForEver(t *testing.T) {
	t.Parallel()
	dir, l := t.TempDir(), quick()
	l.PublishTimeout = time.Millisecond
	st, _, open := gated(t)
	h := dropped(t, dir, l, st)
	t.Cleanup(func() { open(); stop(t, h) })
	p := create(t, h, "mkdir outputs; echo a >outputs/a")
	next := send(t, h, p.Session.ID, "echo next")
	events := follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	if outcome(t, events).Outcome != event.Completed || !strings.Contains(notices(events), "did not answer in time") {
		t.Errorf("%s: %q", outcome(t, events).Outcome, notices(events))
	}
	open()
	follow(t, h, p.Session.ID, 0, ended(next.ID))
	eventually(t, "what came too late is not kept", func() bool { return len(inRoom(t, dir)) == 0 })
	if got := paths(listed(t, h, p.Session.ID)); got != "" {
		t.Errorf("listed %s", got)
	}
}

// While files are published the turn runs on: nobody sees its end, a cancel changes
// nothing, and the session answers.
func TestTheEndWaitsForTheArtifacts(t *testing.T) {
	t.Parallel()
	st, asked, open := gated(t)
	h := dropped(t, t.TempDir(), quick(), st)
	t.Cleanup(func() { open(); stop(t, h) })
	p := create(t, h, "mkdir outputs; echo a >outputs/a; echo said")
	ses, turn := p.Session.ID, p.Turns[0].ID
	<-asked
	follow(t, h, ses, 0, func(ev event.Event) bool { return ev.Kind == event.ItemDone && ev.Turn == turn })
	if got, err := h.Turn(ctx(t), "alice", turn); err != nil || got.End != nil {
		t.Errorf("the turn has ended: %+v %v", got, err)
	}
	cancelSession(t, h, ses)
	open()
	events := follow(t, h, ses, 0, ended(turn))
	if outcome(t, events).Outcome != event.Completed || paths(listed(t, h, ses)) != "outputs/a" {
		t.Errorf("%s with %s", outcome(t, events).Outcome, paths(listed(t, h, ses)))
	}
}

func TestACrashWhilePublishingPublishesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, asked, open := gated(t)
	h := dropped(t, dir, quick(), st)
	t.Cleanup(func() { open(); stop(t, h) })
	p := create(t, h, "mkdir outputs; echo a >outputs/a")
	<-asked
	actors.CrashTurns(h)
	events := follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	if outcome(t, events).Outcome != event.Failed {
		t.Errorf("ended %s", outcome(t, events).Outcome)
	}
	open()
	eventually(t, "nothing is kept", func() bool { return len(listed(t, h, p.Session.ID)) == 0 && len(inRoom(t, dir)) == 0 })
}

func openedStore(t *testing.T, dir string) store.Store {
	t.Helper()
	st, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// Artifacts outlive the host; what a crash left half done is ended by the next
// start, as the record says.
func TestArtifactsOutliveTheHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := dropped(t, dir, quick(), openedStore(t, dir))
	p := create(t, h, "mkdir outputs; for i in 1 2 3; do echo $i >outputs/$i; done")
	ses, turn := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, ended(turn))
	before := listed(t, h, ses)
	must(t, h.DeleteArtifact(ctx(t), "alice", ses, before[1].ID))
	stop(t, h)

	hex := turn.Hex()
	place, pending := filepath.Join(dir, "artifacts", hex[:2], hex), filepath.Join(dir, "artifacts", "pending", hex)
	must(t, os.Rename(place, pending)) // a crash between the record and its place
	nobody := filepath.Join(dir, "artifacts", "pending", event.NewTurnID().Hex())
	must(t, os.Mkdir(nobody, 0o700)) // a crash before the record
	must(t, os.WriteFile(filepath.Join(nobody, "0"), []byte("x"), 0o600))

	h = startedIn(t, dir, quick(), openedStore(t, dir))
	after := listed(t, h, ses)
	if len(after) != 2 || *after[0] != *before[0] || *after[1] != *before[2] {
		t.Fatalf("after the restart: %s", paths(after))
	}
	for i, want := range []string{"1\n", "3\n"} {
		if got := artifactContent(t, h, after[i]); got != want {
			t.Errorf("content %q, want %q", got, want)
		}
	}
	if left := inRoom(t, dir); fmt.Sprint(left) != fmt.Sprintf("[/%s/%s/0 /%[1]s/%[2]s/2]", hex[:2], hex) {
		t.Errorf("in the room: %v", left)
	}
	aged(t, filepath.Join(dir, "workspaces", ses.Hex(), "outputs", "2"))
	next := send(t, h, ses, "echo 4 >outputs/4")
	follow(t, h, ses, 0, ended(next.ID))
	if got := paths(listed(t, h, ses)); got != "outputs/1 outputs/3 outputs/4" {
		t.Errorf("after a further turn: %s", got)
	}
}

func TestADamagedArtifactIsSaidToBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New())
	p := create(t, h, "mkdir outputs; echo a >outputs/a")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	a := listed(t, h, p.Session.ID)[0]
	file := filepath.Join(dir, "artifacts", inRoom(t, dir)[0])
	must(t, os.Truncate(file, 1))
	for range 2 {
		if _, _, err := h.OpenArtifact(ctx(t), "alice", a.Session, a.ID); err == nil || event.CodeOf(err) != "" || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("opened: %v", err)
		}
		_ = os.Remove(file)
	}
	must(t, h.DeleteArtifact(ctx(t), "alice", a.Session, a.ID))
}

// No room of the host can be made a workspace.
func TestTheRoomsOfFilesAreNoWorkspaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New())
	for _, room := range []string{"artifacts", "files"} {
		_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
			Agent:       spec.Agent{Adapter: "script", Model: "script"},
			Environment: spec.Environment{Type: spec.EnvSelfHosted, Workspace: filepath.Join(dir, room)},
		})
		if event.CodeOf(err) != event.InvalidRequest {
			t.Errorf("%s: %v", room, err)
		}
	}
}
