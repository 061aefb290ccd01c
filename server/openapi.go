package server

import (
	"maps"
	"strings"
	"sync"

	"github.com/agenthost/agenthost/wires/agents"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
	"github.com/agenthost/agenthost/wires/openapi"
	"github.com/agenthost/agenthost/wires/responses"
)

// about is what the document says beside its operations. The version is that of
// the paths, so that every build of the same API serves the same bytes.
const about = "One host for coding agents, on the Agents and the Responses wire. " +
	"Every answer carries x-request-id. An event stream is described by x-sse-events: the data of each event by its type. " +
	"x-unavailable marks operations that answer 501."

// document describes the table. It says the same of every host, whatever its
// configuration.
func document(table []route, closed bool) (*openapi.Document, error) {
	var routes []openapi.Route
	for i := range table {
		r := &table[i]
		tag := r.operation[:strings.LastIndexByte(r.operation, '.')]
		routes = append(routes, openapi.Route{
			Method: r.method, Path: r.path, ID: r.operation, Tag: tag, Open: r.group == groupOpen,
			Unavailable: r.handler == nil, Pinned: r.pinnedPath() != "",
		})
	}
	return openapi.Build(openapi.About{
		Title: "agenthost", Version: "v1", Description: about,
		Envelope: apierr.Envelope(), Refusals: apierr.Refusals(), Closed: closed,
	}, routes, described())
}

// described are the descriptions of all handlers.
func described() map[string]openapi.Operation {
	all := operations()
	maps.Copy(all, agents.Operations())
	maps.Copy(all, responses.Operations())
	maps.Copy(all, files.Operations())
	return all
}

// operations describes the server's own handlers.
func operations() map[string]openapi.Operation {
	return map[string]openapi.Operation{
		"agents.runtimes.list": {Summary: "List the coding agents and what each can do.", Answer: list[runtime]{}},
		"agents.runtimes.install": {
			Summary: "Install a coding agent, where the host allows it; the list of runtimes shows the job.",
			Body:    installBody{}, MayBeEmpty: true, Answer: install{}, Status: 202,
		},
		"server.check_live":        {Summary: "The process answers.", Answer: status{}},
		"server.check_health":      {Summary: "The process answers, where existing deployments ask.", Answer: status{}},
		"server.check_ready":       {Summary: "New work is taken, or why not.", Answer: status{}, Also: map[int]any{503: status{}}},
		"server.list_capabilities": {Summary: "List every route and whether the caller may use it.", Answer: capabilities{}},
		"server.read_metrics":      {Summary: "Metrics in the Prometheus text format; needs an admin's token except on a loopback address.", Text: "text/plain"},
		"server.read_openapi":      {Summary: "This document; needs any token except on a loopback address.", Answer: anyObject{}},
	}
}

type anyObject struct{}

// openAPI makes the served document once.
type openAPI struct {
	once sync.Once
	body []byte
	err  error
}

// readOpenAPI answers with the document. It tells nothing of this host; still,
// other machines need a token for it, so that a scanner does not learn what
// listens here.
func (s *Server) readOpenAPI(c *call.Call) {
	if !s.loopback.Load() {
		if _, err := s.enter(c.Ctx); err != nil {
			s.refuse(c.Ctx, err)
			return
		}
	}
	s.openAPI.once.Do(func() {
		d, err := document(s.table, false)
		if err == nil {
			s.openAPI.body, err = openapi.MarshalIndent(d)
		}
		s.openAPI.err = err
	})
	if s.openAPI.err != nil {
		c.Fail(s.openAPI.err)
		return
	}
	c.Raw(200, s.openAPI.body)
}
