package policy

import (
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	t.Parallel()
	who := []Principal{{ID: "app", Roles: []string{"dev"}}, {ID: "root", Roles: []string{"admin"}}, {ID: "idle", Roles: []string{"x"}}}
	const all = `{"allow":["**"],"principals":["root","idle"]}`
	for text, want := range map[string]string{
		`[` + all + `,{"allow":["agents.**","responses.**"],"principals":["app"]},{"deny":["agents.*.install"],"principals":["app","idle"]}]`: "",
		`[` + all + `,{"allow":["agents.sesions.*"],"principals":["app"]}]`:                                                                   `policy[1].allow[0]: "agents.sesions.*" matches no operation`,
		`[` + all + `,{"deny":["agents.claude.install"],"principals":["app"]}]`:                                                               `policy[1].deny[0]: "agents.claude.install" matches no operation`,
		`[` + all + `,{"allow":["responses.create","agents.codex.**"],"principals":["app","ap","role:boss"]}]`:                                "policy[1].principals[1]: \"ap\" no token has this id\npolicy[1].principals[2]: \"role:boss\" no token has this role",
		`[` + all + `]`: `policy: "app" is named by no statement`,
		`[` + all + `,{"allow":["responses.get"],"principals":["app"]},{"deny":["responses.**"],"principals":["*"]}]`:                           "policy[1]: never allows anything: policy[2] denies all of it",
		`[` + all + `,{"allow":["responses.get"],"principals":["root"]},{"allow":["responses.get"],"principals":["app"]}]`:                      "policy[1]: allows nothing that policy[0] does not",
		`[` + all + `,{"allow":["responses.get"],"principals":["app"]},{"allow":["responses.get"],"principals":["app"]}]`:                       "policy[2]: allows nothing that policy[1] does not",
		`[` + all + `,{"allow":["responses.get"],"principals":["app"]},{"allow":["responses.*"],"principals":["app"],"scope":{"max_turns":1}}]`: "policy[1]: does not lift the scope of policy[2]",
		`[` + all + `,{"allow":["responses.create"],"principals":["app"]}]`:                                                                     "may ask for turns but start no adapter",
		`[` + all + `,{"allow":["agents.codex.sessions.create"],"principals":["app"]}]`:                                                         "may start an adapter but ask for no turn",
		`[` + all + `,{"allow":["agents.**","responses.**"],"principals":["app"]}]`:                                                             `policy: "app" is no admin and may install`,
	} {
		d, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		found := d.Lint(table, who)
		if want == "" {
			if len(found) != 0 && !(len(found) == 1 && strings.Contains(found[0].String(), "idle")) {
				t.Errorf("%s\n%v", text, found)
			}
			continue
		}
		for _, line := range strings.Split(want, "\n") {
			if !strings.Contains(found.Error(), line) {
				t.Errorf("%s\n%v\nnot %s", text, found, line)
			}
		}
		for _, f := range found {
			if f.Doubt == (f.What == MatchesNothing) {
				t.Errorf("%v is a doubt: %v", f, f.Doubt)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	p := compiled(t, `[{"id":"use","allow":["responses.**"],"principals":["role:dev"],"scope":{"models":["m"]}},{"allow":["**"],"principals":["app"]},{"deny":["responses.get"],"principals":["*"]}]`)
	e := p.Explain("app", []string{"dev"}, "responses.create")
	if !e.Allowed || e.By != "use" || !strings.Contains(e.Statement, `"allow":["responses.**"]`) || strings.Join(e.Others, " ") != "policy[1]" || len(e.Scope) != 1 {
		t.Errorf("%+v", e)
	}
	e = p.Explain("app", []string{"dev"}, "responses.get")
	if e.Allowed || e.By != "policy[2]" || !strings.Contains(e.Statement, `"deny"`) || strings.Join(e.Others, " ") != "use policy[1]" || e.Scope != nil {
		t.Errorf("%+v", e)
	}
	if e = p.Explain("x", nil, "responses.create"); e.Allowed || e.By != "" || e.Statement != "" {
		t.Errorf("%+v", e)
	}
}
