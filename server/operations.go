package server

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/policy"
)

// Operation is one row of the routes table, for who writes policies.
type Operation struct {
	// ID is what policies, refusals and metrics call it. Old is its id in documents of
	// existing deployments, "" for none.
	ID, Old      string
	Method, Path string
	// Gated says that the policy decides on it; the others answer without a token.
	Gated bool
	// Built says that it does something.
	Built bool
}

// Operations are those of all routes.
func Operations() []Operation {
	table := (&Server{}).routes(builtHandlers())
	out := make([]Operation, len(table))
	for i := range table {
		r := &table[i]
		out[i] = Operation{ID: r.operation, Old: r.old, Method: r.method, Path: r.path, Gated: r.group != groupOpen, Built: r.handler != nil}
	}
	return out
}

// builtHandlers are the wires' methods on nothing: they say what is built and are
// not called.
func builtHandlers() *handlers { return wireHandlers(nil, &Config{}) }

// PolicyTable is what a policy of this server decides about.
func PolicyTable(adapters []string) policy.Table {
	t := policy.Table{Adapters: adapters}
	for _, o := range Operations() {
		if o.Gated {
			t.Operations = append(t.Operations, o.ID)
		}
	}
	return t
}

// Members are the principals as a policy knows them: without a token, everyone is
// Anonymous, who is admin.
func Members(list []Principal) []policy.Principal {
	if len(list) == 0 {
		return []policy.Principal{{ID: Anonymous, Roles: []string{RoleAdmin}}}
	}
	out := make([]policy.Principal, len(list))
	for i, p := range list {
		out[i] = policy.Principal{ID: p.ID, Roles: p.Roles}
	}
	return out
}

func (c *Config) withoutPolicy() error {
	names := make([]string, len(c.Adapters))
	for i, a := range c.Adapters {
		names[i] = a.Name
	}
	p, err := policy.Compile(nil, PolicyTable(names))
	if err != nil {
		return fmt.Errorf("server: policy: %w", err)
	}
	c.Policy = policy.NewRoster(p, Members(c.Principals))
	return nil
}
