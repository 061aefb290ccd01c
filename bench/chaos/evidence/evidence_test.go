package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestRecordsAreKeptByCycle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for cycle := range 3 {
		all.Go(func() {
			for range 50 {
				l.Add(Record{What: Accepted, Cycle: cycle, Session: "s", Tag: "a"})
			}
		})
	}
	all.Wait()
	for cycle := range 3 {
		got, err := Records(dir, cycle)
		if err != nil || len(got) != 50 || got[0].What != Accepted || got[0].At == 0 {
			t.Errorf("cycle %d: %d records, %v", cycle, len(got), err)
		}
	}
	f, name, err := l.File("one")
	if err != nil {
		t.Fatal(err)
	}
	g, other, err := l.File("one")
	if err != nil || name == other {
		t.Errorf("%s and %s: %v", name, other, err)
	}
	for _, one := range []*os.File{f, g} {
		if err := one.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if list, err := Runs(dir); err != nil || list != nil {
		t.Errorf("nothing ran: %v %v", list, err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, RunsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a start 10 7\nb start 11 7\nb end 12 7\na left 13 9\na end 14 7\na start 20 8\n")
	list, err := Runs(dir)
	want := []Run{{"a", 7, 10, 14}, {"b", 7, 11, 12}, {"a", 8, 20, 0}}
	if err != nil || len(list) != 3 || list[0] != want[0] || list[1] != want[1] || list[2] != want[2] {
		t.Errorf("%v %v", list, err)
	}
	for _, bad := range []string{"a start 10\n", "a start x 7\n", "a start 10 x\n"} {
		write(bad)
		if _, err := Runs(dir); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestFramesOfAStream(t *testing.T) {
	t.Parallel()
	text := ": hello\n\nevent: a\ndata: {\"event_id\":\"evt_0000000000000007_2\"}\n\n: ping\nevent: b\ndata: {\"sequence_number\":3}\n\nevent: c\ndata: {\"cut"
	text = strings.Replace(text, ": hello\n\n", ": hello\n", 1)
	frames, err := Frames([]byte(text))
	if err != nil || len(frames) != 2 || frames[0].Kind != "a" || *frames[1].Data.Sequence != 3 {
		t.Fatalf("%+v %v", frames, err)
	}
	p, err := frames[0].Place()
	if err != nil || p != (Place{7, 2}) || !(Place{7, 1}).Before(p) || (Place{8, 0}).Before(p) {
		t.Errorf("%v %v", p, err)
	}
	for _, bad := range []string{"data: {}\n\n", "event: a\n\n", "event: a\ndata: {\n\n", "event: a\ndata: {}\ndata: {}\n\n"} {
		if _, err := Frames([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, bad := range []string{"", "evt_x", "evt_1_x"} {
		if _, err := ParsePlace(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
