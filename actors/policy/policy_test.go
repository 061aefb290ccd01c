package policy

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

var table = Table{
	Operations: []string{
		"agents.sessions.create", "agents.sessions.get", "agents.sessions.send_event", "agents.sessions.list_items", "agents.definitions.create",
		"agents.runtimes.install", "agents.models.list", "responses.create", "responses.get", "conversations.create", "server.list_capabilities",
	},
	Adapters: []string{"codex", "claude-code", "aider"},
}

func compiled(t testing.TB, text string) *Policy {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(d, table)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, op string
		want        bool
	}{
		{"*", "agents.sessions.create", true},
		{"**", "a", true},
		{"agents.**", "agents.sessions.create", true},
		{"agents.**", "agents", false},
		{"agents.codex.**", "agents.codex.sessions.create", true},
		{"agents.codex.**", "agents.codexx.sessions.create", false},
		{"agents.*.install", "agents.codex.install", true},
		{"agents.*.install", "agents.codex.sessions.create", false},
		{"agents.*.sessions.*", "agents.sessions.create", false},
		{"agents.sessions.list_*", "agents.sessions.list_items", true},
		{"agents.sessions.list_*", "agents.sessions.list", false},
		{"agents.sessions.create", "agents.sessions.create", true},
		{"agents.sessions.create", "agents.sessions.create_x", false},
		{"agents.sessions", "agents.sessions.create", false},
		{"*.create", "responses.create", true},
		{"*.create", "agents.sessions.create", false},
		{"a.*b*c", "a.xbyc", true},
		{"a.*b*c", "a.xcyb", false},
	} {
		if got := Matches(c.pattern, c.op); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.op, got)
		}
	}
	for p, want := range map[string]bool{"": false, "a..b": false, "a.**.b": false, "**.a": false, "a.**": true, "A.b": false, "a b": false, "***": false, "a.b**": false, "a.": false} {
		if ValidPattern(p) != want {
			t.Errorf("%q", p)
		}
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	p := compiled(t, `[
		{"id":"use","allow":["agents.sessions.**","responses.**","agents.codex.**"],"principals":["role:dev"],"limits":{"requests_per_minute":600,"concurrency":4}},
		{"allow":"**","principals":"role:admin"},
		{"allow":["agents.sessions.get"],"principals":["eve"]},
		{"deny":["agents.*.install","responses.get"],"principals":["app","role:dev"]}
	]`)
	for _, c := range []struct {
		id, role, op, by string
		want             bool
	}{
		{"app", "dev", "responses.create", "use", true},
		{"app", "dev", "responses.get", "policy[3]", false},
		{"app", "dev", "agents.codex.sessions.create", "use", true},
		{"app", "dev", "agents.codex.install", "policy[3]", false},
		{"app", "dev", "agents.aider.sessions.create", "", false},
		{"app", "dev", "agents.definitions.create", "", false},
		{"root", "admin", "agents.codex.install", "policy[1]", true},
		{"eve", "", "agents.sessions.get", "policy[2]", true},
		{"eve", "", "agents.sessions.create", "", false},
		{"nobody", "", "agents.sessions.get", "", false},
		{"nobody", "", "server.list_capabilities", "built-in", true},
		{"root", "admin", "no.such.operation", "policy[1]", true},
		{"eve", "", "no.such.operation", "", false},
	} {
		s := p.For(c.id, c.role)
		d := s.Decide(c.op)
		if d.Allowed != c.want || d.By != c.by {
			t.Errorf("%s (%s) %s: %v by %q", c.id, c.role, c.op, d.Allowed, d.By)
		}
		err := d.Err()
		f, ok := event.AsFailure(err)
		if (err == nil) != c.want || err != nil && (!ok || f.Code != event.PermissionDenied || f.Param != c.op || !strings.Contains(f.Message, c.op)) {
			t.Errorf("%s %s: %v", c.id, c.op, err)
		}
	}
	app := p.For("app", "dev")
	if d := app.Decide("responses.create"); len(d.Rates) != 1 || d.Rates[0].PerMinute != 600 || app.Concurrency != 4 {
		t.Errorf("%+v, %d at once", d.Rates, app.Concurrency)
	}
	if !app.Uses("codex") || app.Uses("aider") || app.Adapter("codex").Decide(Install).Allowed || app.Adapter("what").Decide(Start).Allowed {
		t.Error("adapters")
	}
	if root := p.For("root", "admin"); !root.Adapter("new").Decide(Feed).Allowed {
		t.Error("an adapter that nobody knew at load")
	}
}

func TestWithoutAPolicy(t *testing.T) {
	t.Parallel()
	var none *Subject
	if !none.Decide("x").Allowed || none.Decide("x").Err() != nil || !none.Uses("codex") || none.Adapter("x").Bounds != nil {
		t.Error("no subject may everything")
	}
	p, err := Compile(nil, table)
	if err != nil || p.Configured {
		t.Fatal(err)
	}
	for role, want := range map[string]bool{"admin": true, "dev": true, "observer": false, "": false} {
		if p.For("x", role).Decide("responses.create").Allowed != want {
			t.Errorf("role %q", role)
		}
	}
	var r *Roster
	if r.Of("x") != nil || r.Configured() || r.Peers("x") != nil || new(Roster).Of("x") != nil {
		t.Error("no roster")
	}
}

func TestScopesJoin(t *testing.T) {
	t.Parallel()
	s := compiled(t, `[
		{"allow":"responses.**","principals":"*","scope":{"workdir":["/w","/v"],"permissions":"workspace_write","models":["gpt-*","o3"],"timeout":"15m","max_turns":20,"mcp":["*.example.com"]}},
		{"allow":"agents.codex.**","principals":"*","scope":{"workdir":"/w/a","permissions":"ask","models":["*-codex","o3"],"timeout":"1h","max_output":4096,"env":["LOG_*"],"commands":["aider","/opt/x"],"llm_hosts":["llm.example"],"unconfined_ok":false}},
		{"allow":"agents.definitions.create","principals":"*","scope":{"models":["never"]}}
	]`).For("x")
	if b := s.Decide("agents.definitions.create").Bounds; b.Model("model", "never") != nil || b.Model("model", "o3") == nil {
		t.Error("a decision has the bounds of its own statements")
	}
	b := s.Adapter("codex").Bounds
	if s.Decide("agents.codex.install").Bounds.Workspace("d", "/v") == nil || s.Decide("responses.create").Bounds.Workspace("d", "/v") != nil {
		t.Error("each decision has its own")
	}
	for dir, want := range map[string]bool{"/w/a": true, "/w/a/b": true, "/w/ab": false, "/w": false, "/v": false, "/": false} {
		if (b.Workspace("d", dir) == nil) != want {
			t.Errorf("workspace %s", dir)
		}
	}
	for model, want := range map[string]bool{"gpt-5-codex": true, "o3": true, "gpt-5": false, "": false, "x-codex": false} {
		if (b.Model("model", model) == nil) != want {
			t.Errorf("model %q", model)
		}
	}
	for p, want := range map[spec.Permissions]bool{spec.ReadOnly: true, spec.Ask: false, spec.WorkspaceWrite: false, spec.FullAccess: false} {
		if (b.Permissions("permissions", p) == nil) != want || b.Ceiling(p) != spec.ReadOnly {
			t.Errorf("permissions %s: %v, %s", p, b.Permissions("permissions", p), b.Ceiling(p))
		}
	}
	if l := b.Limits(spec.Limits{TurnTimeout: time.Hour, MaxTurns: 3}); l.TurnTimeout != 15*time.Minute || l.MaxTurns != 3 || l.OutputBytes != 4096 {
		t.Errorf("%+v", l)
	}
	if b.Env("e", "LOG_LEVEL") != nil || b.Env("e", "PATH") == nil {
		t.Error("env")
	}
	if b.Command("/usr/bin/aider") != nil || b.Command("/opt/x") != nil || b.Command("/usr/bin/x") == nil {
		t.Error("commands")
	}
	if b.LLMHost("base_url", "llm.example") != nil || b.LLMHost("base_url", "evil.example") == nil || (*Bounds)(nil).LLMHost("base_url", "llm.example") == nil {
		t.Error("providers")
	}
	if lists, has := b.MCP(); !has || len(lists) != 1 {
		t.Error("mcp")
	}
	if b.Unconfined("claude-code", spec.WorkspaceWrite) == nil || (*Bounds)(nil).Unconfined("x", spec.FullAccess) != nil {
		t.Error("unconfined")
	}
	for _, err := range []error{b.Workspace("f", "/x"), b.Model("f", "x"), b.Permissions("f", spec.FullAccess), b.Env("f", "X"), b.LLMHost("f", "x")} {
		if f, ok := event.AsFailure(err); !ok || f.Code != event.PermissionDenied || f.Param != "f" || !strings.Contains(f.Message, "scope.") {
			t.Errorf("%v", err)
		}
	}
	var full Bounds
	full.ceilings = []spec.Permissions{spec.WorkspaceWrite}
	if full.Ceiling(spec.FullAccess) != spec.WorkspaceWrite || full.Ceiling(spec.Ask) != spec.ReadOnly || full.Ceiling(spec.WorkspaceWrite) != spec.WorkspaceWrite {
		t.Error("ceiling")
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	p := compiled(t, `[
		{"allow":"agents.sessions.*","principals":["a","b"],"scope":{"share_sessions":"team"}},
		{"allow":"agents.sessions.*","principals":["c","d"],"scope":{"share_sessions":"other"}},
		{"allow":"agents.sessions.*","principals":["e"]}
	]`)
	r := NewRoster(p, []Principal{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}, {ID: "e"}})
	for id, want := range map[string][]string{"a": {"b"}, "b": {"a"}, "c": {"d"}, "e": nil, "x": nil} {
		if got := r.Peers(id); !slices.Equal(got, want) {
			t.Errorf("%s shares with %v", id, got)
		}
	}
	if !r.Configured() || !r.Of("a").Decide("agents.sessions.get").Allowed || r.Of("x").Decide("agents.sessions.get").Allowed {
		t.Error("roster")
	}
	r.Replace(nil, nil)
	if r.Configured() || r.Of("a") != nil {
		t.Error("replaced")
	}
}

func TestParseNamesThePlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:   "policy: is no list of statements in JSON",
		`[] x`: "policy: goes on behind",
		`[{"allow":["a.b"],"principals":["x"],"extra":1}]`:                                             "policy[0].extra: unknown key",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"workdirs":"/x"}}]`:                             "policy[0].scope.workdirs: unknown key",
		`[{"allow":["a.b"],"deny":["a.c"],"principals":["x"]}]`:                                        "policy[0]: both allows and denies",
		`[{"principals":["x"]}]`:                                                                       "policy[0]: neither",
		`[{"allow":["a..b"],"principals":["x"]}]`:                                                      `policy[0].allow[0]: "a..b" is no pattern`,
		`[{"allow":["a.b"]}]`:                                                                          "policy[0].principals: names nobody",
		`[{"allow":["a.b"],"principals":["role:"]}]`:                                                   `policy[0].principals[0]: "role:" names no principal`,
		`[{"deny":["a.b"],"principals":["x"],"scope":{"models":[]}}]`:                                  "policy[0].scope: stands in a statement that denies",
		`[{"deny":["a.b"],"principals":["x"],"limits":{"concurrency":1}}]`:                             "policy[0].limits: stands",
		`[{"allow":["a.b"],"principals":["x"],"limits":{"concurrency":-1}}]`:                           "policy[0].limits.concurrency",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"workdir":["/a","b"]}}]`:                        "policy[0].scope.workdir[1]",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"workdir":"/a/../b"}}]`:                         "policy[0].scope.workdir[0]",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"permissions":"root"}}]`:                        "policy[0].scope.permissions",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"timeout":"soon"}}]`:                            "policy[0].scope.timeout",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"timeout":"-1s"}}]`:                             "policy[0].scope.timeout",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"mcp":["https://x"]}}]`:                         "policy[0].scope.mcp[0]",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"max_turns":"x"}}]`:                             "policy[0].scope.max_turns",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"unconfined_ok":"x"}}]`:                         "policy[0].scope.unconfined_ok",
		`[{"allow":["a.b"],"principals":["x"],"scope":{"models":[null]}}]`:                             "policy[0].scope.models[0]",
		`[{"allow":["a.b"],"principals":[7]}]`:                                                         "policy[0].principals",
		`[{"id":"x","allow":["a.b"],"principals":["x"]},{"id":"x","deny":["a.b"],"principals":["x"]}]`: "policy[1].id",
		`[7]`: "policy[0]: is no object",
	} {
		d, err := Parse([]byte(text))
		if err == nil || d != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n%v", text, err)
		}
	}
	for _, name := range Presets() {
		d, ok := Preset(name)
		if !ok || d.Validate() != nil {
			t.Errorf("preset %s: %v", name, d.Validate())
		}
	}
	if _, ok := Preset("none"); ok {
		t.Error("no such preset")
	}
}

func TestPresets(t *testing.T) {
	t.Parallel()
	type who struct{ id, role string }
	for name, may := range map[string]map[who]map[string]bool{
		"single-user": {{"x", ""}: {"agents.codex.install": true, "responses.create": true}},
		"locked":      {{"x", "admin"}: {"responses.get": false, "server.list_capabilities": true}},
		"observer": {
			{"x", ""}:      {"responses.create": false, "responses.get": true, "agents.sessions.list_items": true, "agents.codex.sessions.create": false, "agents.sessions.create": false},
			{"r", "admin"}: {"responses.create": true},
		},
		"agent-host": {
			{"x", ""}:         {"responses.get": false},
			{"x", "observer"}: {"responses.get": true, "responses.create": false, "agents.aider.install": false},
			{"x", "dev"}:      {"responses.create": true, "agents.sessions.send_event": true, "agents.codex.sessions.create": true, "agents.codex.install": false, "agents.runtimes.install": false},
			{"r", "admin"}:    {"agents.codex.install": true, "agents.runtimes.install": true},
		},
	} {
		d, _ := Preset(name)
		p, err := Compile(d, table)
		if err != nil {
			t.Fatal(err)
		}
		for w, ops := range may {
			for op, want := range ops {
				if p.For(w.id, w.role).Decide(op).Allowed != want {
					t.Errorf("%s: %+v %s is not %v", name, w, op, want)
				}
			}
		}
	}
}

// random makes a document of few words, so that its statements meet.
func random(r *rand.Rand) *Document {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	some := func(n int, list ...string) (out []string) {
		for range 1 + r.IntN(n) {
			out = append(out, pick(list...))
		}
		return out
	}
	d := &Document{}
	for range r.IntN(6) {
		ops := some(3, "**", "agents.**", "agents.sessions.*", "agents.codex.**", "agents.*.install", "agents.*.sessions.*", "responses.create", "responses.**", "*.create", "agents.sessions.list_*", "server.**")
		s := Statement{Principals: some(2, "*", "a", "b", "role:dev", "role:admin")}
		if r.IntN(3) == 0 {
			s.Deny = ops
			d.Statements = append(d.Statements, s)
			continue
		}
		s.Allow = ops
		if r.IntN(2) == 0 {
			s.Scope.Workdir = some(2, "/", "/w", "/w/a", "/v")
		}
		if r.IntN(2) == 0 {
			s.Scope.Models = append([]string{}, some(2, "m*", "m1", "m2", "*2")[r.IntN(2):]...)
		}
		if r.IntN(2) == 0 {
			s.Scope.Permissions = spec.Permissions(pick("read_only", "workspace_write", "full_access", "ask"))
		}
		if r.IntN(2) == 0 {
			s.Scope.MaxTurns, s.Scope.Timeout = r.IntN(3), time.Duration(r.IntN(3))
		}
		d.Statements = append(d.Statements, s)
	}
	return d
}

// agrees compares the compiled form with the reference.
func agrees(t *testing.T, d *Document, p *Policy, id string, roles []string, ops []string) {
	t.Helper()
	s, ref := p.For(id, roles...), &reference{d.Statements, id, roles}
	for _, op := range ops {
		got := s.Decide(op)
		if want := ref.allows(op); got.Allowed != want {
			t.Fatalf("%s (%v) %s: %v, not %v\n%v", id, roles, op, got.Allowed, want, d.Statements)
		}
		if !got.Allowed {
			continue
		}
		for _, dir := range []string{"/", "/w", "/w/a", "/w/ab", "/v/x"} {
			if got, want := got.Bounds.Workspace("", dir) == nil, ref.workspace(op, dir); got != want {
				t.Fatalf("%s %s in %s: %v\n%v", id, op, dir, got, d.Statements)
			}
		}
		for _, m := range []string{"", "m1", "m2", "x2"} {
			if got, want := got.Bounds.Model("", m) == nil, ref.model(op, m); got != want {
				t.Fatalf("%s %s with %q: %v\n%v", id, op, m, got, d.Statements)
			}
		}
		for _, m := range []spec.Permissions{spec.ReadOnly, spec.Ask, spec.WorkspaceWrite, spec.FullAccess} {
			if got, want := got.Bounds.Permissions("", m) == nil, ref.permissions(op, m); got != want {
				t.Fatalf("%s %s with %s: %v\n%v", id, op, m, got, d.Statements)
			}
			if c := got.Bounds.Ceiling(m); !ref.permissions(op, c) {
				t.Fatalf("%s %s: the ceiling of %s is %s\n%v", id, op, m, c, d.Statements)
			}
		}
		l := got.Bounds.Limits(spec.Limits{})
		if int64(l.MaxTurns) != ref.least(op, func(s *Scope) int64 { return int64(s.MaxTurns) }) || int64(l.TurnTimeout) != ref.least(op, func(s *Scope) int64 { return int64(s.Timeout) }) {
			t.Fatalf("%s %s: %+v\n%v", id, op, l, d.Statements)
		}
	}
}

func TestAgainstTheReference(t *testing.T) {
	t.Parallel()
	ops := append(table.All(), "agents.new.install", "x.create", "x")
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 8))
		d := random(r)
		p, err := Compile(d, table)
		if err != nil {
			t.Fatal(err)
		}
		for _, who := range []Principal{{ID: "a"}, {ID: "b", Roles: []string{"dev"}}, {ID: "c", Roles: []string{"admin", "dev"}}} {
			agrees(t, d, p, who.ID, who.Roles, ops)
		}
	}
}

// TestProperties: a deny takes what it matches from whatever document it is put
// into and gives nothing; the order means nothing; an allow takes nothing away of
// what is allowed; a scope never widens.
func TestProperties(t *testing.T) {
	t.Parallel()
	ops := table.All()
	decisions := func(d *Document) (out []Decision) {
		p, err := Compile(d, table)
		if err != nil {
			t.Fatal(err)
		}
		s := p.For("a", "dev")
		for _, op := range ops {
			out = append(out, *s.Decide(op))
		}
		return out
	}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		d := random(r)
		before := decisions(d)

		shuffled := &Document{Statements: slices.Clone(d.Statements)}
		r.Shuffle(len(shuffled.Statements), func(i, j int) {
			shuffled.Statements[i], shuffled.Statements[j] = shuffled.Statements[j], shuffled.Statements[i]
		})
		deny := Statement{Deny: []string{"agents.codex.**"}, Principals: []string{"a"}}
		allow := Statement{Allow: []string{"responses.**"}, Principals: []string{"*"}, Scope: Scope{Models: []string{"m1"}}}
		with := func(s Statement) *Document {
			return &Document{Statements: slices.Insert(slices.Clone(d.Statements), r.IntN(len(d.Statements)+1), s)}
		}
		for i, after := range decisions(shuffled) {
			if after.Allowed != before[i].Allowed {
				t.Fatalf("seed %d: %s depends on the order", seed, ops[i])
			}
			for _, m := range []string{"", "m1", "m2"} {
				if (after.Bounds.Model("", m) == nil) != (before[i].Bounds.Model("", m) == nil) {
					t.Fatalf("seed %d: the models of %s depend on the order", seed, ops[i])
				}
			}
		}
		for i, after := range decisions(with(deny)) {
			if want := before[i].Allowed && !Matches("agents.codex.**", ops[i]); after.Allowed != want {
				t.Fatalf("seed %d: a deny made %s %v", seed, ops[i], after.Allowed)
			}
		}
		for i, after := range decisions(with(allow)) {
			if before[i].Allowed && !after.Allowed {
				t.Fatalf("seed %d: an allow took %s away", seed, ops[i])
			}
			if before[i].Allowed && before[i].Bounds.Model("", "m2") != nil && after.Bounds.Model("", "m2") == nil {
				t.Fatalf("seed %d: an allow widened the models of %s", seed, ops[i])
			}
		}
	}
}

func TestDocumentsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		d := random(rand.New(rand.NewPCG(seed, 10)))
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(text)
		if err != nil || len(d.Statements) > 0 && !reflect.DeepEqual(back, d) {
			t.Fatalf("%s: %v\n%+v\n%+v", text, err, d, back)
		}
	}
}

func TestADecisionAllocatesNothing(t *testing.T) { // alone: it counts allocations
	s := compiled(t, `[{"allow":["agents.**"],"principals":["role:dev"],"scope":{"models":["m*"]}},{"deny":["agents.*.install"],"principals":["*"]}]`).For("a", "dev")
	var seen *Decision
	if n := testing.AllocsPerRun(100, func() {
		seen = s.Decide("agents.sessions.create")
		g := s.Adapter("codex")
		seen = g.Decide(Start)
		_ = seen.Err()
		_ = s.Decide("responses.create").Err() // a refusal
		_ = g.Bounds.Model("model", "m1")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`[{"allow":["agents.**"],"principals":["role:dev"],"scope":{"models":["m*"],"workdir":"/w","permissions":"ask"}},{"deny":["agents.*.install"],"principals":["*"]}]`), "a", "dev", "agents.codex.install")
	f.Add([]byte(`[{"allow":"*","principals":"*","limits":{"concurrency":1}}]`), "", "", "")
	for _, name := range Presets() {
		d, _ := Preset(name)
		text, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "x", "observer", "agents.sessions.list_items")
	}
	f.Fuzz(func(t *testing.T, text []byte, id, role, op string) {
		d, err := Parse(text)
		if err != nil {
			if d != nil || err.Error() == "" {
				t.Fatal("an error with a document, or without a text")
			}
			return
		}
		again, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse(again); err != nil || len(back.Statements) != len(d.Statements) {
			t.Fatalf("%s does not come back: %v", again, err)
		}
		p, err := Compile(d, Table{Operations: []string{op, "responses.create"}, Adapters: []string{"codex"}})
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, d, p, id, []string{role}, []string{op, "responses.create", "agents.codex.sessions.create", op + ".x"})
	})
}
