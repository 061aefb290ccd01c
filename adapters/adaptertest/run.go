package adaptertest

import (
	"flag"
	"regexp"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Cases is what the suite must know about an adapter.
type Cases struct {
	// Dir holds recorded runs; "" for none.
	Dir string
	// Silent reports whether a line is documented to give no fact. nil: no line is,
	// but blank ones.
	Silent func(line []byte) bool
	// AnyText says that every line of output is part of the answer, so that there is
	// no noise.
	AnyText bool
	// Native is a valid session id of the CLI, for resumed turns.
	Native string
	// Facts is the column of the capability matrix that this adapter stands for; ""
	// for none.
	Facts string
}

const update = "update"

func init() {
	if flag.Lookup(update) == nil {
		flag.Bool(update, false, "rewrite golden files")
	}
}

func updating() bool {
	f := flag.Lookup(update)
	return f != nil && f.Value.String() == "true"
}

// Request is a request that every adapter runs: a first turn, permission
// workspace_write unless the adapter lacks it.
func Request(a agent.Adapter) *agent.Request {
	p := spec.WorkspaceWrite
	if offered := a.Capabilities().Permissions; len(offered) > 0 {
		p = offered[0]
		for _, o := range offered {
			if o == spec.WorkspaceWrite {
				p = o
			}
		}
	}
	return &agent.Request{
		Session: event.ID{1}, Turn: event.ID{2}, Prompt: "say hello", Permissions: p,
		Binary: a.Binary(), Workspace: "/workspace", Home: "/home/agent/state", Dir: "/run/turn",
	}
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Run runs the suite.
func Run(t *testing.T, a agent.Adapter, c Cases) {
	t.Helper()
	if c.Native == "" {
		c.Native = "01a00000-0000-7000-8000-000000000001"
	}
	t.Run("names", func(t *testing.T) {
		if !validName.MatchString(a.Name()) {
			t.Errorf("name %q does not match %s", a.Name(), validName)
		}
		if a.Binary() == "" {
			t.Error("no binary")
		}
		for _, alias := range a.Aliases() {
			if alias == "" || alias == a.Name() {
				t.Errorf("alias %q", alias)
			}
		}
	})
	s := suite{a: a, c: c}
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"permissions", s.permissions}, {"resume keeps permissions", s.resumePermissions}, {"secrets", s.secrets},
		{"prompts are no options", s.dashes}, {"words are no configuration", s.injection}, {"big texts", s.big}, {"odd texts", s.odd}, {"pure", s.pure}, {"features", s.features},
		{"transcripts", s.transcripts}, {"garbage", s.garbage}, {"no output", s.noOutput},
	} {
		t.Run(part.name, part.run)
	}
}

type suite struct {
	a agent.Adapter
	c Cases
}
