package adapters_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/adapters/qwen"
)

func TestManifestsArePinnedToTestedVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		adapter agent.Adapter
		pinned  string
	}{{&codex.Adapter{}, codex.Pinned}, {&claudecode.Adapter{}, claudecode.Pinned}, {&qwen.Adapter{}, qwen.Pinned}} {
		list, err := adapters.Manifests(c.adapter.Name())
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 || list[0].Version != c.pinned || list[0].Program != c.adapter.Binary() {
			t.Errorf("%s: %d manifests, the first of %+v", c.adapter.Name(), len(list), list)
		}
	}
	if list, err := adapters.Manifests("nobody"); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// The tests use CLIs that were installed from lock files of their own: both say the
// same of every package.
func TestManifestsAreWhatTheTestsInstall(t *testing.T) {
	t.Parallel()
	for adapter, dir := range map[string]string{"codex": "clis", "claude-code": "clis", "qwen-code": "qwen"} {
		text, err := os.ReadFile(filepath.Join("../fakes/tools", dir, "package-lock.json"))
		if err != nil {
			t.Fatal(err)
		}
		var lock struct {
			Packages map[string]agent.Locked `json:"packages"`
		}
		if err := json.Unmarshal(text, &lock); err != nil {
			t.Fatal(err)
		}
		list, err := adapters.Manifests(adapter)
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		for at, raw := range list[0].NPM.Lock {
			var have agent.Locked
			if err := json.Unmarshal(raw, &have); err != nil {
				t.Fatal(err)
			}
			if want := lock.Packages[at]; have != want {
				t.Errorf("%s: %s is %+v, the tests install %+v", adapter, at, have, want)
			}
		}
	}
}

func TestManifestsThatCannotBeTrustedAreRefused(t *testing.T) {
	t.Parallel()
	good := func() agent.Manifest {
		return agent.Manifest{
			Adapter: "a", Program: "a", Version: "1.0.0", Bin: []string{"node_modules/.bin/a"},
			NPM: &agent.NPMPackage{Package: "a", Lock: map[string]json.RawMessage{"node_modules/a": []byte(`{"version":"1.0.0","integrity":"sha512-x"}`)}},
		}
	}
	pip := func(lines ...string) func(*agent.Manifest) {
		return func(m *agent.Manifest) { m.NPM, m.Pip = nil, &agent.PipPackage{Package: "a", Requirements: lines} }
	}
	lock := func(at, entry string) func(*agent.Manifest) {
		return func(m *agent.Manifest) { m.NPM.Lock[at] = []byte(entry) }
	}
	m := good()
	if err := m.Valid(); err != nil {
		t.Fatal(err)
	}
	pip("a==1.0.0 --hash=sha256:00", "b==2 --hash=sha256:01 --hash=sha256:02")(&m)
	if err := m.Valid(); err != nil {
		t.Fatal(err)
	}
	bad := map[string]struct {
		change func(*agent.Manifest)
		says   string
	}{
		"no integrity":         {lock("node_modules/b", `{"version":"1"}`), "sha512"},
		"a weak one":           {lock("node_modules/b", `{"version":"1","integrity":"sha1-x"}`), "sha512"},
		"an address":           {lock("node_modules/b", `{"version":"1","integrity":"sha512-x","resolved":"x"}`), "resolved"},
		"another version":      {lock("node_modules/a", `{"version":"2","integrity":"sha512-x"}`), "version 2"},
		"a place outside":      {lock("node_modules/../b", `{"version":"1","integrity":"sha512-x"}`), "no place"},
		"no JSON":              {lock("node_modules/b", `7`), "npm.lock node_modules/b"},
		"no package":           {func(m *agent.Manifest) { m.NPM.Package = "b" }, "node_modules/b"},
		"neither manager":      {func(m *agent.Manifest) { m.NPM = nil }, "one of npm and pip"},
		"a program outside":    {func(m *agent.Manifest) { m.Bin = []string{"../a"} }, "bin"},
		"an absolute program":  {func(m *agent.Manifest) { m.Bin = []string{"/bin/sh"} }, "bin"},
		"no program":           {func(m *agent.Manifest) { m.Bin = nil }, "bin"},
		"a version as a path":  {func(m *agent.Manifest) { m.Version = "../1" }, "version"},
		"a command as a path":  {func(m *agent.Manifest) { m.Program = "../sh" }, "program"},
		"pip without a hash":   {pip("a==1.0.0"), "a==1.0.0"},
		"pip without version":  {pip("a --hash=sha256:00"), "NAME==VERSION"},
		"pip with an option":   {pip("a==1 --hash=sha256:00", "--index-url==x --hash=sha256:0"), "--index-url"},
		"pip without the tool": {pip("b==1 --hash=sha256:00"), `"a"`},
	}
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		m := good()
		bad[name].change(&m)
		if err := m.Valid(); err == nil || !strings.Contains(err.Error(), bad[name].says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := adapters.ReadManifests([]byte(`[{"adapter":"a"}]`)); err == nil {
		t.Error("a manifest of nothing was read")
	}
	if _, err := adapters.ReadManifests([]byte(`{`)); err == nil {
		t.Error("half a file was read")
	}
}
