package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/spec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var environ = []string{"HOME=/home/u", "APP_API_KEY=0123456789abcdef", "APP_API_KEY_TOO=0123456789abcdef", "SHORT_TOKEN=short",
	"MY_NPM=npm-secret", "DOCS_TOKEN=docs-secret"}

var aliases = map[string]string{"claude": "claude-code", "openai-codex": "codex"}

func load(t *testing.T, file string, flags map[string]string, env ...string) (*Config, []string, error) {
	t.Helper()
	if file == "" {
		file = "example.yaml"
	}
	return Load(Source{File: file, Environ: append(environ[:len(environ):len(environ)], env...), Flags: flags, Home: "/home/u", Aliases: aliases, Operations: operations})
}

var operations = []Operation{
	{"agents.sessions.create", "agents_sessions_create"}, {"agents.sessions.list", "agents_sessions_list"}, {"agents.vaults.create", "agents_vaults_create"},
	{"responses.create", "agents_responses_create"}, {"conversations.create", ""}, {"agents.runtimes.install", ""},
}

// good loads what must have no problem.
func good(t *testing.T, file string, flags map[string]string, env ...string) *Config {
	t.Helper()
	c, _, err := load(t, file, flags, env...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultFileSaysWhatTheProgramDoes(t *testing.T) {
	t.Parallel()
	c, warnings, err := load(t, "example.yaml", nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := Default("/home/u", false)
	want.File = "example.yaml"
	// An empty list in the file and none at all are the same.
	c.Auth.Tokens, c.Definitions, c.Policy.Statements = nil, nil, nil
	c.Web, c.Agents.Runtimes["codex"].Isolation = Web{}, Isolation{Level: "auto", Required: "none"}
	c.Agents.Runtimes["codex"].PassthroughEnv, c.Agents.Runtimes["codex"].ExtraArgs = nil, nil
	if !reflect.DeepEqual(c, want) {
		t.Fatalf("got  %+v\nwant %+v", c, want)
	}
}

// keys lists every key below a type, with * for names of one's own.
func keys(t reflect.Type, path string, out map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer:
		keys(t.Elem(), path, out)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			keys(t.Elem(), path+"[0]", out)
		} else {
			out[path] = true
		}
	case reflect.Struct:
		for i := range t.NumField() {
			switch key := t.Field(i).Tag.Get("yaml"); key {
			case "-", "":
			case ",rest":
				keys(t.Field(i).Type.Elem(), path+".codex", out)
			default:
				keys(t.Field(i).Type, join(path, key), out)
			}
		}
	default:
		out[path] = true
	}
}

func TestEveryKeyIsReadFromTheFile(t *testing.T) {
	t.Parallel()
	l := &loader{src: Source{Home: "/home/u"}, cfg: Default("/home/u", false), origins: map[string]origin{}, env: map[string]string{}}
	data, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		l.env[name] = value
	}
	l.decode("full.yaml", data, structOf(l.cfg))
	if len(l.problems) > 0 {
		t.Fatal(l.problems)
	}
	all := map[string]bool{}
	keys(reflect.TypeFor[Config](), "", all)
	if len(all) < 80 {
		t.Fatalf("only %d keys found", len(all))
	}
	for key := range all {
		if strings.HasPrefix(key, "definitions[0].workspace.git") {
			continue // refused as a whole, see bad/not_built
		}
		at := key
		for _, k := range []string{"adapter", "command", "prompt", "output", "jsonl", "resume", "exit", "llm_env"} {
			if strings.HasPrefix(key, "agents.codex."+k) {
				at = strings.Replace(key, "codex", "aider", 1)
			}
		}
		if strings.HasSuffix(key, ".resume.argv") || strings.Contains(key, ".exit.success") {
			at = strings.Replace(at, "aider", "other", 1) // not together with resume.args and done_path
		}
		for _, k := range []string{"modes", "auth_method"} {
			if strings.HasPrefix(key, "agents.codex."+k) {
				at = strings.Replace(key, "codex", "someagent", 1)
			}
		}
		at = strings.Replace(at, "tokens[0].token_file", "tokens[1].token_file", 1) // not together with token_env
		at = strings.Replace(at, ".mcp_servers", ".mcp_servers.docs", 1)
		if _, ok := l.origins[at]; !ok {
			t.Errorf("full.yaml does not set %s", at)
		}
	}
}

func TestFullFile(t *testing.T) {
	t.Parallel()
	c := good(t, "testdata/full.yaml", nil)
	l := c.Limits
	if c.Listen != "0.0.0.0:9100" || c.ToolsDir != "/home/u/tools" || len(c.Groups) != 0 || c.Log.Format != "json" || c.Log.Level != "debug" {
		t.Errorf("top: %+v", c)
	}
	want := Limits{7, 3, 4, 500, 60, 8, 9, 64, 10, 720 * time.Hour, time.Second, 2 * time.Minute, 3 * time.Second, 10 * time.Minute, 4 * time.Millisecond, 5 * time.Minute,
		6 * time.Second, 7 * time.Second, 1 << 20, 65536, 2 << 30, 8 << 10, 5000, 11, 64 << 10, 77, 3 << 20, 30 << 20, 78, 4 << 20, 40 << 20, 79, 5 << 20, 128 << 10, 0, 0, 6 << 20, 1 << 40, 0,
		100, 0.25, 200, 0.5, 300, 1.5, 400, 2.75, 500, 600 << 20, 700, 800 << 20, 900, 5 * time.Second, 20, 256 << 20, 3, 100, 6000}
	if l != want {
		t.Errorf("limits\n got %+v\nwant %+v", l, want)
	}
	if tok := c.Auth.Tokens[0]; tok.ID != "app" || tok.Value != "0123456789abcdef" || tok.Roles[0] != "dev" || tok.Weight != 2 || tok.Concurrency != 4 || tok.RequestsPerMinute != 600 {
		t.Errorf("token: %+v", tok)
	}
	x := c.Agents.Runtimes["codex"]
	if x.Binary != "/opt/codex" || x.Home != "private" || !x.Sandboxed || !x.PermissionsStrict || x.LLM.APIKeyEnv != "MY_KEY" || x.PassthroughEnv[0] != "MY_FLAG" || x.ExtraArgs[1] != "never" {
		t.Errorf("codex: %+v", x)
	}
	if i := x.Isolation; i.Level != "landlock" || i.Required != "cgroup" || !slices.Equal(i.Read, []string{"/srv/models"}) || !slices.Equal(i.Write, []string{"/srv/cache"}) || !slices.Equal(i.Ports, []int{5432}) {
		t.Errorf("isolation: %+v", i)
	}
	if c.TLSCert != "/etc/agenthost/cert.pem" || c.TLSKey != "/etc/agenthost/key.pem" || c.Web.Hosts[0] != "agents.example.com" || c.Web.Origins[0] != "https://console.example.com" {
		t.Errorf("web: %+v", c)
	}
	if k := c.Agents.Runtimes["claude-code"]; k.Binary != "claude" || k.Home != "inherit" || k.Driver != "auto" {
		t.Errorf("claude-code: %+v", k)
	}
	if a := c.Agents.Runtimes["aider"]; c.Agents.Default != "aider" || a.JSONL.DonePath != ".done" || a.Command[3] != "{prompt}" || a.LLMEnv.Model != "AIDER_MODEL" || a.Resume.Args[0] != "--restore" ||
		a.Binary != "/opt/aider/bin/aider" || a.Exit.Failures["75"] != "rate_limited" {
		t.Errorf("aider: %+v", a)
	}
	if o := c.Agents.Runtimes["other"]; o.Resume.Argv[1] != "--again" || !slices.Equal(o.Exit.Success, []int{0, 3}) {
		t.Errorf("other: %+v", o)
	}
	if c.Environments.Hosted != "off" || c.Environments.Workspace != "/work space" {
		t.Errorf("environments: %+v", c.Environments)
	}
	agents := c.SavedAgents()
	if len(agents) != 1 {
		t.Fatalf("%d agents", len(agents))
	}
	a := agents[0]
	if a.Adapter != "claude-code" || a.Instructions != "You are a careful reviewer." || a.SecretEnv["NPM_TOKEN"] != "MY_NPM" ||
		a.MCP["docs"].Headers["Authorization"] != "Bearer ${DOCS_TOKEN}" || a.Permissions != spec.ReadOnly || a.Limits.MaxUSD != 5.5 ||
		a.Limits.MaxTokens != 11 || a.Limits.SessionTokens != 12 || a.Limits.SessionUSD != 13.5 || a.Limits.TurnTimeout != 15*time.Minute {
		t.Errorf("agent: %+v", a)
	}
	if l := a.Limits; l.OutputBytes != 14<<20 || l.CPU != 15*time.Second || l.MemoryBytes != 16<<20 || l.Processes != 17 || l.FileBytes != 18<<20 || l.OpenFiles != 19 || l.Concurrency != 20 || l.TurnsPerMinute != 21 {
		t.Errorf("limits of the machine: %+v", l)
	}
}

func TestProblemsNameLineKeyValueAndRemedy(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			_, _, err := load(t, file, nil)
			if err == nil {
				t.Fatal("accepted")
			}
			got := strings.ReplaceAll(err.Error(), "testdata/bad/", "") + "\n"
			golden(t, strings.TrimSuffix(file, ".yaml")+".txt", got)
			for _, secret := range []string{"literal-secret", "sk-", "0123456789abcdef", "docs-secret"} {
				if strings.Contains(got, secret) {
					t.Errorf("a message shows a secret: %s", got)
				}
			}
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", file, got, want)
	}
}
