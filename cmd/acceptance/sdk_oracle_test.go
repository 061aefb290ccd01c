package acceptance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/drift"
)

// fewest is how many cases each script has on the stand-ins and on the real CLIs, at
// least: one that is cut short, or that loses cases, does not pass.
var fewest = map[string][2]int{
	"python-3.57.0": {75, 25}, "python-3.51.0": {75, 15}, "python-3.29.0": {75, 9}, "javascript-newest": {65, 16}, "go-newest": {45, 7},
}

// The official SDKs, unchanged, are the judges of both wires: each plays the cases
// of testdata against one server, turns the pages of another one's long lists, and
// reads what the real CLIs do on a third one. Each line of a script becomes a
// subtest. What an SDK can call, one of its cases calls.
func TestOfficialSDKs(t *testing.T) {
	t.Parallel()
	r := sdkRig(t)
	start := time.Now()
	long, env := pagesRig(t)
	t.Logf("lists of %d made in %.1f s", paged, time.Since(start).Seconds())
	real := realRig(t)
	var mu sync.Mutex
	called := map[string]drift.Calls{}
	play := func(t *testing.T, r *rig, name string, least int, j judge, args []string, env ...string) {
		start := time.Now()
		v := judged(t, r, r.URL, j.program, args, slices.Concat(env, j.env)...)
		v.report(t, least)
		t.Logf("%d cases in %.1f s, the slowest %s", v.total, time.Since(start).Seconds(), v.slowest[max(0, len(v.slowest)-5):])
		mu.Lock()
		defer mu.Unlock()
		if called[name] == nil {
			called[name] = drift.Calls{}
		}
		maps.Copy(called[name], v.called)
	}
	t.Run("judges", func(t *testing.T) {
		for name, find := range judges {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				j := find(t)
				play(t, r, name, fewest[name][0], j, j.oracle, env...)
			})
			t.Run(name+" on real CLIs", func(t *testing.T) {
				t.Parallel()
				j := find(t)
				if real == nil {
					t.Skip("the CLIs are not installed: run fakes/tools/install.sh all")
				}
				play(t, real.rig, name, fewest[name][1], j, j.real, "ORACLE_WORKERS=3")
			})
		}
	})
	t.Run("calls", func(t *testing.T) {
		for name, find := range judges {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				j := find(t)
				if real == nil {
					t.Skip("some operations are called on real CLIs only")
				}
				sdk, err := j.sdk(t)
				if err != nil {
					t.Fatal(err)
				}
				if len(sdk.Operations) < 80 {
					t.Errorf("it has only %d operations", len(sdk.Operations))
				}
				for _, o := range called[name].Uncalled(sdk) {
					t.Errorf("no case calls %s", o)
				}
			})
		}
	})
	t.Logf("played after %.1f s", time.Since(start).Seconds())
	for _, one := range []*rig{r, long} {
		if strings.Contains(one.Log(), "level=ERROR") {
			t.Errorf("the server logged an error:\n%s", one.LogTail())
		}
		one.Clean(time.Minute)
	}
	t.Logf("clean after %.1f s", time.Since(start).Seconds())
	if real != nil {
		if !t.Failed() {
			real.verified(t, "claude-code", "subagents")
			real.verified(t, "codex", "subagents")
		}
		if strings.Contains(real.Log(), "level=ERROR") {
			t.Errorf("the server logged an error:\n%s", real.LogTail())
		}
		real.Clean(cliTurnLimit)
	}
}

// report makes a subtest of each case.
func (v *verdict) report(t *testing.T, least int) {
	t.Helper()
	for name, why := range v.failed {
		t.Run(name, func(t *testing.T) { t.Error(why) })
	}
	for _, name := range v.passed {
		t.Run(name, func(*testing.T) {})
	}
	if n := len(v.passed) + len(v.failed); n < least || v.total != n {
		t.Errorf("%d of %d cases were played, want %d", n, v.total, least)
	}
	if (v.ended == nil) != (len(v.failed) == 0) || v.errors != "" {
		t.Errorf("%v\n%s", v.ended, clip([]byte(v.errors)))
	}
	slices.SortFunc(v.slowest, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.IndexByte(a, '.'), strings.IndexByte(b, '.')), cmp.Compare(a, b))
	})
}

// The oracles are worth something only if they see what is wrong: a field that is
// missing, a type word that no union has, an event that repeats.
func TestOraclesSeeFaults(t *testing.T) {
	t.Parallel()
	r := sdkRig(t)
	faults := map[string]struct{ old, with, play string }{
		"missing in an event":     {`"output_index":`, `"output_indey":`, "sessions_create_stream"},
		"missing in a turn":       {`"session_id":`, `"session_ie":`, "items_and_turns"},
		"missing in usage":        {`"cached_tokens":`, `"cached_tokenz":`, "responses_create_stream"},
		"an unknown type of item": {`"command_execution"`, `"command_executiom"`, "items_and_turns"},
		"a status that is none":   {`"status":"completed"`, `"status":"completes"`, "responses_stream_helper"},
		"missing in a file":       {`"created_at":`, `"created_as":`, "files_create_retrieve_content_delete"},
	}
	for fault, f := range faults {
		for _, name := range []string{"python-3.57.0", "javascript-newest", "go-newest"} {
			t.Run(fmt.Sprint(fault, ", ", name), func(t *testing.T) {
				t.Parallel()
				j := judges[name](t)
				v := judged(t, r, tamperer(t, r.URL, f.old, f.with), j.program, append(slices.Clone(j.oracle), f.play), j.env...)
				if len(v.failed) != 1 || v.failed[f.play] == "" {
					t.Errorf("was not seen: %+v", v)
				}
			})
		}
	}
}
