package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/adaptertest"
)

const (
	factsFile        = "../../adapters/facts.json"
	capabilitiesPage = "../../docs/capabilities.md"
)

// TestCapabilitiesPage makes docs/capabilities.md of adapters/facts.json, from which
// GET /v1/agents/runtimes answers too. With -update the facts are first made of what
// the last runs of the tests recorded below build/. A test that records something
// else than the facts say fails by itself.
func TestCapabilitiesPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(factsFile)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := adapters.ReadFacts(text)
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	if updating() {
		merge(t, facts, tests)
		text, err := json.MarshalIndent(facts, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(factsFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for adapter, k := range facts {
		for _, feature := range adapters.Features {
			if k.Features[feature].Is == "" {
				t.Errorf("%s: no test found out about %s", adapter, feature)
			}
		}
		for feature, f := range k.Features {
			if !slices.Contains(adapters.Features, feature) {
				t.Errorf("%s: %s is no feature", adapter, feature)
			}
			if !tests[f.By] {
				t.Errorf("%s: %s is %s by %q, which is no test", adapter, feature, f.Is, f.By)
			}
		}
	}
	page := writeCapabilities(facts)
	if updating() {
		if err := os.WriteFile(capabilitiesPage, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(capabilitiesPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page) {
		t.Errorf("%s is not what %s says; run go test ./cmd/layout -run %s -update", capabilitiesPage, factsFile, t.Name())
	}
}

// merge puts what tests recorded over the facts: of two findings the stronger one.
// Facts of tests that are gone fall away.
func merge(t *testing.T, facts map[string]adapters.Known, tests map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", adaptertest.ResultsDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no results to update from: run the tests of ./adapters/... and ./cmd/acceptance first (%v)", err)
	}
	found := map[string]map[string]adapters.Fact{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []adaptertest.Result
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, r := range list {
			if !tests[r.By] {
				continue
			}
			if found[r.Adapter] == nil {
				found[r.Adapter] = map[string]adapters.Fact{}
			}
			if stronger(r.Is, found[r.Adapter][r.Feature].Is) {
				found[r.Adapter][r.Feature] = adapters.Fact{Is: r.Is, By: r.By}
			}
			if r.Version != "" {
				k := facts[r.Adapter]
				k.Version = r.Version
				facts[r.Adapter] = k
			}
		}
	}
	for adapter, features := range found {
		k := facts[adapter]
		if k.Features == nil {
			k.Features = map[string]adapters.Fact{}
		}
		for feature, f := range k.Features {
			if !tests[f.By] {
				delete(k.Features, feature)
			}
		}
		for feature, f := range features {
			k.Features[feature] = f
		}
		facts[adapter] = k
	}
}

var strength = []agent.Support{"", agent.Lacking, agent.Refused, agent.PassedThrough, agent.Verified}

func stronger(a, b agent.Support) bool { return slices.Index(strength, a) > slices.Index(strength, b) }

func writeCapabilities(facts map[string]adapters.Known) []byte {
	columns := []string{"codex", "claude-code", adapters.Declared}
	for name := range facts {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	slices.Sort(columns[3:])
	words := map[agent.Support]string{
		agent.Verified: "verified", agent.PassedThrough: "passed through", agent.Refused: "refused", agent.Lacking: "none",
	}
	var b bytes.Buffer
	b.WriteString(`# What each adapter can do

- **verified**: a test saw it work in a run of the real CLI, of the version below. Of
  ` + "`command`" + `, any CLI that is declared in the configuration: with a program that
  prints what the declaration says.
- **passed through**: it reaches the CLI; what the CLI makes of it was not looked at.
- **refused**: a request for it is refused by name before anything is started.
- **none**: nothing that the CLI or this host does; a turn that wishes for it runs
  without.

The table is about the driver exec. A CLI that is run by its long-lived driver does all
of its column and more, which ` + "`capabilities`" + ` of its runtime say: codex then tells
its answer in pieces (deltas), asks for permission (approvals, permission ask) and takes
messages into a turn that runs (steer).

What a CLI does by itself and nothing switches off:

- qwen-code keeps a project's ` + "`.qwen/settings.json`" + `, if there is one, in its newest form: one
  without a version gets ` + "`\"$version\": 4`" + `, one that it cannot read is put aside as
  ` + "`settings.json.corrupted`" + `.
- gemini loses a conversation whose process ended in the minute in which it began. It
  runs tool servers only in a workspace that it trusts, with the workspace's own
  settings: with workspace_write and full_access.

` + "`GET /v1/agents/runtimes`" + ` answers the same words as ` + "`features`" + `. This page is made
of ` + "`adapters/facts.json`" + `, and that of what the tests recorded, by ` + "`go test ./cmd/layout\n-run TestCapabilitiesPage -update`" + ` after a run of them.

| feature | ` + strings.Join(columns, " | ") + " |\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	b.WriteString("| version |")
	for _, c := range columns {
		version := facts[c].Version
		if version == "" {
			version = "any"
		}
		b.WriteString(" " + version + " |")
	}
	b.WriteString("\n")
	for _, f := range adapters.Features {
		fmt.Fprintf(&b, "| %s |", strings.ReplaceAll(f, "_", " "))
		for _, c := range columns {
			b.WriteString(" " + words[facts[c].Features[f].Is] + " |")
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}
