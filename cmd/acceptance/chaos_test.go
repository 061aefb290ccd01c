package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/chaos"
	promise "github.com/agenthost/agenthost/bench/chaos/judge"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
	"github.com/agenthost/agenthost/bench/hostproc"
)

// torture runs `agenthost chaos` of a program.
func torture(t *testing.T, program string, args ...string) (r *chaos.Report, code int, said string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.CommandContext(t.Context(), program, append([]string{"chaos", "--json", "--dir", dir}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	r = &chaos.Report{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatalf("%v: %s%s", err, out.Bytes(), errs.Bytes())
	}
	return r, cmd.ProcessState.ExitCode(), errs.String()
}

// Three fixed seeds on every change, which have nearly all faults in their first cycles; `make certify` and docs/reliability.md have the
// long ones.
func TestChaosShort(t *testing.T) {
	t.Parallel()
	bin, err := hostproc.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{1, 44, 46} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r, code, said := torture(t, bin.Server, "--profile", "short", "--seed", fmt.Sprint(seed), "--duration", "20s")
			if code != 0 || len(r.Broken) > 0 {
				t.Fatalf("exit code %d\n%s%v", code, said, r.Broken)
			}
			if r.Seed != seed || r.Schedule != (schedule.Plan{Seed: seed}).Text(r.Cycles) || r.Turns < 20 || r.Completed == 0 || r.Injected < 3 || r.Starts < 1 {
				t.Errorf("%+v", r)
			}
			t.Logf("%d turns in %d cycles, %d faults, %d kills, %s", r.Turns, r.Cycles, r.Injected, r.Kills, r.Took.Round(time.Second))
		})
	}
}

// mutant is a server with a fault of its own, that chaos has to find.
type mutant struct {
	name string
	file string
	// swap are pairs of texts of the file and what stands there instead.
	swap []string
	// needs is the fault by which it shows; "" for none.
	needs    schedule.FaultKind
	promises []string
}

var mutants = []mutant{
	{
		// What was not synced may be gone after a power cut, or be no database any more.
		name: "fsync skipped", file: "actors/store/sqlite/writer.go",
		swap:     []string{`"PRAGMA synchronous=FULL"`, `"PRAGMA synchronous=OFF"`, `"PRAGMA synchronous=NORMAL"`, `"PRAGMA synchronous=OFF"`},
		needs:    schedule.PowerCut,
		promises: []string{promise.NeverLost, promise.Answers, promise.SameStream, promise.NeverTwice, chaos.Serves},
	},
	{
		name: "group kill only", file: "actors/process/tree_linux.go",
		swap: []string{
			"m.in[i] = m.certain(&all[i])", "m.in[i] = all[i].pgrp == p.pid && m.certain(&all[i])",
			"for _, pid := range p.group.pids() {", "for _, pid := range p.group.pids()[:0] {",
			"func (m *membership) likely(i int) bool {", "func (m *membership) likely(i int) bool {\n\tif i >= 0 {\n\t\treturn false\n\t}",
			"for grown := true; grown; {", "for grown := false; grown; {",
		},
		promises: []string{chaos.NoTrace},
	},
	{
		name: "a channel for each subscriber that drops what does not fit", file: "actors/subscription.go",
		swap: []string{
			"closed bool\n}", "closed bool\n\tlive bool\n}",
			"return nil, w.wake, nil\n}", "s.live = true\n\treturn nil, w.wake, nil\n}",
			"\t\tshown := w.shown(s.since)\n", "\t\tif n := len(w.batches); s.live && n > 2 && w.batches[n-2].First() > s.pos+1 {\n\t\t\ts.pos = w.batches[n-2].First() - 1\n\t\t}\n\t\tshown := w.shown(s.since)\n",
		},
		promises: []string{promise.NoGap, promise.SameStream},
	},
}

// build compiles the mutant: only its file is another one, by the compiler's overlay.
func (m *mutant) build(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(root, m.file)
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for pair := range slices.Chunk(m.swap, 2) {
		if strings.Count(text, pair[0]) != 1 {
			t.Fatalf("%s has %q %d times: the mutant must be written anew", m.file, pair[0], strings.Count(text, pair[0]))
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	patched, overlay, program := filepath.Join(dir, "patched.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "agenthost")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{source: patched}})
	if err := errors.Join(err, os.WriteFile(patched, []byte(text), 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", program, "./cmd/agenthost")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

// seed is one whose first disturbed cycle has what the mutant needs.
func (m *mutant) seed() uint64 {
	for seed := uint64(1); ; seed++ {
		faults := schedule.Plan{Seed: seed}.Cycle(1).Faults
		if m.needs == "" || slices.ContainsFunc(faults, func(f schedule.Fault) bool { return f.Kind == m.needs }) {
			return seed
		}
	}
}

// The judge can fail: servers that are broken on purpose are found out.
func TestChaosFindsBrokenServers(t *testing.T) {
	t.Parallel()
	certify(t)
	bin, err := hostproc.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			r, code, said := torture(t, m.build(t, bin.Root), "--seed", fmt.Sprint(m.seed()), "--duration", "60s")
			if code != 1 || len(r.Broken) == 0 || r.Evidence == "" {
				t.Fatalf("exit code %d after %d turns and %d faults: it was not found\n%s", code, r.Turns, r.Injected, said)
			}
			if !slices.ContainsFunc(r.Broken, func(b promise.Broken) bool { return slices.Contains(m.promises, b.Promise) }) {
				t.Errorf("found, but not by what is broken: %v", r.Broken)
			}
			t.Logf("found in cycle %d: %s", r.Cycles-1, r.Broken[0])
		})
	}
}
