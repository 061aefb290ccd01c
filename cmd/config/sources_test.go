package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLaterSourcesWin(t *testing.T) {
	t.Parallel()
	const file = "testdata/full.yaml" // max_queue: 8
	variable := "AGENTHOST_LIMITS_MAX_QUEUE=20"
	if c := good(t, file, nil); c.Limits.MaxQueue != 8 {
		t.Errorf("file: %d", c.Limits.MaxQueue)
	}
	if c := good(t, file, nil, variable); c.Limits.MaxQueue != 20 {
		t.Errorf("variable: %d", c.Limits.MaxQueue)
	}
	if c := good(t, file, map[string]string{"limits.max_queue": "30"}, variable); c.Limits.MaxQueue != 30 {
		t.Errorf("flag: %d", c.Limits.MaxQueue)
	}
	c := good(t, file, nil, "ABX_AGENTS_MAX_CONCURRENT_TURNS=5")
	if c.Limits.MaxConcurrentTurns != 5 {
		t.Errorf("old name: %d", c.Limits.MaxConcurrentTurns)
	}
	c = good(t, file, nil, "ABX_AGENTS_MAX_CONCURRENT_TURNS=5", "AGENTHOST_LIMITS_MAX_CONCURRENT_TURNS=6")
	if c.Limits.MaxConcurrentTurns != 6 {
		t.Errorf("own name over the old one: %d", c.Limits.MaxConcurrentTurns)
	}
}

func TestEveryScalarHasAFlagAndAVariable(t *testing.T) {
	t.Parallel()
	value := func(s Scalar) string {
		switch {
		case s.Bool:
			return "true"
		case strings.HasSuffix(s.Key, "permissions"):
			return "read_only"
		case len(s.field.enum) > 0:
			return s.field.enum[0]
		case s.field.value.Type() == durationType:
			return "90s"
		case s.field.value.Type() == sizeType:
			return "1MiB"
		case s.field.value.CanFloat():
			return "0.5"
		case s.field.value.CanInt():
			return "64"
		}
		return "/x"
	}
	all := Default("/home/u", false).Scalars()
	if len(all) < 45 {
		t.Fatalf("only %d settings", len(all))
	}
	for _, s := range all {
		if strings.ContainsAny(s.Flag(), "_ ") || strings.ContainsAny(s.Variable(), ".-") || s.Help == "" {
			t.Errorf("%s: flag %s, variable %s", s.Key, s.Flag(), s.Variable())
		}
		want := value(s)
		for _, way := range []string{"flag", "variable"} {
			var flags map[string]string
			var env []string
			if way == "flag" {
				flags = map[string]string{s.Key: want}
			} else {
				env = []string{s.Variable() + "=" + want}
			}
			c, _, err := load(t, "", flags, env...)
			problems := ""
			if err != nil {
				problems = err.Error()
			}
			if strings.Contains(problems, "not built") {
				if !strings.Contains(problems, way+" ") {
					t.Errorf("%s: the refusal does not name the %s: %s", s.Key, way, problems)
				}
				continue
			}
			for _, got := range c.Scalars() {
				if got.Key == s.Key && got.Default != want && got.Default != "1m30s" {
					t.Errorf("%s by %s: %q, want %q (%s)", s.Key, way, got.Default, want, problems)
				}
			}
		}
	}
}

func TestABadFlagOrVariableIsNamed(t *testing.T) {
	t.Parallel()
	_, _, err := load(t, "", map[string]string{"stream.heartbeat": "15"}, "AGENTHOST_LIMITS_MAX_QUEUE=x", "ABX_AGENTS_MAX_CONCURRENT_TURNS=four",
		"ABX_AGENTS_PERSIST=maybe", "ABX_AGENTS_TRACES=1", "ABX_SERVER_ENABLED_GROUPS=agnets", "ABX_AGENTS_CONFIG=/does/not/exist")
	golden(t, "testdata/sources.txt", err.Error()+"\n")
}

func TestNamesOfExistingDeployments(t *testing.T) {
	t.Parallel()
	c, warnings, err := load(t, "", nil, "ABX_SERVER_TOKEN=short", "ABX_SERVER_ENABLED_GROUPS=agents,browser", "ABX_AGENTS_STATE_DIR=~/old",
		"ABX_TOOLS_DIR=/tools", "ABX_AGENTS_DEFAULT=claude", "ABX_AGENTS_RESPONSES_WORKSPACE=/workspace", "ABX_AGENTS_PERSIST=0",
		"ABX_AGENTS_LOCK_DEFINITIONS=1", "ABX_AGENTS_PASSTHROUGH_ENV=FOO, BAR", "ABX_AGENTS_MAX_VAULTS=100", "ABX_AGENTS_ALLOW_INSTALL=0",
		"ABX_PTY_PORT=9001", "ABX_AGENTS_DEFUALT=x", "AGENTHOST_LIMITS_MAX_QEUE=3", "ABX_LLM_API_KEY=k", "AGENTHOST_TOKEN=t")
	if err != nil {
		t.Fatal(err)
	}
	if tok := c.Auth.Tokens; len(tok) != 1 || tok[0].ID != "server" || tok[0].Roles[0] != "admin" || tok[0].Value != "short" {
		t.Errorf("token: %+v", tok)
	}
	if c.StateDir != "/home/u/old" || c.ToolsDir != "/tools" || c.Agents.Default != "claude-code" || c.Environments.Workspace != "/workspace" ||
		!c.Ephemeral || !c.LockDefinitions || !slices.Equal(c.Groups, []string{"agents"}) {
		t.Errorf("%+v", c)
	}
	for _, name := range BuiltIn {
		if r := c.Agents.Runtimes[name]; !slices.Equal(r.PassthroughEnv, []string{"FOO", "BAR"}) {
			t.Errorf("%s: %v", name, r.PassthroughEnv)
		}
	}
	golden(t, "testdata/warnings.txt", strings.Join(warnings, "\n")+"\n")

	if c := good(t, "", nil, "ABX_SERVER_ENABLED_GROUPS="); len(c.Groups) != 0 {
		t.Errorf("groups: %v", c.Groups)
	}
	_, _, err = load(t, "testdata/full.yaml", nil, "ABX_AGENTS_ALLOW_COMMAND=0")
	if err == nil || !strings.Contains(err.Error(), "agents.aider: ABX_AGENTS_ALLOW_COMMAND=0") {
		t.Errorf("command adapters with ABX_AGENTS_ALLOW_COMMAND=0: %v", err)
	}
}

func TestLargestFileOfExistingDeployments(t *testing.T) {
	t.Parallel()
	const name = "ABX_AGENTS_MAX_FILE_BYTES"
	c, warnings, err := load(t, "", nil, name+"=52428800", "AGENTHOST_LIMITS_MAX_BODY_BYTES=64MiB")
	if err != nil || c.Limits.MaxFileBytes != 50<<20 || len(warnings) != 0 {
		t.Errorf("%d %v %v", c.Limits.MaxFileBytes, warnings, err)
	}
	if _, warnings, err = load(t, "", nil, name+"=52428800"); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "limits.max_body_bytes") {
		t.Errorf("larger than a request: %v %v", warnings, err)
	}
	for _, bad := range []string{"0", "-1", "ten"} {
		if _, _, err := load(t, "", nil, name+"="+bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestLargestArtifactOfExistingDeployments(t *testing.T) {
	t.Parallel()
	const name = "ABX_AGENTS_MAX_ARTIFACT_BYTES"
	c, warnings, err := load(t, "", nil, name+"=52428800")
	if err != nil || c.Limits.MaxArtifactBytes != 50<<20 || c.Limits.MaxFileBytes != 10<<20 || len(warnings) != 0 {
		t.Errorf("%d %v %v", c.Limits.MaxArtifactBytes, warnings, err)
	}
	if _, _, err := load(t, "", nil, name+"=0"); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("none: %v", err)
	}
}

func TestAgentsFileOfExistingDeployments(t *testing.T) {
	t.Parallel()
	c := good(t, "", nil, "ABX_AGENTS_CONFIG=testdata/reference.json")
	if len(c.SavedAgents()) != 2 || c.Agents.Default != "claude-code" {
		t.Fatalf("%+v, default %s", c.SavedAgents(), c.Agents.Default)
	}
	a := c.SavedAgents()[0]
	if a.Name != "coder" || a.Adapter != "codex" || a.Model != "gpt-5.5" || a.Workspace != "/workspace" || a.Permissions != "read_only" ||
		a.Limits.TurnTimeout != 1500*time.Millisecond || a.Limits.MaxTurns != 3 || a.Limits.CPU != 3*time.Second || a.Limits.OutputBytes != 8<<20 || a.Reasoning.Effort != "low" || a.Env["A"] != "1" ||
		a.SecretEnv["TOK"] != "MY_NPM" || a.MCP["fs"].Command != "mcp-fs" || a.Metadata["description"] != "writes code" {
		t.Errorf("%+v", a)
	}
	own, r := c.SavedAgents()[1], c.Agents.Runtimes["command-aider-2"]
	if r == nil || own.Name != "Aider.2" || own.Adapter != "command-aider-2" || own.Model != "big" || own.Env["AIDER_X"] != "1" {
		t.Fatalf("%+v of %+v", own, r)
	}
	if r.Adapter != "command" || r.Binary != "/opt/aider/bin/aider" || r.Command[2] != "{model}" || r.Resume.Argv[1] != "--again" ||
		r.Prompt != "argv" || r.Output.Format != "text" || !slices.Equal(r.ExtraArgs, []string{"--no-git"}) {
		t.Errorf("%+v", r)
	}
	_, _, err := load(t, "", nil, "ABX_AGENTS_CONFIG=testdata/reference.json", "ABX_AGENTS_ALLOW_COMMAND=0")
	if err == nil || !strings.Contains(err.Error(), "agents[1].command: ABX_AGENTS_ALLOW_COMMAND=0") {
		t.Errorf("a command with ABX_AGENTS_ALLOW_COMMAND=0: %v", err)
	}
	_, _, err = load(t, "", nil, "ABX_AGENTS_CONFIG=testdata/reference_bad.yaml")
	golden(t, "testdata/reference_bad.txt", err.Error()+"\n")
	if strings.Contains(err.Error(), "sk-secret") {
		t.Error("a message shows a secret")
	}
}

func TestStateDirectoryDependsOnTheUser(t *testing.T) {
	t.Parallel()
	c, _, err := Load(Source{Home: "/root", Root: true})
	if err != nil || c.StateDir != "/var/lib/agenthost" {
		t.Error(c.StateDir, err)
	}
	if c, _, err = Load(Source{Home: "/home/u"}); err != nil || c.StateDir != "/home/u/.local/state/agenthost" {
		t.Error(c.StateDir, err)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{"0": 0, "512": 512, "64MiB": 64 << 20, "1 GiB": 1 << 30, "3KiB": 3072, "2TiB": 2 << 40} {
		if got, ok := ParseSize(text); !ok || got != want {
			t.Errorf("%q: %d %v", text, got, ok)
		}
		if again, ok := ParseSize(want.String()); !ok || again != want {
			t.Errorf("%q does not read back", want)
		}
	}
	for _, text := range []string{"", "-1", "1MB", "MiB", "1.5MiB", "99999999999TiB", "0x10"} {
		if got, ok := ParseSize(text); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestAnchorsAndDeepNestingEnd(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"self":   "log: &a {level: *a}\n",
		"shared": "agents:\n  codex: &c {home: private}\n  claude-code: *c\n",
		"merge":  "log: {<<: {level: info}}\n",
		"two":    "listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2\n",
	} {
		file := t.TempDir() + "/f.yaml"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := load(t, file, nil)
		if ok := name == "shared"; ok != (err == nil) {
			t.Errorf("%s: %v", name, err)
		} else if ok && c.Agents.Runtimes["claude-code"].Home != "private" {
			t.Errorf("%s: the alias was not read", name)
		}
	}
}

func TestDirectoriesInAFileCountFromIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := dir + "/agenthost.yaml"
	text := "state_dir: state\ntools_dir: ../tools\nenvironments: {workspace: ~/w}\ndefinitions: [{name: a, runtime: codex, workspace: {path: repo}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := good(t, file, nil)
	if c.StateDir != dir+"/state" || c.ToolsDir != filepath.Join(dir, "../tools") || c.Environments.Workspace != "/home/u/w" {
		t.Errorf("%s, %s, %s", c.StateDir, c.ToolsDir, c.Environments.Workspace)
	}
	if a := c.SavedAgents()[0]; a.Workspace != dir+"/repo" {
		t.Errorf("definition: %s", a.Workspace)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if c = good(t, file, map[string]string{"state_dir": "state"}); c.StateDir != here+"/state" {
		t.Errorf("flag: %s", c.StateDir)
	}
	if c = good(t, file, nil, "AGENTHOST_STATE_DIR=state"); c.StateDir != here+"/state" {
		t.Errorf("variable: %s", c.StateDir)
	}
}

func TestDoubtfulValuesAreWarnedOf(t *testing.T) {
	t.Parallel()
	_, warnings, err := load(t, "testdata/doubts.yaml", nil, "SET_KEY=k", "ONE=0123456789abcdef1", "TWO=0123456789abcdef2", "FOUR=0123456789abcdef4")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/doubts.txt", strings.Join(warnings, "\n")+"\n")
}
