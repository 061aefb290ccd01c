package adapters_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters"
)

func TestFactsAreWholeAndWellFormed(t *testing.T) {
	t.Parallel()
	facts, err := adapters.Facts()
	if err != nil {
		t.Fatal(err)
	}
	words := []agent.Support{agent.Verified, agent.PassedThrough, agent.Refused, agent.Lacking}
	for adapter, k := range facts {
		for _, f := range adapters.Features {
			if !slices.Contains(words, k.Features[f].Is) {
				t.Errorf("%s: %s is %q", adapter, f, k.Features[f].Is)
			}
		}
	}
	if _, err := adapters.ReadFacts([]byte("{")); err == nil {
		t.Error("half a file was read")
	}
	declared := adapters.ProofOf("somebody-declared-this")
	if !maps.Equal(declared.Features, adapters.ProofOf(adapters.Declared).Features) || len(declared.Features) == 0 {
		t.Errorf("a declared adapter's features are %v", declared.Features)
	}
}
