package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/server/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, o audit.Options) *audit.Log {
	t.Helper()
	l, err := audit.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// lines are the records of a book, the oldest first.
func lines(t *testing.T, file string, keep func(*audit.Record) bool) []audit.Record {
	t.Helper()
	if keep == nil {
		keep = func(*audit.Record) bool { return true }
	}
	var out bytes.Buffer
	if _, _, err := audit.Export(&out, file, keep); err != nil {
		t.Fatal(err)
	}
	var list []audit.Record
	for line := range strings.Lines(out.String()) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func TestRecordsAreLinesOfAPrivateFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "audit", "audit.jsonl")
	l := open(t, audit.Options{File: file, Now: func() time.Time { return time.Unix(1000, 0) }})
	want := audit.Record{Request: "req_1", Principal: "alice", Address: "10.0.0.1", Operation: "agents.sessions.create", Decision: audit.Allow, Statement: "role:dev", Session: "agsess_1", Agent: "agent_1"}
	l.Add(want)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want.Time = time.Unix(1000, 0).UTC()
	if got := lines(t, file, nil); len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	for path, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	l.Add(audit.Record{Operation: "late"}) // not a panic
	if _, lost := l.Counts(); lost != 1 {
		t.Errorf("%d", lost)
	}
}

func TestTheBookIsTurnedAndTheOldestGoes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Options{File: file, MaxBytes: 1000, MaxFiles: 3})
	for n := range 100 {
		l.Add(audit.Record{Operation: "x", Object: fmt.Sprint(n)})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, file, nil)
	if len(got) < 20 || len(got) >= 60 || got[len(got)-1].Object != "99" {
		t.Fatalf("%d records, the last %+v", len(got), got[len(got)-1])
	}
	for i := 1; i < len(got); i++ {
		if got[i].Object == got[i-1].Object || got[i].Time.Before(got[i-1].Time) {
			t.Errorf("%s follows %s", got[i].Object, got[i-1].Object)
		}
	}
	all, _ := filepath.Glob(file + "*")
	if len(all) != 3 {
		t.Errorf("%v", all)
	}
	for _, f := range all {
		if info, err := os.Stat(f); err != nil || info.Size() > 1000 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info, err)
		}
	}
}

func TestWhatTheDiskDoesNotTakeIsCountedAndToldWhereItIsMissing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	file := filepath.Join(dir, "audit.jsonl")
	l := open(t, audit.Options{File: file, MaxBytes: 300, MaxFiles: 2})
	l.Add(audit.Record{Operation: "first"})
	wait(t, "the first record is written", func() bool { n, _ := l.Counts(); return n == 1 })
	// Turning finds a directory where its file should be.
	if err := os.Rename(file, file+".kept"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + ".1"} {
		if err := os.MkdirAll(filepath.Join(name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		l.Add(audit.Record{Operation: "missing", Detail: strings.Repeat("y", 100)})
	}
	wait(t, "records are lost", func() bool { n, lost := l.Counts(); return lost > 0 && n+lost == 51 })
	for _, name := range []string{file, file + ".1"} {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	l.Add(audit.Record{Operation: "last"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, file, nil)
	_, lost := l.Counts()
	if len(got) != 2 || got[0].Operation != audit.OpGap || got[0].Lost != lost || got[1].Operation != "last" {
		t.Errorf("lost %d: %+v", lost, got)
	}
}

func TestAddNeverWaitsAndAFullQueueLoses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Options{File: file, Queue: 2, MaxBytes: 1})
	const writers, each = 8, 2000
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				l.Add(audit.Record{Operation: "x"})
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	written, lost := l.Counts()
	if written+lost != writers*each || lost == 0 {
		t.Errorf("%d written, %d lost of %d", written, lost, writers*each)
	}
}

func TestACutLineIsEndedAndOthersGoOn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(file, []byte(`{"time":"2026-01-01T00:00:00Z","operation":"old"}`+"\n"+`{"time":"2026-01-0`), 0o644); err != nil {
		t.Fatal(err)
	}
	l := open(t, audit.Options{File: file})
	l.Add(audit.Record{Operation: "new"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	written, broken, err := audit.Export(&out, file, func(*audit.Record) bool { return true })
	if err != nil || written != 2 || broken != 1 || !strings.Contains(out.String(), `"new"`) {
		t.Errorf("%d %d %v %s", written, broken, err, out.String())
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("%v", info.Mode())
	}
}

func TestTheFileIsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "audit.jsonl")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), file); err != nil {
		t.Fatal(err)
	}
	if l, err := audit.Open(audit.Options{File: file}); err == nil {
		_ = l.Close()
		t.Error("a link was followed")
	}
	if _, err := os.Stat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("and what it leads to was made")
	}
}

func TestExportIsOfOnePrincipal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Options{File: file})
	l.Add(audit.Record{Principal: "alice", Operation: "a"})
	l.Add(audit.Record{Principal: "bob", Operation: "b"})
	l.Add(audit.Record{Principal: "root", Operation: "c", Owner: "alice"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, file, func(r *audit.Record) bool { return r.Concerns("alice") })
	if len(got) != 2 || got[0].Operation != "a" || got[1].Operation != "c" {
		t.Errorf("%+v", got)
	}
}

func TestNoBookKeepsNothing(t *testing.T) {
	t.Parallel()
	var l *audit.Log
	l.Add(audit.Record{Operation: "x"})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}
