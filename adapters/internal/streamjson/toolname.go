package streamjson

import "strings"

// ToolName splits mcp__SERVER__TOOL; ok is false for a tool of the CLI's own. A server's
// own name may hold the separator, so the configured ones are looked for first.
func ToolName(name string, servers []string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", name, false
	}
	longest := ""
	for _, s := range servers {
		if strings.HasPrefix(rest, s+"__") && len(s) > len(longest) {
			longest = s
		}
	}
	if longest != "" {
		return longest, rest[len(longest)+2:], true
	}
	if server, tool, ok = strings.Cut(rest, "__"); ok {
		return server, tool, true
	}
	return "", name, false
}
