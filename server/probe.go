package server

import (
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
)

func size(n int) string { return strconv.Itoa(n) + " bytes" }

type status struct {
	Status string `json:"status" enum:"ok,ready,not ready"`
	// Why lists what keeps the host from taking work.
	Why []string `json:"why,omitempty"`
}

// live says that the process answers at all.
func (s *Server) live(c *call.Call) { c.JSON(200, status{Status: "ok"}) }

// health is what existing deployments probe.
func (s *Server) health(c *call.Call) { c.JSON(200, status{Status: "ok"}) }

// ready says whether new work is taken, and if not, why.
func (s *Server) ready(c *call.Call) {
	var why []string
	if s.stopping.Load() {
		why = append(why, "the host is shutting down")
	}
	if s.host.StoreErr() != nil {
		why = append(why, "the store failed; the server's log has the cause")
	}
	if !s.host.Stats().Room {
		why = append(why, "less memory is available than limits.min_available_memory; turns wait")
	}
	if s.host.Stats().LowDisk {
		why = append(why, "less disk is free than limits.min_free_disk; input is refused and turns wait")
	}
	if len(why) > 0 {
		c.JSON(503, status{Status: "not ready", Why: why})
		return
	}
	c.JSON(200, status{Status: "ready"})
}

// readMetrics needs an admin's token, except on a loopback address.
func (s *Server) readMetrics(c *call.Call) {
	if !s.loopback.Load() {
		who, err := s.enter(c.Ctx)
		if err == nil && !who.admin {
			err = event.Fail(apierr.Forbidden, "metrics need a token with the role admin")
		}
		if err != nil {
			s.refuse(c.Ctx, err)
			return
		}
	}
	s.metrics.handler(c.Ctx)
}

type runtime struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Object       string   `json:"object" enum:"agent.runtime"`
	Aliases      []string `json:"aliases"`
	Binary       string   `json:"binary"`
	Installed    bool     `json:"installed"`
	Path         *string  `json:"path"`
	Version      *string  `json:"version"`
	Experimental bool     `json:"experimental"`
	Capabilities any      `json:"capabilities"`
	Driver       string   `json:"driver" enum:"exec,persistent"`
	DriverReason string   `json:"driver_reason"`
	Home         string   `json:"home"`
	Permissions  string   `json:"permissions"`
	Confinement  string   `json:"confinement" enum:"none,cli,host"`
	// Isolation are the levels that a turn gets on this machine.
	Isolation    []string   `json:"isolation" enum:"group,home,rlimits,cgroup,landlock,bubblewrap"`
	AuthPresent  bool       `json:"auth_env_present"`
	InstallSteps [][]string `json:"install_steps"`
	// Installable are the versions that this host can install, the newest first, and
	// Install the newest installation since it started.
	Installable []string `json:"installable"`
	Install     *install `json:"install"`
	Implemented bool     `json:"implemented"`
	Default     bool     `json:"default"`
	// Lacks are words of its command line that the installed program does not take,
	// each with the field that asks for it; null stands for every turn.
	Lacks []lack `json:"lacks"`
	// Features say what tests found out about each, VerifiedVersion with which
	// version of the CLI.
	Features        map[string]string `json:"features"`
	VerifiedVersion *string           `json:"verified_version"`
}

type lack struct {
	Flag  string  `json:"flag"`
	Param *string `json:"param"`
}

func lacksOf(list []actors.Lack) []lack {
	out := make([]lack, len(list))
	for i, l := range list {
		out[i] = lack{Flag: l.Word, Param: orNull(l.Param)}
	}
	return out
}

// Variants implements openapi.Variants.
func (runtime) Variants() map[string][]any {
	return map[string][]any{"capabilities": {agent.Capabilities{}}}
}

type list[T any] struct {
	Object  string  `json:"object"`
	Data    []T     `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// listRuntimes shows the adapters and whether their CLIs are there.
func (s *Server) listRuntimes(c *call.Call) {
	out := list[runtime]{Object: "list", Data: []runtime{}}
	for _, r := range s.host.Runtimes(c.Context()) {
		if !c.Subject.Uses(r.Name) && !c.Subject.Adapter(r.Name).Decide(policy.Install).Allowed {
			continue
		}
		confinement := "none"
		switch {
		case r.Boxed:
			confinement = "host"
		case r.Confined:
			confinement = "cli"
		}
		out.Data = append(out.Data, runtime{
			ID: r.Name, Name: r.Name, Object: "agent.runtime", Aliases: append([]string{}, r.Aliases...), Binary: r.Binary,
			Installed: r.Installed, Path: orNull(r.Path), Version: orNull(r.Version), Experimental: r.Capabilities.Experimental,
			Capabilities: r.Capabilities, Driver: r.Driver, DriverReason: r.DriverWhy, Home: string(r.Home), Permissions: string(r.Permissions), Confinement: confinement, Isolation: strings.Split(r.Isolation, ","),
			AuthPresent: r.KeySet, InstallSteps: append([][]string{}, s.cfg.Install[r.Name]...),
			Installable: append([]string{}, r.Installable...), Install: installObject(r.Install), Implemented: true, Default: r.Default,
			Lacks: lacksOf(r.Lacks), Features: words(r.Proof.Features), VerifiedVersion: orNull(r.Proof.Version),
		})
	}
	if n := len(out.Data); n > 0 {
		out.FirstID, out.LastID = &out.Data[0].ID, &out.Data[n-1].ID
	}
	c.JSON(200, out)
}

func words(features map[string]agent.Support) map[string]string {
	out := make(map[string]string, len(features))
	for name, is := range features {
		out[name] = string(is)
	}
	return out
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type capabilities struct {
	APIVersion    int                   `json:"api_version"`
	ServerVersion string                `json:"server_version"`
	Groups        []string              `json:"groups"`
	GroupSummary  map[string]groupCount `json:"group_summary"`
	Identity      identity              `json:"identity"`
	Policy        policyState           `json:"policy"`
	Endpoints     map[string]capability `json:"endpoints"`
	Warnings      []string              `json:"warnings"`
}

type groupCount struct {
	Enabled int `json:"enabled"`
	Total   int `json:"total"`
}

type identity struct {
	ID     string   `json:"id"`
	Scopes []string `json:"scopes"`
}

type policyState struct {
	Preset     string `json:"preset"`
	Revision   string `json:"revision"`
	Configured bool   `json:"configured"`
}

type capability struct {
	Method    string   `json:"method"`
	Path      string   `json:"path"`
	Group     string   `json:"group"`
	Summary   string   `json:"summary"`
	Streaming bool     `json:"streaming"`
	Enabled   bool     `json:"enabled"`
	Allowed   bool     `json:"allowed"`
	Reason    *string  `json:"reason"`
	Rule      *string  `json:"rule"`
	Scopes    []string `json:"scopes"`
	Limits    struct{} `json:"limits"`
	Params    struct{} `json:"params"`
	// Operation is our own id of the route, Implemented says that it is built.
	Operation   string `json:"operation"`
	Implemented bool   `json:"implemented"`
}

// capabilities lists every route with whether the caller may use it, in the
// shape that existing deployments read.
func (s *Server) capabilities(c *call.Call) {
	out := capabilities{
		APIVersion: 2, ServerVersion: s.cfg.Version, Groups: []string{}, GroupSummary: map[string]groupCount{},
		Identity: identity{ID: c.Principal, Scopes: scopes(c)}, Policy: policyState{Preset: "default", Configured: s.cfg.Policy.Configured()},
		Endpoints: map[string]capability{}, Warnings: []string{},
	}
	out.Groups = append(out.Groups, s.cfg.Groups...)
	for i := range s.table {
		row := &s.table[i]
		e := capability{
			Method: row.method, Path: row.path, Group: string(row.group), Summary: summary(row.operation), Streaming: row.stream,
			Scopes: []string{}, Operation: row.operation, Implemented: row.handler != nil,
		}
		if row.group == groupAgents {
			e.Scopes = []string{"agents:use"}
		}
		d := c.Subject.Decide(row.operation)
		switch {
		case !s.groups[row.group]:
			e.Reason, e.Rule = text("the group is switched off"), text("groups")
		case row.handler == nil:
			e.Reason, e.Rule = text("not built yet"), text("built")
		case row.operation == "agents.runtimes.install" && !s.cfg.AllowInstall:
			e.Reason, e.Rule = text("installing is switched off"), text(allowInstall)
		case row.group != groupOpen && !d.Allowed:
			e.Enabled, e.Reason, e.Rule = true, text(denied(d)), text(s.rule(d))
		default:
			e.Enabled, e.Allowed = true, true
		}
		n := out.GroupSummary[e.Group]
		n.Total++
		if e.Enabled {
			n.Enabled++
		}
		out.GroupSummary[e.Group] = n
		out.Endpoints[row.id()] = e
	}
	c.JSON(200, out)
}

func text(s string) *string { return &s }

// denied says why in words, rule by name.
func denied(d *policy.Decision) string {
	if f, ok := event.AsFailure(d.Err()); ok {
		return f.Message
	}
	return ""
}

func (s *Server) rule(d *policy.Decision) string {
	switch {
	case !s.cfg.Policy.Configured():
		return "roles"
	case d.By == "":
		return "policy"
	}
	return d.By
}

// scopes are what documents of existing deployments give a token.
func scopes(c *call.Call) []string {
	switch {
	case c.Admin:
		return []string{"*"}
	case c.Subject.Decide("agents.sessions.create").Allowed:
		return []string{"agents:use"}
	}
	return []string{}
}

// summary makes a few words of an operation id: agents.sessions.list_items is
// "list items of agents sessions".
func summary(operation string) string {
	at := strings.LastIndexByte(operation, '.')
	return strings.ReplaceAll(operation[at+1:], "_", " ") + " of " + strings.ReplaceAll(operation[:at], ".", " ")
}
