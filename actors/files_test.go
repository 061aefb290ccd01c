package actors_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

func put(t *testing.T, h *actors.Host, owner, name, content string) *spec.File {
	t.Helper()
	f, err := h.PutFile(ctx(t), owner, spec.File{Name: name, Purpose: "user_data"}, strings.NewReader(content), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func contentOf(t *testing.T, h *actors.Host, owner string, id event.ID) string {
	t.Helper()
	_, r, err := h.OpenFile(ctx(t), owner, id)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// contents lists what lies below the room of files.
func contents(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "files"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		about, err := d.Info()
		if err == nil && about.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, about.Mode())
		}
		list = append(list, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFilesAreKeptByOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, actors.Limits{}, memory.New())
	f := put(t, h, "alice", "../../etc/passwd", "hello")
	if f.Bytes != 5 || f.Owner != "alice" || f.ID.IsZero() || f.Created == 0 {
		t.Errorf("kept %+v", f)
	}
	if got := contentOf(t, h, "alice", f.ID); got != "hello" {
		t.Errorf("content %q", got)
	}
	if list := contents(t, dir); len(list) != 1 || list[0] != filepath.Join(dir, "files", f.ID.Hex()[:2], f.ID.Hex()) {
		t.Errorf("on disk: %v", list)
	}
	if _, err := h.File(ctx(t), "bob", f.ID); event.CodeOf(err) != event.FileNotFound {
		t.Errorf("bob reads it: %v", err)
	}
	if _, _, err := h.OpenFile(ctx(t), "bob", f.ID); event.CodeOf(err) != event.FileNotFound {
		t.Errorf("bob opens it: %v", err)
	}
	if err := h.DeleteFile(ctx(t), "bob", f.ID); event.CodeOf(err) != event.FileNotFound {
		t.Errorf("bob deletes it: %v", err)
	}
	if list, _, err := h.Files(ctx(t), "bob", "", spec.Page{Limit: 10}); err != nil || len(list) != 0 {
		t.Errorf("bob lists %v, %v", list, err)
	}
	if err := h.DeleteFile(ctx(t), "alice", f.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.DeleteFile(ctx(t), "alice", f.ID); event.CodeOf(err) != event.FileNotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if list := contents(t, dir); len(list) != 0 {
		t.Errorf("left on disk: %v", list)
	}
}

func TestFilesAreListedByPurpose(t *testing.T) {
	t.Parallel()
	h := started(t, actors.Limits{}, memory.New())
	var want []event.ID
	for i := range 9 {
		purpose := "user_data"
		if i%3 == 0 {
			purpose = "vision"
		}
		f, err := h.PutFile(ctx(t), "alice", spec.File{Name: "x", Purpose: purpose}, strings.NewReader("x"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if purpose == "vision" {
			want = append(want, f.ID)
		}
	}
	one, more, err := h.Files(ctx(t), "alice", "vision", spec.Page{Limit: 2})
	if err != nil || len(one) != 2 || !more || one[0].ID != want[0] || one[1].ID != want[1] {
		t.Fatalf("%v %v %v", one, more, err)
	}
	two, more, err := h.Files(ctx(t), "alice", "vision", spec.Page{Limit: 2, After: one[1].ID})
	if err != nil || len(two) != 1 || more || two[0].ID != want[2] {
		t.Errorf("%v %v %v", two, more, err)
	}
	if all, more, err := h.Files(ctx(t), "alice", "", spec.Page{Limit: 9}); err != nil || len(all) != 9 || more {
		t.Errorf("%d %v %v", len(all), more, err)
	}
	if _, _, err := h.Files(ctx(t), "alice", "", spec.Page{Limit: 9, After: event.NewID()}); event.CodeOf(err) != event.CursorNotFound {
		t.Errorf("unknown cursor: %v", err)
	}
}

func TestFilesStayBelowTheirCaps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, actors.Limits{MaxFileBytes: 100, MaxFilesBytes: 250, MaxFiles: 4}, memory.New())
	refused := func(code event.Code, owner string, size int) {
		t.Helper()
		before := len(contents(t, dir))
		_, err := h.PutFile(ctx(t), owner, spec.File{Name: "x"}, strings.NewReader(strings.Repeat("x", size)), nil)
		if event.CodeOf(err) != code || len(contents(t, dir)) != before {
			t.Errorf("%d bytes: %v, %v", size, err, contents(t, dir))
		}
	}
	refused(event.FileTooLarge, "alice", 101)
	a, _ := put(t, h, "alice", "a", strings.Repeat("a", 100)), put(t, h, "alice", "b", strings.Repeat("b", 100))
	refused(event.FilesFull, "alice", 51)
	put(t, h, "alice", "c", strings.Repeat("c", 50))
	put(t, h, "bob", "d", strings.Repeat("d", 100)) // another's account
	put(t, h, "alice", "e", "")
	refused(event.FilesFull, "alice", 0) // too many
	if err := h.DeleteFile(ctx(t), "alice", a.ID); err != nil {
		t.Fatal(err)
	}
	put(t, h, "alice", "f", strings.Repeat("f", 100))
}

func TestConcurrentUploadsStayBelowTheCap(t *testing.T) {
	t.Parallel()
	h := started(t, actors.Limits{MaxFilesBytes: 1000}, memory.New())
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			_, err := h.PutFile(ctx(t), "alice", spec.File{Name: "x"}, iotest.OneByteReader(strings.NewReader(strings.Repeat("x", 100))), nil)
			if err != nil && event.CodeOf(err) != event.FilesFull {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, _, err := h.Files(ctx(t), "alice", "", spec.Page{Limit: 100})
	if err != nil || len(list) > 10 {
		t.Fatalf("%d files of 100 bytes, %v", len(list), err)
	}
	for _, f := range list {
		if err := h.DeleteFile(ctx(t), "alice", f.ID); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 { // nothing is booked any more
		put(t, h, "alice", "x", strings.Repeat("x", 100))
	}
}

func TestAPartialUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, actors.Limits{MaxFilesBytes: 1000}, memory.New())
	cut := io.MultiReader(strings.NewReader(strings.Repeat("x", 900)), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := h.PutFile(ctx(t), "alice", spec.File{Name: "x"}, cut, nil); event.CodeOf(err) != event.InvalidRequest {
		t.Errorf("cut short: %v", err)
	}
	c, cancel := context.WithCancel(ctx(t))
	cancel()
	if _, err := h.PutFile(c, "alice", spec.File{Name: "x"}, strings.NewReader("x"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller left: %v", err)
	}
	if list := contents(t, dir); len(list) != 0 {
		t.Errorf("left on disk: %v", list)
	}
	put(t, h, "alice", "x", strings.Repeat("x", 1000))
}

func TestFilesSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *actors.Host {
		st, err := sqlite.Open(dir, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return dropped(t, dir, actors.Limits{MaxFilesBytes: 10}, st)
	}
	h := open()
	kept, half, gone := put(t, h, "alice", "kept", "kept"), put(t, h, "alice", "half", "half"), put(t, h, "alice", "gone", "go")
	if err := h.DeleteFile(ctx(t), "alice", gone.ID); err != nil {
		t.Fatal(err)
	}
	stop(t, h)

	// A crash between record and content leaves the content in the middle: of a file
	// that has a record, of one that has none, and of an upload that never ended.
	room := filepath.Join(dir, "files")
	pending := filepath.Join(room, "pending")
	if err := os.Rename(filepath.Join(room, half.ID.Hex()[:2], half.ID.Hex()), filepath.Join(pending, half.ID.Hex())); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{gone.ID.Hex(), event.NewID().Hex(), "x.tmp"} {
		if err := os.WriteFile(filepath.Join(pending, name), []byte("partial"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h = open()
	defer stop(t, h)
	if a, b := contentOf(t, h, "alice", kept.ID), contentOf(t, h, "alice", half.ID); a != "kept" || b != "half" {
		t.Errorf("%q %q", a, b)
	}
	if list := contents(t, dir); len(list) != 2 {
		t.Errorf("on disk: %v", list)
	}
	if f, err := h.File(ctx(t), "alice", kept.ID); err != nil || *f != *kept {
		t.Errorf("%+v, want %+v: %v", f, kept, err)
	}
	// The account was kept too: 8 of 10 bytes.
	if _, err := h.PutFile(ctx(t), "alice", spec.File{Name: "x"}, strings.NewReader("123"), nil); event.CodeOf(err) != event.FilesFull {
		t.Errorf("above the cap: %v", err)
	}
	put(t, h, "alice", "x", "12")
}

func TestADamagedFileIsNotHandedOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, actors.Limits{}, memory.New())
	for _, harm := range []func(path string) error{
		os.Remove,
		func(path string) error { return os.WriteFile(path, []byte("shor"), 0o600) },
	} {
		f := put(t, h, "alice", "x", "shorter")
		if err := harm(filepath.Join(dir, "files", f.ID.Hex()[:2], f.ID.Hex())); err != nil {
			t.Fatal(err)
		}
		_, _, err := h.OpenFile(ctx(t), "alice", f.ID)
		if _, told := event.AsFailure(err); err == nil || told {
			t.Errorf("opened: %v", err)
		}
		if err := h.DeleteFile(ctx(t), "alice", f.ID); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
}

func TestAnOpenFileOutlivesItsDeletion(t *testing.T) {
	t.Parallel()
	h := started(t, actors.Limits{}, memory.New())
	big := strings.Repeat("0123456789", 100_000)
	f := put(t, h, "alice", "x", big)
	_, r, err := h.OpenFile(ctx(t), "alice", f.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.DeleteFile(ctx(t), "alice", f.ID); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(b, []byte(big)) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
