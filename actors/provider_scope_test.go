package actors_test

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// elsewhere is a script that takes other providers, and says which it was given.
type elsewhere struct{ script }

func (e elsewhere) Capabilities() agent.Capabilities {
	c := e.script.Capabilities()
	c.BaseURL = true
	return c
}

func lettingHosts(t *testing.T, hosts ...string) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(&policy.Document{Statements: []policy.Statement{{
		ID: "all", Allow: []string{"**"}, Principals: []string{"*"}, Scope: policy.Scope{LLMHosts: hosts},
	}}}, policy.Table{Adapters: []string{"script"}})
	must(t, err)
	return p
}

// A provider that a caller named while its policy let it is not asked once it does not
// any more: a turn that waited fails, and no process is started for it. What others
// named, and what is configured, is not touched.
func TestNamedProviderIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	members := []policy.Principal{{ID: "alice", Roles: []string{"dev"}}}
	roster := policy.NewRoster(lettingHosts(t, "old.example", "new.example"), members)
	l := quick()
	l.MaxConcurrentTurns = 1
	a := elsewhere{script{invocation: func(r *agent.Request, inv *agent.Invocation) { inv.Env = append(inv.Env, "BASE="+r.LLM.BaseURL) }}}
	h := started(t, l, memory.New(), actors.WithPolicy(roster),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: a, LLM: agent.LLM{BaseURL: "https://own.example/v1"}}))
	const tells = `echo "base $BASE"; echo '#final'`
	begin := func(metadata map[string]string, base string) *actors.Posted {
		t.Helper()
		in := input(tells)
		if base != "" {
			in.Overrides = &spec.Overrides{BaseURL: &base}
		}
		p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Metadata: metadata, Input: in})
		must(t, err)
		return p
	}
	gate := gateIn(t)
	create(t, h, blocker(gate))
	eventually(t, "the place is taken", func() bool { return h.Stats().Running == 1 })
	own, kept := begin(nil, ""), begin(map[string]string{spec.ProviderKey: "https://old.example/v1"}, "https://new.example/v1")
	refused := []*actors.Posted{begin(map[string]string{spec.ProviderKey: "https://old.example/v1"}, ""), begin(nil, "https://old.example/v1")}
	roster.Replace(lettingHosts(t, "new.example"), members)
	openGate(t, gate)
	for p, want := range map[*actors.Posted]string{own: "base https://own.example/v1", kept: "base https://new.example/v1"} {
		if got := strings.TrimSpace(spoken(toTheEnd(t, h, p.Session.ID, p.Turns[0].ID))); got != want {
			t.Errorf("a turn said %q, want %q", got, want)
		}
	}
	for _, p := range refused {
		end := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID).End
		if end.Outcome != event.Failed || end.Failure.Code != event.PermissionDenied || !strings.Contains(end.Failure.Message, "old.example") {
			t.Errorf("a turn of a provider that is no longer allowed: %v %v", end.Outcome, end.Failure)
		}
	}
}

// An adapter whose CLI knows one provider refuses another by name.
func TestNamedProviderNeedsACLIThatTakesOne(t *testing.T) {
	t.Parallel()
	roster := policy.NewRoster(lettingHosts(t, "llm.example"), []policy.Principal{{ID: "alice", Roles: []string{"dev"}}})
	h := started(t, quick(), memory.New(), with(script{}), actors.WithPolicy(roster))
	_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
		Agent: spec.Agent{Adapter: "script"}, Metadata: map[string]string{spec.ProviderKey: "https://llm.example/v1"}, Input: input("true"),
	})
	if f, ok := event.AsFailure(err); !ok || f.Code != event.Unsupported || f.Param != "metadata."+spec.ProviderKey {
		t.Errorf("%v", err)
	}
}
