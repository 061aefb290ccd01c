package acceptance

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fewest is how many cases each script has, at least: one that is cut short, or that
// loses cases, does not pass.
var fewest = map[string]int{
	"python-3.57.0": 60, "python-3.51.0": 60, "python-3.29.0": 60, "javascript-newest": 55, "go-newest": 38,
}

// The official SDKs, unchanged, are the judges of both wires: each plays the cases
// of testdata against one server, and turns the pages of another one's long lists.
// Each line of a script becomes a subtest.
func TestOfficialSDKs(t *testing.T) {
	t.Parallel()
	r := sdkRig(t)
	start := time.Now()
	long, env := pagesRig(t)
	t.Logf("lists of %d made in %.1f s", paged, time.Since(start).Seconds())
	t.Run("judges", func(t *testing.T) {
		for name, find := range judges {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				j := find(t)
				start := time.Now()
				v := judged(t, r, r.URL, j.program, j.args, slices.Concat(env, j.env)...)
				for name, why := range v.failed {
					t.Run(name, func(t *testing.T) { t.Error(why) })
				}
				for _, name := range v.passed {
					t.Run(name, func(*testing.T) {})
				}
				if n := len(v.passed) + len(v.failed); n < fewest[name] || v.total != n {
					t.Errorf("%d of %d cases were played, want %d", n, v.total, fewest[name])
				}
				if (v.ended == nil) != (len(v.failed) == 0) || v.errors != "" {
					t.Errorf("%s: %v\n%s", filepath.Base(j.program), v.ended, clip([]byte(v.errors)))
				}
				slices.SortFunc(v.slowest, func(a, b string) int {
					return cmp.Or(cmp.Compare(strings.IndexByte(a, '.'), strings.IndexByte(b, '.')), cmp.Compare(a, b))
				})
				t.Logf("%d cases in %.1f s, the slowest %s", v.total, time.Since(start).Seconds(), v.slowest[max(0, len(v.slowest)-5):])
			})
		}
	})
	for _, one := range []*rig{r, long} {
		if strings.Contains(one.Log(), "level=ERROR") {
			t.Errorf("the server logged an error:\n%s", one.LogTail())
		}
		one.Clean(15 * time.Second)
	}
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
				v := judged(t, r, tamperer(t, r.URL, f.old, f.with), j.program, append(j.args, f.play), j.env...)
				if len(v.failed) != 1 || v.failed[f.play] == "" {
					t.Errorf("was not seen: %+v", v)
				}
			})
		}
	}
}
