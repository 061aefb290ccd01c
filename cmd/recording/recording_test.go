package recording

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	r, err := New(dir, "sk-secret-1")
	if err != nil {
		t.Fatal(err)
	}
	tape := r.Start(&actors.Taped{Adapter: "codex", Driver: actors.DriverExec, Binary: "/bin/codex", Args: []string{"exec"}, Env: []string{"HOME"}, Dir: "/w"})
	big := bytes.Repeat([]byte("x\n"), 1<<19)
	tape.Passed(actors.Stdin, []byte("ask"))
	tape.Passed(actors.Stdout, []byte("one\n2.000 exit 7 -\n"))
	tape.Passed(actors.Stderr, []byte("\xff\x00"))
	tape.Passed(actors.Stdout, big)
	tape.Ended(agent.Exit{Code: -1, Signal: "SIGKILL"})
	tape.Passed(actors.Stdout, []byte("late"))
	left := r.Start(&actors.Taped{Adapter: "codex", Driver: actors.DriverPersistent})
	left.Passed(actors.Stdout, []byte("open\n"))
	r.Event([]byte(`{"said":"sk-secret-1"}`))
	if err := r.Close("1.0", "codex 2"); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.Adapter != "codex" || got.Host != "1.0" || got.Version != "codex 2" || len(got.Streams) != 2 || got.Processes[0].Exit != (Exit{-1, "SIGKILL"}) || got.Processes[0].Env[0] != "HOME" {
		t.Errorf("%+v", got.About)
	}
	s := got.Streams[0]
	if len(s.Pieces) != 4 || s.Driver != "exec" || s.Exit.Signal != "SIGKILL" || string(s.Pieces[1].Bytes) != "one\n2.000 exit 7 -\n" ||
		s.Pieces[2].Through != actors.Stderr || !bytes.Equal(s.Pieces[3].Bytes, big) {
		t.Errorf("%d pieces, exit %+v", len(s.Pieces), s.Exit)
	}
	if o := got.Streams[1]; o.Exit.Code != -1 || string(o.Pieces[0].Bytes) != "open\n" {
		t.Errorf("of a process without an end: %+v", o)
	}
	if len(got.Events) != 1 || string(got.Events[0]) != `{"said":"[redacted]"}` {
		t.Errorf("events %q", got.Events)
	}
	if _, err := New(dir); err == nil || !strings.Contains(err.Error(), "holds a recording") {
		t.Errorf("written over: %v", err)
	}
	for _, file := range []string{aboutFile, eventsFile, "1.stream"} {
		if st, err := os.Stat(filepath.Join(dir, file)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, st.Mode(), err)
		}
	}
}

func TestPiecesOfManyComeWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	tape := r.Start(&actors.Taped{Driver: actors.DriverExec})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				tape.Passed(actors.Stdout, []byte("a line\n"))
			}
		})
	}
	all.Wait()
	tape.Ended(agent.Exit{})
	if err := r.Close("", ""); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var before time.Duration
	for _, p := range got.Streams[0].Pieces {
		if string(p.Bytes) != "a line\n" || p.At < before {
			t.Fatalf("%q at %s after %s", p.Bytes, p.At, before)
		}
		before = p.At
	}
	if n := len(got.Streams[0].Pieces); n != 1600 {
		t.Errorf("%d pieces", n)
	}
}

func TestWhatIsNoStreamIsRefused(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                              "does not begin",
		"agenthost-recording 2 exec\n":  "does not begin",
		"agenthost-recording 1 exec\n":  "ends without an exit",
		"agenthost-recording 1 exec\nx": "ends without an exit",
		"agenthost-recording 1 exec\n1.0 stdout\n":                       "no piece begins",
		"agenthost-recording 1 exec\nx stdout 3\nabc\n":                  "no time",
		"agenthost-recording 1 exec\n1.0 stdout -3\nabc\n":               "no piece",
		"agenthost-recording 1 exec\n1.0 stdaux 3\nabc\n":                "no piece",
		"agenthost-recording 1 exec\n1.0 stdout 99999999999999\nabc\n":   "no piece",
		"agenthost-recording 1 exec\n1.0 stdout 30\nabc\n":               "is cut",
		"agenthost-recording 1 exec\n1.0 stdout 3\nabcd\n1.0 exit 0 -\n": "is cut",
		"agenthost-recording 1 exec\n1.0 exit x -\n":                     "no exit",
	} {
		if s, err := ParseStream(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

func FuzzParseStream(f *testing.F) {
	f.Add("agenthost-recording 1 exec\n1.0 stdout 3\nabc\n1.0 exit 0 -\n")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseStream(strings.NewReader(text)); err == nil {
			s.Shape(nil)
		}
	})
}

func TestAShapeIsTheSameForEveryRun(t *testing.T) {
	t.Parallel()
	stream := func(driver string, pieces ...Piece) *Stream { return &Stream{Driver: driver, Pieces: pieces} }
	said := func(text string) Piece { return Piece{Through: actors.Stdout, Bytes: []byte(text)} }
	one := stream("exec", said(`{"type":"init","session_id":"4e0e3b0a-0000-4000-8000-000000000001","tools":["b","a"],"cwd":"/home/x/w","at`),
		said(`":12.5}`+"\n"+`{"id":"item_7","n":3,"url":"http://127.0.0.1:4711/x","file":"/usr/lib/y"}`))
	two := stream("exec", said(`{"at":99,"cwd":"/srv/w","type":"init","tools":["a","b"],"session_id":"4e0e3b0a-0000-4000-8000-0000000000ff"}`+"\n"),
		said("\n"+`{"url":"http://127.0.0.1:815/x","n":3,"id":"item_9","file":"/opt/lib/y"}`+"\n"))
	is, again := one.Shape(map[string]string{"/home/x/w": "<workspace>", "/home": "<home>"}), two.Shape(map[string]string{"/srv/w": "<workspace>"})
	want := []string{
		`{"at":0,"cwd":"<workspace>","session_id":"<uuid>","tools":["a","b"],"type":"init"}`,
		`{"file":"<path>","id":"<item>","n":3,"url":"http://127.0.0.1:<port>/x"}`,
		"exit 0",
	}
	if !slices.Equal(is, want) || !slices.Equal(again, want) {
		t.Errorf("%q\n%q", is, again)
	}
	if other := stream("exec", said(`{"id":"item_7","n":4}`)).Shape(nil); slices.Equal(other[:1], want[1:2]) {
		t.Error("another number is the same shape")
	}
	talk := stream("persistent", Piece{Through: actors.Stdin, Bytes: []byte("{\"id\":1}\n")}, said("{\"b\":1}\n"), said("{\"a\":1}\nnoise 12\n"))
	if got := talk.Shape(nil); !slices.Equal(got, []string{`> {"id":1}`, "< noise 12", `< {"a":1}`, `< {"b":1}`}) {
		t.Errorf("%q", got)
	}
}

func TestDifferNamesWhatIsGoneAndNew(t *testing.T) {
	t.Parallel()
	if d := Differ([]string{"a", "b", "c"}, []string{"a", "c", "d"}); d != "-b\n+d\n" {
		t.Errorf("%q", d)
	}
	if d := Differ([]string{"a"}, []string{"a"}); d != "" {
		t.Errorf("%q", d)
	}
}
