package adaptertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters"
)

// Result is one thing that a test found out about an adapter.
type Result struct {
	Adapter, Feature string
	Is               agent.Support
	Version          string // of a real CLI, "" without one
	By               string // folder and name of the test
}

// ResultsDir is where results are kept, below the module's root: a file a package.
var ResultsDir = filepath.Join("build", "capabilities")

var recorded struct {
	sync.Mutex
	list []Result
	// parted are tests that failed only because the facts are old: what they found
	// counts.
	parted map[*testing.T]bool
}

// Record keeps what a test found out about a feature of an adapter, once the test
// has passed, and fails it if the checked-in facts say something else.
func Record(t *testing.T, adapter, feature string, is agent.Support, version string) {
	t.Helper()
	if !slices.Contains(adapters.Features, feature) {
		t.Fatalf("%q is no feature of the capability matrix", feature)
	}
	t.Cleanup(func() {
		if t.Failed() && !isParted(t) || t.Skipped() {
			return
		}
		folder, root := folders(t)
		test, _, _ := strings.Cut(t.Name(), "/")
		r := Result{Adapter: adapter, Feature: feature, Is: is, Version: version, By: folder + " " + test}
		keep(t, root, folder, r)
		facts, err := adapters.Facts()
		if err != nil {
			t.Error(err)
			return
		}
		if have := facts[adapter].Features[feature].Is; !agrees(have, is) {
			part(t)
			t.Errorf("%s, %s: found %s, the facts say %q; run go test ./cmd/layout -run TestCapabilitiesPage -update and read the change", adapter, feature, is, have)
		}
		if version != "" && facts[adapter].Version != version {
			part(t)
			t.Errorf("%s: verified with %q, the facts are of %q; update them in the same way", adapter, version, facts[adapter].Version)
		}
	})
}

func isParted(t *testing.T) bool {
	recorded.Lock()
	defer recorded.Unlock()
	return recorded.parted[t]
}

func part(t *testing.T) {
	recorded.Lock()
	defer recorded.Unlock()
	if recorded.parted == nil {
		recorded.parted = map[*testing.T]bool{}
	}
	recorded.parted[t] = true
}

// agrees: what is verified is passed through as well.
func agrees(fact, found agent.Support) bool {
	return fact == found || fact == agent.Verified && found == agent.PassedThrough
}

func keep(t *testing.T, root, folder string, r Result) {
	recorded.Lock()
	defer recorded.Unlock()
	recorded.list = append(recorded.list, r)
	file := filepath.Join(root, ResultsDir, strings.ReplaceAll(folder, "/", "_")+".json")
	var all []Result
	if text, err := os.ReadFile(file); err == nil { // of this run and those before
		if err := json.Unmarshal(text, &all); err != nil {
			t.Logf("%s is written anew: %v", file, err)
		}
	}
	all = slices.DeleteFunc(all, func(old Result) bool { return old.Adapter == r.Adapter && old.Feature == r.Feature && old.By == r.By })
	text, err := json.MarshalIndent(append(all, r), "", "\t")
	if err != nil {
		t.Error(err)
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Error(err)
		return
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Error(err)
	}
}

// folders are the package under test, as seen from the module's root, and that root.
func folders(t *testing.T) (folder, root string) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for root = wd; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above the working directory")
		}
	}
	rel, err := filepath.Rel(root, wd)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel), root
}

// Unproven lists the facts that a package's tests are said to have verified and did
// not record in this process: for the end of a run of all of them.
func Unproven(folder string) ([]string, error) {
	facts, err := adapters.Facts()
	if err != nil {
		return nil, err
	}
	recorded.Lock()
	defer recorded.Unlock()
	var out []string
	for adapter, k := range facts {
		for feature, f := range k.Features {
			of, _, _ := strings.Cut(f.By, " ")
			if of != folder || slices.ContainsFunc(recorded.list, func(r Result) bool { return r.Adapter == adapter && r.Feature == feature && r.Is == f.Is }) {
				continue
			}
			out = append(out, adapter+": "+feature+" is "+string(f.Is)+" by "+f.By)
		}
	}
	slices.Sort(out)
	return out, nil
}
