package actors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// flagged is a script whose program lists its flags: every turn needs --basic, one
// with a schema --schema.
type flagged struct{ versioned }

func (flagged) Help([]string) ([]string, map[string]string) {
	return []string{"--help"}, map[string]string{"--basic": "", "--schema": "text.format"}
}

func (f flagged) Invocation(r *agent.Request) (*agent.Invocation, error) {
	inv, err := f.versioned.Invocation(r)
	if err != nil {
		return nil, err
	}
	inv.Args = append(inv.Args, "--basic")
	if r.Text.Type != "" {
		inv.Args = append(inv.Args, "--schema=x")
	}
	return inv, nil
}

// flagProgram is a CLI of a version with flags; it notes what it is asked.
func flagProgram(t *testing.T, path, version, flags string) {
	t.Helper()
	text := fmt.Sprintf("#!/bin/sh\ncase $1 in\n--version) echo 'tool %s';;\n--help) echo asked >>%s.asked; echo 'usage: tool %s --help';;\n*) exec /bin/sh \"$@\";;\nesac\n", version, path, flags)
	next := path + ".next"
	if err := os.WriteFile(next, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(next, time.Time{}, time.Unix(1_700_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func TestFlagsThatTheInstalledProgramLacksAreRefusedByName(t *testing.T) {
	t.Parallel()
	tool := filepath.Join(t.TempDir(), "tool")
	rc := actors.RuntimeConfig{
		Adapter: flagged{versioned{script{binary: tool}}}, Proof: agent.Proof{Version: "tool 2.0.0"}, Remedy: "get another",
	}
	h := started(t, quick(), memory.New(), actors.WithRuntime(rc))
	ask := func(schema bool) error {
		n := &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("echo hi")}
		if schema {
			n.Agent.Text.Type = "json_schema"
		}
		p, err := h.CreateSession(ctx(t), "alice", n)
		if err == nil && outcome(t, turnOf(t, h, p)).Outcome != event.Completed {
			t.Errorf("the turn failed: %+v", outcome(t, turnOf(t, h, p)))
		}
		return err
	}
	asked := func() int {
		b, _ := os.ReadFile(tool + ".asked")
		return strings.Count(string(b), "asked")
	}

	// An old one.
	flagProgram(t, tool, "1.0.0", "--basic --schematic")
	for range 2 {
		if err := ask(false); err != nil {
			t.Errorf("a plain turn: %v", err)
		}
		err := ask(true)
		f, _ := event.AsFailure(err)
		if f == nil || f.Code != event.Unsupported || f.Param != "text.format" || !strings.Contains(f.Message, "tool 1.0.0, takes no --schema") || !strings.Contains(f.Message, "get another") {
			t.Errorf("a turn with a schema: %v", err)
		}
	}
	if n := asked(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	r := h.Runtimes(t.Context())[0]
	if len(r.Lacks) != 1 || r.Lacks[0] != (actors.Lack{Word: "--schema", Param: "text.format"}) {
		t.Errorf("lacks %+v", r.Lacks)
	}

	// One that cannot run a turn at all.
	flagProgram(t, tool, "0.5.0", "--schema")
	if err := ask(false); event.CodeOf(err) != event.RuntimeNotInstalled || !strings.Contains(err.Error(), "--basic") {
		t.Errorf("a plain turn of a very old one: %v", err)
	}
	// A newer one that has all, one that lists nothing, one without a version, and the
	// tested one, which is not asked.
	n := asked()
	for version, flags := range map[string]string{"3.0.0": "--basic --schema", "4.0.0": "", "new": "--basic", "2.0.0": "--basic"} {
		flagProgram(t, tool, version, flags)
		if version == "4.0.0" {
			if err := os.WriteFile(tool, []byte("#!/bin/sh\ncase $1 in --version) echo tool 4.0.0;; --help) exit 2;; *) exec /bin/sh \"$@\";; esac\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := ask(true); err != nil {
			t.Errorf("version %s with %q: %v", version, flags, err)
		}
	}
	if more := asked() - n; more != 1 {
		t.Errorf("asked %d times more", more)
	}
}
