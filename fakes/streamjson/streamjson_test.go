package streamjson

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talk is a stand-in that is spoken with.
type talk struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan map[string]any
	ended chan error
	log   string
}

func start(t *testing.T, home, resume string) *talk {
	t.Helper()
	in, w := io.Pipe()
	r, out := io.Pipe()
	k := &talk{t: t, in: w, lines: make(chan map[string]any, 1000), ended: make(chan error, 1), log: filepath.Join(home, "log")}
	go func() {
		k.ended <- Serve(Options{Home: home, Log: k.log, Resume: resume, Tools: []string{"false"}, Leave: []string{"sleep"}}, in, out)
		_ = out.Close()
	}()
	go func() {
		defer close(k.lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			v := map[string]any{}
			if err := json.Unmarshal(s.Bytes(), &v); err != nil {
				t.Errorf("no JSON: %s", s.Text())
			}
			k.lines <- v
		}
	}()
	return k
}

func (k *talk) say(line string) {
	k.t.Helper()
	if _, err := io.WriteString(k.in, line+"\n"); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) prompt(uuid, text string) {
	k.t.Helper()
	b, _ := json.Marshal(text) //nolint:errchkjson // a string
	k.say(`{"type":"user","uuid":"` + uuid + `","message":{"role":"user","content":[{"type":"text","text":` + string(b) + `}]}}`)
}

// until reads lines up to one of which ok is true, and gives them in short.
func (k *talk) until(ok func(string) bool) (seen []string) {
	k.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case v, more := <-k.lines:
			if !more {
				k.t.Fatalf("it ended after %q", seen)
			}
			words := []string{}
			for _, field := range []string{"type", "subtype", "state", "command_uuid", "result"} {
				if s, _ := v[field].(string); s != "" {
					words = append(words, s)
				}
			}
			seen = append(seen, strings.Join(words, " "))
			if ok(seen[len(seen)-1]) {
				return seen
			}
		case <-limit:
			k.t.Fatalf("never, after %q", seen)
		}
	}
}

func is(want string) func(string) bool { return func(s string) bool { return s == want } }

const idle = "system session_state_changed idle"

func (k *talk) end() {
	k.t.Helper()
	if err := k.in.Close(); err != nil {
		k.t.Error(err)
	}
	if err := <-k.ended; err != nil {
		k.t.Error(err)
	}
	for range k.lines { //nolint:revive // to the end
	}
}

func TestTurnsOfOneProcess(t *testing.T) {
	t.Parallel()
	k := start(t, t.TempDir(), "")
	k.say(`{"type":"control_request","request_id":"a","request":{"subtype":"initialize"}}`)
	k.until(is("control_response"))
	k.prompt("one", "tag:x [[shell: exit 3]] [[say: done]]")
	k.prompt("two", "tag:y [[say: more]]")
	seen := k.until(is(idle))
	at := -1
	for _, want := range []string{
		"system session_state_changed running", "command_lifecycle started one", "system init", "assistant", "user", "assistant",
		"result success done", "command_lifecycle completed one", "command_lifecycle started two", "result success more", "command_lifecycle completed two", idle,
	} {
		i := slices.Index(seen[at+1:], want)
		if i < 0 {
			t.Fatalf("no %q behind %d of %q", want, at, seen)
		}
		at += 1 + i
	}
	k.end()
	log, err := os.ReadFile(k.log)
	if err != nil || strings.Count(string(log), "\n") != 4 || !strings.HasPrefix(string(log), "x start ") {
		t.Errorf("%v\n%s", err, log)
	}
}

func TestInterruptEndsWhatRunsAndWaits(t *testing.T) {
	t.Parallel()
	k := start(t, t.TempDir(), "")
	k.prompt("one", "[[shell: sleep 300]]")
	k.until(is("assistant"))
	k.prompt("two", "[[say: never]]")
	k.until(is("command_lifecycle queued two"))
	k.say(`{"type":"control_request","request_id":"b","request":{"subtype":"interrupt"}}`)
	seen := k.until(is(idle))
	for _, want := range []string{"command_lifecycle cancelled two", "control_response", "result error_during_execution", "command_lifecycle cancelled one"} {
		if !slices.Contains(seen, want) {
			t.Errorf("no %q in %q", want, seen)
		}
	}
	k.end()
}

func TestResume(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	k := start(t, home, "")
	k.prompt("one", "[[say: hi]]")
	k.until(is(idle))
	k.end()
	kept, err := filepath.Glob(filepath.Join(home, "standin-streams", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	k = start(t, home, filepath.Base(kept[0]))
	k.prompt("two", "[[say: again]]")
	k.until(is("result success again"))
	k.until(is(idle))
	k.end()
	k = start(t, home, newID())
	k.until(is("result error_during_execution"))
	if err := <-k.ended; !errors.Is(err, ErrUnknownSession) {
		t.Error(err)
	}
}

func TestSpeaks(t *testing.T) {
	t.Parallel()
	if resume, ok := Speaks([]string{"claude", "-p", "--input-format", "stream-json", "--resume", "s"}); !ok || resume != "s" {
		t.Error(resume, ok)
	}
	if _, ok := Speaks([]string{"claude", "-p", "--input-format"}); ok {
		t.Error("of too little")
	}
}
