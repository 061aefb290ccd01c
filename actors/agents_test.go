package actors_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

func saved(t *testing.T, h *actors.Host, owner, name string) *spec.Agent {
	t.Helper()
	a := &spec.Agent{ID: event.NewID(), Name: name, Adapter: "script", Model: "m"}
	must(t, h.SaveAgent(ctx(t), owner, a))
	return a
}

func TestSavedAgents(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New(), with(script{}), actors.WithAgents(spec.Agent{Name: "fixed", Adapter: "script"}))
	a := saved(t, h, "alice", "helper")
	if !a.Saved || a.Owner != "alice" {
		t.Errorf("saved: %+v", a)
	}
	a.Model = "n"
	must(t, h.SaveAgent(ctx(t), "alice", a))
	if back, err := h.Agent(ctx(t), "alice", a.ID); err != nil || back.Model != "n" {
		t.Errorf("read back: %+v, %v", back, err)
	}
	theft := *a
	for what, err := range map[string]error{
		"read":   second(h.Agent(ctx(t), "bob", a.ID)),
		"write":  h.SaveAgent(ctx(t), "bob", &theft),
		"delete": h.DeleteAgent(ctx(t), "bob", a.ID),
	} {
		if event.CodeOf(err) != event.AgentNotFound {
			t.Errorf("%s by another principal: %v", what, err)
		}
	}
	saved(t, h, "alice", "helper") // names may repeat
	if named, err := h.AgentsNamed(ctx(t), "alice", "helper"); err != nil || len(named) != 2 {
		t.Errorf("%d agents of the name, %v", len(named), err)
	}
	for name, code := range map[string]event.Code{
		"": "", strings.Repeat("n", 64): "", strings.Repeat("n", 65): event.InvalidRequest, "a b": event.InvalidRequest, "../x": event.InvalidRequest,
		"script": event.NameTaken, "sh-script": event.NameTaken,
	} {
		err := h.SaveAgent(ctx(t), "alice", &spec.Agent{ID: event.NewID(), Name: name, Adapter: "script"})
		if event.CodeOf(err) != code {
			t.Errorf("name %q: %v, want code %q", name, err, code)
		}
	}
	if err := h.SaveAgent(ctx(t), "alice", &spec.Agent{ID: event.NewID(), Model: "m\x00", Adapter: "script"}); event.CodeOf(err) != event.InvalidRequest {
		t.Errorf("a model with NUL: %v", err)
	}
	must(t, h.DeleteAgent(ctx(t), "alice", a.ID))
	if err := h.DeleteAgent(ctx(t), "alice", a.ID); event.CodeOf(err) != event.AgentNotFound {
		t.Errorf("deleted twice: %v", err)
	}
	fixed, err := h.AgentsNamed(ctx(t), "bob", "fixed")
	if err != nil || len(fixed) != 1 || !fixed[0].Locked {
		t.Fatalf("configured agent: %+v, %v", fixed, err)
	}
	for what, err := range map[string]error{"write": h.SaveAgent(ctx(t), "bob", fixed[0]), "delete": h.DeleteAgent(ctx(t), "bob", fixed[0].ID)} {
		if event.CodeOf(err) != event.DefinitionsLocked {
			t.Errorf("%s of a configured agent: %v", what, err)
		}
	}
}

func TestLockedHostRefusesEveryWriteOfAgents(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New(), actors.WithLockedAgents())
	if err := h.SaveAgent(ctx(t), "alice", &spec.Agent{ID: event.NewID(), Adapter: "script"}); event.CodeOf(err) != event.DefinitionsLocked {
		t.Errorf("save: %v", err)
	}
	if err := h.DeleteAgent(ctx(t), "alice", event.NewID()); event.CodeOf(err) != event.DefinitionsLocked {
		t.Errorf("delete: %v", err)
	}
}

// Pages of every size go through configured and saved agents once, both ways.
func TestAgentPages(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New(), with(script{}), actors.WithAgents(
		spec.Agent{Name: "c1", Adapter: "script"}, spec.Agent{Name: "c2", Adapter: "script"}, spec.Agent{Name: "c3", Adapter: "script"}))
	for i := range 4 {
		saved(t, h, "alice", fmt.Sprintf("s%d", i+1))
	}
	saved(t, h, "bob", "foreign")
	for desc, want := range map[bool]string{false: "c1 c2 c3 s1 s2 s3 s4", true: "s4 s3 s2 s1 c3 c2 c1"} {
		for limit := range 9 {
			var got []string
			page := spec.Page{Limit: limit, Desc: desc}
			for len(got) < 20 {
				list, more, err := h.Agents(ctx(t), "alice", page)
				must(t, err)
				for _, a := range list {
					got = append(got, a.Name)
					page.After = a.ID
				}
				if !more {
					break
				}
				if len(list) != limit {
					t.Fatalf("limit %d: a page of %d says there is more", limit, len(list))
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("limit %d, descending %v: %v", limit, desc, got)
			}
		}
	}
	if _, _, err := h.Agents(ctx(t), "alice", spec.Page{Limit: 2, After: event.NewID()}); event.CodeOf(err) != event.CursorNotFound {
		t.Errorf("unknown cursor: %v", err)
	}
}

func TestResolveModel(t *testing.T) {
	t.Parallel()
	two := []actors.Option{with(script{}), with(script{name: "other"}), actors.WithAgents(spec.Agent{Name: "fixed", Adapter: "other", Model: "m2"})}
	hosts := map[string]*actors.Host{
		"one":     started(t, quick(), memory.New()),
		"none":    started(t, quick(), memory.New(), with(script{}), actors.WithDefaultAdapter("none")),
		"two":     started(t, quick(), memory.New(), two...),
		"default": started(t, quick(), memory.New(), append(two, actors.WithDefaultAdapter("sh-other"))...),
	}
	ids := map[string]string{}
	for name, h := range hosts {
		ids[name] = saved(t, h, "alice", "mine").ID.With(event.PrefixAgent)
		saved(t, h, "alice", "twice")
		saved(t, h, "alice", "twice")
	}
	for _, c := range []struct {
		host, model, pinned string
		adapter, named      string // of the answer
		code                event.Code
	}{
		{"one", "", "", "script", "script", ""},
		{"one", "gpt-9", "", "script", "gpt-9", ""},
		{"one", "vendor/gpt-9:free", "", "script", "vendor/gpt-9:free", ""},
		{"one", "script", "", "script", "script", ""},
		{"one", "sh-script", "", "script", "sh-script", ""},
		{"one", "mine", "", "script", "m", ""},
		{"one", "ID", "", "script", "m", ""},
		{"one", "twice", "", "", "", event.NameAmbiguous},
		{"one", "agent_00000000000000000000000000000000", "", "", "", event.ModelNotFound},
		{"one", "gpt-9", "nobody", "", "", event.ModelNotFound},
		{"one", "gpt-9", "sh-script", "script", "gpt-9", ""},
		{"none", "gpt-9", "", "", "", event.AdapterRequired},
		{"none", "", "", "", "", event.AdapterRequired},
		{"none", "script", "", "script", "script", ""},
		{"none", "gpt-9", "script", "script", "gpt-9", ""},
		{"two", "gpt-9", "", "", "", event.AdapterRequired},
		{"two", "other", "", "other", "other", ""},
		{"two", "fixed", "", "other", "m2", ""},
		{"two", "other", "script", "", "", event.InvalidRequest}, // two agents are named
		{"default", "gpt-9", "", "other", "gpt-9", ""},
		{"default", "gpt-9", "script", "script", "gpt-9", ""},
	} {
		model := c.model
		if model == "ID" {
			model = ids[c.host]
		}
		a, err := hosts[c.host].ResolveModel(ctx(t), "alice", model, c.pinned)
		if event.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if err == nil && (a.Adapter != c.adapter || a.Model != c.named) {
			t.Errorf("%+v: adapter %s, model %s", c, a.Adapter, a.Model)
		}
	}
	if a, err := hosts["one"].ResolveModel(ctx(t), "bob", "mine", ""); err != nil || a.Saved || a.Model != "mine" {
		t.Errorf("another principal's name: %+v, %v", a, err)
	}
	if _, err := hosts["one"].ResolveModel(ctx(t), "bob", ids["one"], ""); event.CodeOf(err) != event.ModelNotFound {
		t.Errorf("another principal's id: %v", err)
	}
}
