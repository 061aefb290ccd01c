package actors_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

const headerValue = "canary-header-0123456789"

// servers is a caller's server docs with a secret header.
func servers(value string) map[string]spec.MCPServer {
	m := spec.MCPServer{URL: "https://mcp.example.com/mcp", Caller: true}
	m.SetHeader("X-Key", value)
	return map[string]spec.MCPServer{"docs": m}
}

// telling is a CLI that is told of its servers' headers by its environment.
func telling() script {
	return script{mcp: true, invocation: func(r *agent.Request, inv *agent.Invocation) {
		var all []string
		for name, m := range r.MCP {
			for header, value := range m.Headers {
				all = append(all, name+" "+header+" "+value)
			}
		}
		slices.Sort(all)
		inv.Env = append(inv.Env, "SERVERS="+strings.Join(all, ","))
	}}
}

var mcpScope = actors.WithCallerMCP(spec.MCPScope{Hosts: []string{"mcp.example.com", "*.tools.example"}})

// offline resolves nothing, as a host behind a proxy may.
var offline = actors.WithLookup(func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("offline") })

const knows = `test "$SERVERS" = "docs X-Key ` + headerValue + `" && echo known || echo "not known: $SERVERS"`

func withServers(prompt string, m map[string]spec.MCPServer) *spec.NewInput {
	in := input(prompt)
	in.Overrides = &spec.Overrides{MCP: &m}
	return in
}

func said(t *testing.T, h *actors.Host, session, turn event.ID) string {
	t.Helper()
	end := outcome(t, follow(t, h, session, 0, ended(turn)))
	got, err := h.Turn(ctx(t), "alice", turn)
	must(t, err)
	text := ""
	for _, it := range got.Items {
		text += it.Text
	}
	if end.Failure != nil {
		return end.Failure.Param + ": " + end.Failure.Message
	}
	return strings.TrimSpace(text)
}

// A turn's own values reach its CLI, are redacted, and go with the turn; a session's
// and an agent's go with these.
func TestHeaderValuesLiveAsLongAsWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New(), with(telling()), mcpScope, offline)
	kept := func(want int) {
		t.Helper()
		eventually(t, "values are dropped", func() bool { return actors.KeptValues(h) == want })
	}
	p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: withServers(knows, servers(headerValue))})
	must(t, err)
	if got := said(t, h, p.Session.ID, p.Turns[0].ID); got != "known" {
		t.Errorf("the first turn: %s", got)
	}
	kept(0)
	post := func(in *spec.NewInput) event.ID {
		t.Helper()
		p, err := h.Post(ctx(t), "alice", p.Session.ID, []spec.Action{{Input: in}}, nil)
		must(t, err)
		return p.Turns[0].ID
	}
	if got := said(t, h, p.Session.ID, post(withServers(`echo "$SERVERS"`, servers("Basic "+headerValue)))); got != "docs X-Key [redacted]" {
		t.Errorf("what a CLI prints: %s", got)
	}
	if got := said(t, h, p.Session.ID, post(input(`echo "<$SERVERS>"`))); got != "<>" {
		t.Errorf("a turn without servers: %s", got)
	}
	kept(0)

	a := &spec.Agent{ID: event.NewID(), Name: "helper", Adapter: "script", MCP: servers(headerValue)}
	must(t, h.SaveAgent(ctx(t), "alice", a))
	stored, err := h.Agent(ctx(t), "alice", a.ID)
	must(t, err)
	if m := stored.MCP["docs"]; m.Headers["X-Key"] != spec.SecretRef || m.Secrets != nil {
		t.Errorf("stored as %+v", m)
	}
	p, err = h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: *stored, Input: input(knows)})
	must(t, err)
	kept(2)
	stored.Instructions = "renamed"
	must(t, h.SaveAgent(ctx(t), "alice", stored)) // what was not touched is kept
	must(t, h.DeleteAgent(ctx(t), "alice", a.ID))
	kept(1)
	if got := said(t, h, p.Session.ID, p.Turns[0].ID); got != "known" {
		t.Errorf("a session of a saved agent: %s", got)
	}
	changed, none := servers("another-value"), map[string]spec.MCPServer{}
	_, err = h.UpdateSession(ctx(t), "alice", p.Session.ID, &spec.Update{MCP: &changed})
	must(t, err)
	if got := said(t, h, p.Session.ID, post(input(knows))); !strings.HasPrefix(got, "not known") {
		t.Errorf("after an update: %s", got)
	}
	for range 5 {
		_, err = h.UpdateSession(ctx(t), "alice", p.Session.ID, &spec.Update{MCP: &changed})
		must(t, err)
	}
	kept(2) // the one before may still be looked up
	_, err = h.UpdateSession(ctx(t), "alice", p.Session.ID, &spec.Update{MCP: &none})
	must(t, err)
	must(t, h.DeleteSession(ctx(t), "alice", p.Session.ID))
	kept(0)
}

// Refused work leaves nothing behind.
func TestRefusedWorkKeepsNoValues(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New(), with(telling()), mcpScope, offline)
	p := create(t, h, "true")
	after := withServers("true", servers(headerValue))
	after.After = event.NewTurnID()
	if _, err := h.Post(ctx(t), "alice", p.Session.ID, []spec.Action{{Input: after}}, nil); event.CodeOf(err) != event.PreviousNotLatest {
		t.Errorf("posted: %v", err)
	}
	if n := actors.KeptValues(h); n != 0 {
		t.Errorf("%d bundles are left", n)
	}
	if after.Overrides.Secrets != (event.ID{}) {
		t.Error("the caller's own input was changed")
	}
}

// A queued turn whose values did not survive the host says so when it is its turn.
func TestQueuedTurnWhoseValuesAreLostFails(t *testing.T) {
	t.Parallel()
	dir, mem := t.TempDir(), memory.New()
	opts := []actors.Option{with(telling()), mcpScope, offline}
	h := dropped(t, dir, quick(), mem, opts...)
	p := create(t, h, "trap '' INT TERM; echo on; while :; do sleep 1; done")
	ses, running := p.Session.ID, p.Turns[0].ID
	q, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: withServers(knows, servers(headerValue))}, {Input: input("echo next")}}, nil)
	must(t, err)
	follow(t, h, ses, 0, spoke(running))
	over, cancel := context.WithCancel(ctx(t))
	cancel()
	must(t, h.Stop(over))

	h = startedIn(t, dir, quick(), mem.Reopen(), opts...)
	if got := said(t, h, ses, q.Turns[0].ID); !strings.HasPrefix(got, "mcp_servers.docs.headers.X-Key: ") || !strings.Contains(got, "send the header values again") {
		t.Errorf("the queued turn: %s", got)
	}
	if got := said(t, h, ses, q.Turns[1].ID); got != "next" {
		t.Errorf("the turn behind it: %s", got)
	}
}

func TestCallersServersAreAdmittedByTheScope(t *testing.T) {
	t.Parallel()
	lookup := actors.WithLookup(func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "rebound.tools.example" {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("10.0.0.7")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
	})
	h := started(t, quick(), memory.New(), with(telling()), with(script{name: "plain"}), mcpScope, lookup,
		actors.WithEnviron([]string{"PATH=/usr/bin:/bin", "DOCS_KEY=from-the-host"}),
		actors.WithAgents(
			spec.Agent{Name: "fixed", Adapter: "script", MCP: map[string]spec.MCPServer{"docs": {URL: "http://10.0.0.1/", Headers: map[string]string{"X": "${DOCS_KEY}"}}}},
			spec.Agent{Name: "unset", Adapter: "script", MCP: map[string]spec.MCPServer{"docs": {URL: "http://10.0.0.1/", Headers: map[string]string{"X": "${NOT_SET}"}}}},
		))
	at := func(url string) map[string]spec.MCPServer {
		return map[string]spec.MCPServer{"other": {URL: url, Caller: true}}
	}
	asks := at("https://mcp.example.com/")
	m := asks["other"]
	m.Approval.Rest = true
	asks["other"] = m
	inject := at("https://mcp.example.com/")
	m = inject["other"]
	m.SetHeader("X", "${DOCS_KEY}")
	inject["other"] = m
	const beside = `test "$SERVERS" = 'docs X from-the-host,other X ${DOCS_KEY}' && echo same || echo "$SERVERS"`
	for name, c := range map[string]struct {
		adapter, saved string
		servers        map[string]spec.MCPServer
		code           event.Code
		param          string
	}{
		"listed":              {"script", "", at("https://a.tools.example/"), "", ""},
		"not listed":          {"script", "", at("https://elsewhere.example/"), event.MCPNotAllowed, "mcp_servers.other.url"},
		"a private address":   {"script", "", at("https://rebound.tools.example/"), event.MCPNotAllowed, "mcp_servers.other.url"},
		"a command":           {"script", "", map[string]spec.MCPServer{"other": {Command: "sh", Caller: true}}, event.InvalidRequest, "mcp_servers.other.url"},
		"a bad name":          {"script", "", map[string]spec.MCPServer{"a.b": {URL: "https://mcp.example.com/", Caller: true}}, event.InvalidRequest, "mcp_servers"},
		"approval":            {"script", "", asks, event.Unsupported, "mcp_servers.other.require_approval"},
		"an adapter without":  {"plain", "", at("https://mcp.example.com/"), event.Unsupported, "mcp_servers.other"},
		"the name of another": {"", "fixed", servers(headerValue), event.InvalidRequest, "mcp_servers.docs"},
		"beside a configured": {"", "fixed", inject, "", ""},
		"an unset variable":   {"", "unset", at("https://mcp.example.com/"), event.InvalidRequest, "mcp_servers.docs.headers.X"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := spec.Agent{Adapter: c.adapter}
			if c.saved != "" {
				list, err := h.AgentsNamed(ctx(t), "alice", c.saved)
				must(t, err)
				a = *list[0]
			}
			p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: a, Input: withServers(beside, c.servers)})
			f, _ := event.AsFailure(err)
			switch {
			case c.code == "" && err == nil:
			case f == nil || f.Code != c.code || f.Param != c.param:
				t.Fatalf("got %+v, %v", f, err)
			default:
				return
			}
			if name == "beside a configured" { // only the configuration's names a variable
				if got := said(t, h, p.Session.ID, p.Turns[0].ID); got != "same" {
					t.Errorf("the CLI was told %q", got)
				}
			}
		})
	}
	if err := h.SaveAgent(ctx(t), "alice", &spec.Agent{ID: event.NewID(), Adapter: "script", MCP: at("https://elsewhere.example/")}); event.CodeOf(err) != event.MCPNotAllowed {
		t.Errorf("saved: %v", err)
	}
	p := create(t, h, "")
	elsewhere := at("https://elsewhere.example/")
	if _, err := h.UpdateSession(ctx(t), "alice", p.Session.ID, &spec.Update{MCP: &elsewhere}); event.CodeOf(err) != event.MCPNotAllowed {
		t.Errorf("updated: %v", err)
	}
}

// Lost values of a saved agent do not matter to a turn that brings its server again.
func TestATurnMayBringAgainWhatIsLost(t *testing.T) {
	t.Parallel()
	dir, mem := t.TempDir(), memory.New()
	opts := []actors.Option{with(telling()), mcpScope, offline}
	h := dropped(t, dir, quick(), mem, opts...)
	a := &spec.Agent{ID: event.NewID(), Adapter: "script", MCP: servers("old-value")}
	must(t, h.SaveAgent(ctx(t), "alice", a))
	must(t, h.Stop(ctx(t)))

	h = startedIn(t, dir, quick(), mem.Reopen(), opts...)
	a, err := h.Agent(ctx(t), "alice", a.ID)
	must(t, err)
	if _, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: *a, Input: input("true")}); event.CodeOf(err) != event.InvalidRequest {
		t.Errorf("without them: %v", err)
	}
	if _, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: *a}); event.CodeOf(err) != event.InvalidRequest {
		t.Errorf("without them and input: %v", err)
	}
	p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: *a, Input: withServers(knows, servers(headerValue))})
	must(t, err)
	if got := said(t, h, p.Session.ID, p.Turns[0].ID); got != "known" {
		t.Errorf("a turn that brings them: %s", got)
	}
	a.Instructions = "still to be changed"
	must(t, h.SaveAgent(ctx(t), "alice", a))
	if n := actors.KeptValues(h); n > 1 {
		t.Errorf("%d bundles are kept", n)
	}
}
