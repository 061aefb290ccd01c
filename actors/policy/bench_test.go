package policy

import (
	"os"
	"testing"
)

// manyOperations is about as much as a server has.
func manyOperations() Table {
	t := Table{Operations: []string{"agents.sessions.create"}, Adapters: []string{"codex", "claude-code", "qwen-code", "cursor", "opencode", "gemini"}}
	for _, noun := range []string{"sessions", "definitions", "environments", "templates", "vaults", "automations", "files", "webhooks", "models", "queue"} {
		for _, verb := range []string{"get", "list", "update", "delete", "list_items", "list_turns", "get_turn", "download"} {
			t.Operations = append(t.Operations, "agents."+noun+"."+verb)
		}
	}
	return t
}

func benchSubject(tb testing.TB) *Subject {
	d, err := Parse([]byte(`[{"allow":["agents.**","responses.**"],"principals":["role:dev"],"scope":{"models":["m*"]}},{"deny":["agents.*.install"],"principals":["*"]}]`))
	if err != nil {
		tb.Fatal(err)
	}
	p, err := Compile(d, manyOperations())
	if err != nil {
		tb.Fatal(err)
	}
	return p.For("a", "dev")
}

// both levels of the gate.
func bothLevels(s *Subject) bool {
	return s.Decide("agents.sessions.create").Allowed && s.Adapter("codex").Decide(Start).Allowed
}

func BenchmarkDecide(b *testing.B) {
	s := benchSubject(b)
	b.ReportAllocs()
	for b.Loop() {
		if !bothLevels(s) {
			b.Fatal("denied")
		}
	}
}

// BenchmarkMapLookup is what a decision is measured by: one look-up in a map of as
// many operations.
func BenchmarkMapLookup(b *testing.B) {
	s := benchSubject(b)
	m := make(map[string]*Decision, len(s.by))
	for k, v := range s.by {
		m[k] = v
	}
	for b.Loop() {
		if m["agents.sessions.create"] == nil {
			b.Fatal("not there")
		}
	}
}

// TestADecisionCostsTwoLookups compares the two benchmarks of one run. It measures,
// so it runs where nothing else does.
func TestADecisionCostsTwoLookups(t *testing.T) {
	if os.Getenv("AGENTHOST_CERTIFY") == "" {
		t.Skip("measures; AGENTHOST_CERTIFY=1 runs it")
	}
	best := 1e9
	for range 5 {
		look, decide := testing.Benchmark(BenchmarkMapLookup), testing.Benchmark(BenchmarkDecide)
		ratio := (float64(decide.T) / float64(decide.N)) / (float64(look.T) / float64(look.N))
		t.Logf("look-up %v, decision on both levels %v: %.2f", look, decide, ratio)
		best = min(best, ratio)
	}
	if best > 2 {
		t.Errorf("a decision takes %.2f times as long as a look-up", best)
	}
}
