package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/cmd/recording"
	"github.com/agenthost/agenthost/fakes/provider"
	"github.com/agenthost/agenthost/fakes/standin"
	"github.com/agenthost/agenthost/fakes/tools"
)

// asCLI makes the test binary the CLI of a recording.
const asCLI = "FAKE_PLAY"

func TestMain(m *testing.M) {
	if os.Getenv(asCLI) != "" {
		os.Exit(standin.Main(os.Args, standin.World{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// outside is a directory that is not below the temporary one.
func outside(t *testing.T) string {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(root), "record-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// What a real CLI said, played again, gives the same events.
func TestARecordingPlaysAsTheCLI(t *testing.T) {
	t.Parallel()
	for _, driver := range []actors.Driver{actors.DriverExec, actors.DriverPersistent} {
		t.Run(string(driver), func(t *testing.T) {
			t.Parallel()
			s := subject{adapter: &codex.Adapter{}, driver: driver, binary: tools.Need(t, "bin/codex"), wire: "responses", base: "/v1"}
			model := provider.New(provider.Script{Key: key})
			url, err := model.Start()
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := model.Close(); err != nil {
					t.Error(err)
				}
			}()
			dir := outside(t)
			workspace := filepath.Join(dir, "workspace")
			if err := os.Mkdir(workspace, 0o700); err != nil {
				t.Fatal(err)
			}
			turn := []string{"[[say: I look]][[shell: echo from the shell; exit 3]] [[write: note.txt a note]] [[say: seen]]"}
			first, err := s.session(t.Context(), filepath.Join(dir, "first"), workspace, filepath.Join(dir, "state"), url, turn)
			if err != nil {
				t.Fatal(err)
			}
			s.played = filepath.Join(dir, "first", first.Processes[0].Stream)
			if s.binary, err = os.Executable(); err != nil {
				t.Fatal(err)
			}
			before := len(model.Requests())
			again, err := s.session(t.Context(), filepath.Join(dir, "again"), workspace, filepath.Join(dir, "state2"), url, turn)
			if err != nil {
				t.Fatal(err)
			}
			if asked := len(model.Requests()) - before; asked != 0 {
				t.Errorf("the recording asked the model %d times", asked)
			}
			was, is := events(t, first), events(t, again)
			if d := recording.Differ(was, is); d != "" || len(is) < 10 {
				t.Errorf("%d events, other than those of the CLI:\n%s", len(is), d)
			}
			for _, file := range []string{"1.stream", "recording.json", "events.jsonl"} {
				text, err := os.ReadFile(filepath.Join(dir, "first", file))
				if err != nil || bytes.Contains(text, []byte(key)) || len(text) == 0 {
					t.Errorf("%s: %d bytes, %v; or the key is in it", file, len(text), err)
				}
			}
		})
	}
}

// events are the events of a recording without what is new in each session: its ids,
// its times, and how deltas were put together.
func events(t *testing.T, r *recording.Recording) (list []string) {
	t.Helper()
	deltas := map[string]string{}
	for _, line := range r.Events {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		kind, _ := e["kind"].(string)
		if kind == "turn.ended" { // first byte and carry
			body, _ := e["body"].(map[string]any)
			list = append(list, kind+" "+text(t, map[string]any{"outcome": body["outcome"], "usage": body["usage"]}))
			continue
		}
		if strings.HasSuffix(kind, ".delta") {
			said, _ := e["text"].(string)
			deltas[kind] += said
			continue
		}
		if kind == "session.created" {
			continue
		}
		forget(e)
		list = append(list, text(t, e))
	}
	kinds := make([]string, 0, len(deltas))
	for kind := range deltas {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		list = append(list, kind+" "+deltas[kind])
	}
	return list
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func forget(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"id", "at", "seq", "step", "turn", "item", "index", "created", "first_byte", "millis"} {
			delete(v, key)
		}
		for _, one := range v {
			forget(one)
		}
	case []any:
		for _, one := range v {
			forget(one)
		}
	}
}

// The shapes are those of the pinned versions: codex in every run, the others for make
// certify.
func TestTheShapesAreThoseOfThePinnedCLIs(t *testing.T) {
	t.Parallel()
	only := "codex-exec"
	if os.Getenv("AGENTHOST_CERTIFY") != "" {
		only = ""
	}
	tools.Need(t, "bin/codex")
	var out bytes.Buffer
	differ, err := record(t.Context(), &out, only, outside(t), "testdata", false)
	if err != nil || differ {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if status := run([]string{"--only", "nobody"}, &out, &errs); status != 1 || !strings.Contains(errs.String(), `"nobody" is not installed`) {
		t.Errorf("%d %s", status, errs.String())
	}
	if status := run([]string{"--wrong"}, &out, &errs); status != 2 {
		t.Errorf("%d", status)
	}
}
