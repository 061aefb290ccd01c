package call

import (
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

// ToolFault gives a failure of the engine that names an MCP server the place where
// the request brought it: places are those by the server's label, address is what
// this wire calls its URL.
func ToolFault(err error, places map[string]string, address string) error {
	f, ok := event.AsFailure(err)
	if !ok || len(places) == 0 {
		return err
	}
	at, ok := strings.CutPrefix(f.Param, "mcp_servers.")
	if !ok {
		return err
	}
	label, field, _ := strings.Cut(at, ".")
	place, ok := places[label]
	if !ok {
		return err
	}
	named := *f
	switch named.Param = place; field {
	case "":
	case "url":
		named.Param += "." + address
	default:
		named.Param += "." + field
	}
	return &named
}
