package policy

import (
	"maps"
	"slices"
)

// reading are the operations that change nothing and start nothing.
var reading = []string{
	"agents.*.get", "agents.*.get_*", "agents.*.list", "agents.*.list_*", "agents.*.stream_events", "agents.*.download", "agents.*.download_*",
	"responses.get", "responses.list_*", "conversations.get", "conversations.get_*", "conversations.list_*",
}

// using are the operations of somebody who works with agents and administers nothing.
var using = []string{
	"agents.sessions.**", "agents.definitions.**", "agents.environments.**", "agents.templates.**", "agents.vaults.**", "agents.automations.**",
	"agents.models.get", "agents.models.list", "agents.runtimes.list", "agents.queue.list", "agents.files.**", "agents.webhooks.**",
	"responses.**", "conversations.**", "agents.*.sessions.*",
}

var presets = map[string][]Statement{
	"single-user": {
		{ID: "single-user:all", Allow: []string{"**"}, Principals: []string{Everyone}},
	},
	"agent-host": {
		{ID: "agent-host:admin", Allow: []string{"**"}, Principals: []string{"role:admin"}},
		{ID: "agent-host:dev", Allow: using, Principals: []string{"role:dev"}},
		{ID: "agent-host:observer", Allow: reading, Principals: []string{"role:observer"}},
	},
	"observer": {
		{ID: "observer:admin", Allow: []string{"**"}, Principals: []string{"role:admin"}},
		{ID: "observer:all", Allow: reading, Principals: []string{Everyone}},
	},
	"locked": {},
}

// Presets are the names of the documents that come with the program.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// Preset is a document by name.
func Preset(name string) (*Document, bool) {
	s, ok := presets[name]
	return &Document{Statements: slices.Clone(s)}, ok
}
