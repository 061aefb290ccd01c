package actors

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/secret"
	"github.com/agenthost/agenthost/actors/spec"
)

// servers are the MCP servers of a turn as the adapter is told of them, which keeps
// the values of headers and variables out of argv and files: the agent's, and those
// that the turn brings itself, which replace an agent's of the same name. o may be nil.
func (h *Host) servers(a *spec.Agent, o *spec.Overrides) (map[string]spec.MCPServer, error) {
	out := make(map[string]spec.MCPServer, len(a.MCP))
	brought := o.Servers()
	if err := a.Taken(brought); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(a.MCP)) {
		if _, again := brought[name]; again {
			continue
		}
		m, err := h.filled(name, a.MCP[name], a.Secrets, a.Locked)
		if err != nil {
			return nil, err
		}
		out[name] = m
	}
	for _, name := range slices.Sorted(maps.Keys(brought)) {
		m, err := h.filled(name, brought[name], o.Secrets, false)
		if err != nil {
			return nil, err
		}
		out[name] = m
	}
	return out, nil
}

// filled is a server with the values of its headers and variables: a caller's from
// what it brought, a configured agent's from the host's environment. No other may
// name variables: a caller's could send what it names anywhere.
func (h *Host) filled(name string, m spec.MCPServer, kept event.ID, locked bool) (spec.MCPServer, error) {
	var err error
	switch {
	case m.Caller:
		m.Headers, err = h.revealed(name, m, kept)
	case locked:
		if m.Headers, err = h.expanded("mcp_servers."+name+".headers", m.Headers); err == nil {
			m.Env, err = h.expanded("mcp_servers."+name+".env", m.Env)
		}
	}
	return m, err
}

func (h *Host) revealed(name string, m spec.MCPServer, kept event.ID) (map[string]string, error) {
	out := make(map[string]string, len(m.Headers))
	for _, header := range slices.Sorted(maps.Keys(m.Headers)) {
		value, ok := h.value(name, header, m, kept)
		if !ok {
			return nil, lost(name, header)
		}
		out[header] = value.Reveal()
	}
	return out, nil
}

// value is one header's value: on its way here, or kept.
func (h *Host) value(name, header string, m spec.MCPServer, kept event.ID) (spec.Secret, bool) {
	if v, ok := m.Secrets[header]; ok {
		return v, true
	}
	return h.bag.Get(kept, name, header)
}

func lost(name, header string) error {
	return event.FailParam(event.InvalidRequest, "mcp_servers."+name+".headers."+header, fmt.Sprintf(
		"the value of the header %s of the MCP server %s is kept in memory only and is gone, as after a restart of the host; send the header values again", header, name))
}

// expanded fills ${VAR} from the host's environment.
func (h *Host) expanded(param string, in map[string]string) (map[string]string, error) {
	var err error
	out := make(map[string]string, len(in))
	for _, k := range slices.Sorted(maps.Keys(in)) {
		out[k] = os.Expand(in[k], func(name string) string {
			v, ok := lookup(h.cfg.environ, name)
			if !ok && err == nil {
				err = event.FailParam(event.InvalidRequest, param+"."+k, fmt.Sprintf("%s.%s of the host's configuration names the variable %s, which is not set; its operator has to set it", param, k, name))
			}
			return v
		})
	}
	return out, err
}

// headerValues are what nothing of a turn's output may show.
func headerValues(servers map[string]spec.MCPServer) (out []string) {
	for _, m := range servers {
		for _, v := range m.Headers {
			out = append(out, v)
			if _, token, ok := strings.Cut(v, " "); ok { // of "Basic TOKEN"
				out = append(out, token)
			}
		}
	}
	return out
}

// admit refuses servers of callers that the adapter cannot be given, or that are not
// in the host's scope. It may ask a resolver, so it is not for a Receive.
func (h *Host) admit(ctx context.Context, r *RuntimeConfig, b *policy.Bounds, perm spec.Permissions, servers map[string]spec.MCPServer) error {
	caps, name := h.capabilities(r), r.Adapter.Name()
	for _, label := range slices.Sorted(maps.Keys(servers)) {
		m := servers[label]
		if !m.Caller {
			continue
		}
		param := "mcp_servers." + label
		if err := spec.ValidServerName(label); err != nil {
			return err
		}
		if !caps.MCP {
			return event.FailParam(event.Unsupported, param, "adapter "+name+" takes no MCP servers; leave the tool out or use another adapter")
		}
		if m.Approval.Any() && (perm != spec.Ask || !hasPermission(caps.Permissions, spec.Ask)) { // with ask, every call of such a tool is asked for
			return event.FailParam(event.Unsupported, param+".require_approval", "adapter "+name+" does not ask before it calls a tool of an MCP server with these permissions; set require_approval to never")
		}
		if err := h.inScope(b, label, &m); err != nil {
			return err
		}
		if err := h.public(ctx, label, m.URL); err != nil {
			return err
		}
	}
	return nil
}

// inScope refuses a server that the policy does not list, or where that says nothing of
// servers, the host.
func (h *Host) inScope(b *policy.Bounds, label string, m *spec.MCPServer) error {
	lists, has := b.MCP()
	if !has {
		return h.cfg.callerMCP.Check(label, m)
	}
	for _, hosts := range lists {
		scope := spec.MCPScope{Hosts: hosts, Private: h.cfg.callerMCP.Private}
		if err := scope.Check(label, m); err != nil {
			return err
		}
	}
	return nil
}

// lookupLimit bounds the wait for a resolver.
const lookupLimit = 3 * time.Second

// public refuses a name that leads into the host's own network. A name that cannot
// be resolved here is left to the CLI, which may have a proxy for it.
func (h *Host) public(ctx context.Context, label, address string) error {
	u, err := url.Parse(address)
	if err != nil || h.cfg.callerMCP.Private {
		return nil
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil // judged by the scope
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	found, err := h.cfg.lookup(ctx, u.Hostname())
	if err != nil {
		return nil
	}
	if slices.ContainsFunc(found, spec.PrivateAddr) {
		return spec.NotPublic(label, u.Hostname())
	}
	return nil
}

// keepSecrets takes the header values of callers' servers into memory and names them; kept
// is where those are that were not brought now. One that is lost may be so if the
// first turn brings its server again.
func (h *Host) keepSecrets(owner event.ID, servers map[string]spec.MCPServer, kept event.ID, again map[string]spec.MCPServer) (event.ID, error) {
	values := secret.Values{}
	for name, m := range servers {
		if !m.Caller {
			continue
		}
		for header := range m.Headers {
			v, ok := h.value(name, header, m, kept)
			if _, brought := again[name]; !ok && !brought {
				return event.ID{}, lost(name, header)
			}
			if ok {
				values.Set(name, header, v)
			}
		}
	}
	return h.bag.Put(owner, values), nil
}

// keepNew takes what a new session and its first input bring. A saved agent's values
// become the session's own: it keeps the agent as it is now.
func (h *Host) keepNew(s *spec.Session, in *spec.NewInput) (*spec.NewInput, error) {
	var err error
	var again map[string]spec.MCPServer
	if in != nil {
		again = in.Overrides.Servers()
	}
	if s.Agent.Secrets, err = h.keepSecrets(s.ID, s.Agent.MCP, s.Agent.Secrets, again); err != nil {
		return nil, err
	}
	if in, err = h.keepInput(s.ID, in); err != nil {
		h.bag.DropOwner(s.ID)
	}
	return in, err
}

func (h *Host) keepInput(session event.ID, in *spec.NewInput) (*spec.NewInput, error) {
	if in == nil || in.Overrides == nil || in.Overrides.MCP == nil {
		return in, nil
	}
	id, err := h.keepSecrets(session, *in.Overrides.MCP, event.ID{}, nil)
	if err != nil {
		return nil, err
	}
	own, o := *in, *in.Overrides
	o.Secrets = id
	own.Overrides = &o
	return &own, nil
}

// keepActions takes what inputs bring; forget undoes it.
func (h *Host) keepActions(session event.ID, actions []spec.Action) (own []spec.Action, forget func(), err error) {
	own = slices.Clone(actions)
	forget = func() {
		for i := range own {
			if in := own[i].Input; in != nil && in != actions[i].Input {
				h.bag.Drop(in.Overrides.Secrets)
			}
		}
	}
	for i := range own {
		in, err := h.keepInput(session, own[i].Input)
		if err != nil {
			forget()
			return nil, nil, err
		}
		own[i].Input = in
	}
	return own, forget, nil
}

func (h *Host) keepUpdate(session event.ID, u *spec.Update) (*spec.Update, error) {
	if u.MCP == nil {
		return u, nil
	}
	own := *u
	var err error
	own.Secrets, err = h.keepSecrets(session, *u.MCP, event.ID{}, nil)
	return &own, err
}

// keepAgent takes what a saved agent brings. One whose servers were not touched
// keeps what there is, or is known to be lost.
func (h *Host) keepAgent(a *spec.Agent) error {
	headers, brought := false, false
	for _, m := range a.MCP {
		headers = headers || m.Caller && len(m.Headers) > 0
		brought = brought || m.Caller && len(m.Secrets) > 0
	}
	switch {
	case !headers:
		a.Secrets = event.ID{}
		return nil
	case !brought:
		return nil
	}
	var err error
	a.Secrets, err = h.keepSecrets(a.ID, a.MCP, a.Secrets, nil)
	return err
}

// forgetValues drops what an ended turn had brought for itself.
func (h *Host) forgetValues(t *fold.Turn) {
	if t.Input == nil || len(t.Input.Overrides) == 0 {
		return
	}
	if id := t.Overrides().Secrets; !id.IsZero() {
		h.work.Go(func() { h.bag.Drop(id) }) // not under the lock here: this is a Receive
	}
}
