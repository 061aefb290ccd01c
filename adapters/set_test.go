package adapters_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/adapters/command"
)

func declared(t *testing.T, name string, aliases ...string) *command.Adapter {
	t.Helper()
	a, err := command.New(name, command.Config{Command: []string{"x"}, Aliases: aliases})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSetFindsByNameAndAlias(t *testing.T) {
	t.Parallel()
	s, err := adapters.NewSet(&codex.Adapter{}, &claudecode.Adapter{}, declared(t, "aider"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Names(); !slices.Equal(got, []string{"codex", "claude-code", "aider"}) {
		t.Errorf("names %q", got)
	}
	for name, want := range map[string]string{"codex": "codex", "claude": "claude-code", "claude_code": "claude-code", "claudecode": "claude-code", "aider": "aider"} {
		if a, ok := s.Get(name); !ok || a.Name() != want {
			t.Errorf("%s is %v, want %s", name, a, want)
		}
	}
	if _, ok := s.Get("Codex"); ok {
		t.Error("names are exact")
	}
	if len(s.List()) != 3 {
		t.Errorf("list %v", s.List())
	}
}

func TestSetRefusesDoubleNames(t *testing.T) {
	t.Parallel()
	for _, list := range [][]agent.Adapter{
		{&codex.Adapter{}, &codex.Adapter{}},
		{&codex.Adapter{}, declared(t, "other", "codex")},
		{&claudecode.Adapter{}, declared(t, "claude")},
		{declared(t, "a", "b"), declared(t, "c", "b")},
	} {
		if _, err := adapters.NewSet(list...); !errors.Is(err, adapters.ErrDuplicate) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := adapters.NewSet(nil); err == nil {
		t.Error("nil was taken")
	}
}
