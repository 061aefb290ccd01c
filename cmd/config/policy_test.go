package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
)

// fileOf is a configuration file of text.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agenthost.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPolicyIsReadWhole(t *testing.T) {
	t.Parallel()
	d := good(t, "testdata/full.yaml", nil).PolicyDocument()
	no := false
	want := []policy.Statement{
		{ID: "one", Allow: []string{"agents.**"}, Deny: []string{}, Principals: []string{"app"}, Limits: policy.Limits{Concurrency: 22, RequestsPerMinute: 23},
			Scope: policy.Scope{
				Workdir: []string{"/w", "/v"}, Permissions: spec.ReadOnly, Commands: []string{"x"}, Models: []string{"m"}, MaxTurns: 24, Timeout: 25 * time.Minute,
				MaxOutput: 26 << 20, LLMHosts: []string{"a.b"}, MCP: []string{}, Env: []string{"A"}, ShareSessions: "g", UnconfinedOK: &no,
			}},
		{ID: "file[0]", Deny: []string{"agents.*.install"}, Principals: []string{"role:dev"}},
		{ID: "named", Allow: []string{"responses.create"}, Principals: []string{"app"}},
	}
	if !reflect.DeepEqual(d.Statements, want) {
		t.Errorf("got  %+v\nwant %+v", d.Statements, want)
	}
	if good(t, "example.yaml", nil).PolicyDocument() != nil {
		t.Error("no statements are no policy")
	}
}

func TestPolicyByPresetAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"policy: observer\n", "policy: {preset: observer}\n"} {
		d := good(t, fileOf(t, text), nil).PolicyDocument()
		if len(d.Statements) != 2 || d.Statements[1].ID != "observer:all" {
			t.Errorf("%s: %+v", text, d)
		}
	}
	if d := good(t, "example.yaml", map[string]string{"policy.preset": "locked"}).PolicyDocument(); d == nil || len(d.Statements) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestFaultsOfAPolicyFileNameIt(t *testing.T) {
	t.Parallel()
	file := fileOf(t, "policy: {file: more.yaml}\n")
	more := filepath.Join(filepath.Dir(file), "more.yaml")
	if err := os.WriteFile(more, []byte("- {allow: [responses.create], principals: [app]}\n- {allow: [respones.create], principals: [app]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := load(t, file, nil)
	if want := more + `:2: [1].allow[0]: "respones.create" matches no operation; did you mean "responses.create"?`; err == nil || err.Error() != want {
		t.Errorf("%v\nnot %s", err, want)
	}
}

func TestDoubtsAboutAPolicyAreWarnings(t *testing.T) {
	t.Parallel()
	file := fileOf(t, `
auth: {tokens: [{id: app, roles: [dev], token_env: APP_API_KEY}]}
policy:
  - {allow: ["responses.create", "conversations.**"], principals: ["role:boss"]}
`)
	_, warnings, err := load(t, file, nil)
	all := strings.Join(warnings, "\n")
	for _, want := range []string{`:4: policy[0].principals[0]: "role:boss" no token has this role`, `policy: "app" is named by no statement`} {
		if err != nil || !strings.Contains(all, want) {
			t.Errorf("%v\n%s\nnot %s", err, all, want)
		}
	}
}

const referenceDocument = `{"version":1,"groups":["agents","browser"],
	"auth":{"tokens":[{"id":"alice","scopes":["agents:use"],"token_env":"APP_API_KEY"},{"id":"bob","scopes":["*"],"token_sha256":"` +
	`AABBCCDDEEFF00112233445566778899aabbccddeeff00112233445566778899"},{"id":"carol","scopes":["agents:use","make:sessions"],"token_env":"CAROL"}]},
	"endpoints":{"agents_*":{"limits":{"rate_per_minute":600}},"agents_vaults_*":{"enabled":false},
	"agents_sessions_create":{"scopes":["agents:use","make:sessions"],"limits":{"rate_per_minute":6,"max_concurrency":2}},
	"group:agents":{"limits":{"rate_per_minute":1}}}}`

func TestReferencePolicy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(file, []byte(referenceDocument), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, env := range []string{"ABX_SERVER_POLICY=" + referenceDocument, "ABX_SERVER_POLICY_FILE=" + file} {
		c, warnings, err := load(t, "", nil, env, "CAROL=fedcba9876543210")
		if err != nil || !strings.Contains(strings.Join(warnings, "\n"), "the group browser is not served here") {
			t.Fatal(err, warnings)
		}
		if len(c.Auth.Tokens) != 3 || c.Auth.Tokens[0].Value != "0123456789abcdef" || c.Auth.Tokens[1].SHA256 != "aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899" {
			t.Fatalf("%+v", c.Auth.Tokens)
		}
		table := policy.Table{Adapters: c.AdapterNames()}
		for _, o := range operations {
			table.Operations = append(table.Operations, o.ID)
		}
		p, err := policy.Compile(c.PolicyDocument(), table)
		if err != nil {
			t.Fatal(err)
		}
		may := map[string]*policy.Subject{}
		for _, m := range c.Members() {
			may[m.ID] = p.For(m.ID, m.Roles...)
		}
		for _, want := range []struct {
			who, op string
			ok      bool
			rate    int
		}{
			{"alice", "agents.sessions.create", false, 0}, {"carol", "agents.sessions.create", true, 6}, {"bob", "agents.sessions.create", true, 6},
			{"alice", "agents.sessions.list", true, 600}, {"alice", "agents.vaults.create", false, 0}, {"bob", "agents.vaults.create", false, 0},
			{"alice", "conversations.create", true, 0}, {"alice", "agents.codex.sessions.create", true, 0}, {"alice", "responses.create", true, 600},
		} {
			d := may[want.who].Decide(want.op)
			rate := 0
			for _, r := range d.Rates {
				rate = r.PerMinute
			}
			if d.Allowed != want.ok || rate != want.rate {
				t.Errorf("%s %s: %v by %s, %d a minute", want.who, want.op, d.Allowed, d.By, rate)
			}
		}
	}
	c := good(t, "", nil, `ABX_SERVER_POLICY={"auth":{"tokens":[{"id":"a","scopes":["agents:use"],"token_env":"SHORT_TOKEN"}]}}`)
	if c.PolicyDocument() != nil || len(c.Auth.Tokens) != 1 || c.Auth.Tokens[0].Roles[0] != "dev" {
		t.Errorf("tokens alone are no policy: %+v", c)
	}
}

func TestReferencePolicyRefusesTheRestByName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"groupz":[]}`:                                         `variable ABX_SERVER_POLICY:1: groupz: unknown key; did you mean "groups"?`,
		`{"defaults":{"audit":"deny"}}`:                         `variable ABX_SERVER_POLICY:1: defaults: is not kept by this server; remove it`,
		`{"preset":"hardened"}`:                                 `preset: is not kept by this server`,
		`{"base_dir":"/home/user"}`:                             `base_dir: is not kept by this server`,
		`{"version":2}`:                                         `version: "2" is not known here`,
		`{"groups":["agent"]}`:                                  `groups[0]: "agent" is no group; did you mean "agents"?`,
		`{"endpoints":{"files_read":{}}}`:                       `endpoints.files_read: selects no route that is served here`,
		`{"endpoints":{"group:shell":{}}}`:                      `endpoints.group:shell: selects no route`,
		`{"endpoints":{"agents_*":{"paths":{"allow":["/x"]}}}}`: `endpoints.agents_*.paths: is not kept by this server`,
		`{"endpoints":{"agents_*":{"audit":"all"}}}`:            `endpoints.agents_*.audit: is not kept`,
		`{"auth":{"anonymous_scopes":["*"]}}`:                   `auth.anonymous_scopes: is not kept`,
		`{"auth":{"allow_anonymous":true,"tokens":[{"id":"a","token_env":"APP_API_KEY"}]}}`: `auth.allow_anonymous: "true" stands beside tokens`,
		`{"auth":{"tokens":[{"id":"a"}]}}`:                                                  `auth.tokens[0]: needs either token_env or token_sha256`,
		`{"auth":{"tokens":[{"id":"a","token_env":"NOT_SET"}]}}`:                            `auth.tokens[0].token_env: "NOT_SET" is not set`,
		`{"auth":{"tokens":[{"id":"a","token_sha256":"abc"}]}}`:                             `auth.tokens[0].token_sha256: is no SHA-256 digest`,
		`nonsense`: `variable ABX_SERVER_POLICY:1: "nonsense" is a text, not a map`,
	} {
		_, _, err := load(t, "", nil, "ABX_SERVER_POLICY="+text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v\nnot %s", text, err, want)
		}
	}
	_, _, err := load(t, fileOf(t, "policy: observer\n"), nil, "ABX_SERVER_POLICY="+referenceDocument)
	if err == nil || !strings.Contains(err.Error(), "stands beside the policy of ABX_SERVER_POLICY") {
		t.Error(err)
	}
	if _, _, err := load(t, "", nil, "ABX_SERVER_POLICY_FILE=/does/not/exist"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}
