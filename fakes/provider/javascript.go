package provider

import (
	"strings"

	"github.com/agenthost/agenthost/fakes/mind"
)

// scripts is the tool by which Codex has some models call all others, out of
// JavaScript.
func (q *question) scripts() (tool, bool) {
	t, ok := q.tool("exec")
	return t, ok && t.Custom
}

// byName calls a tool by its full name, or by the end of it.
const byName = `const byName = async (name, args) => {
  const full = ALL_TOOLS.map((t) => t.name).find((n) => n === name || n.startsWith("` + mcpPrefix + `") && n.endsWith("__" + name));
  if (!full) return "there is no tool " + name;
  const r = await tools[full](args);
  return r.content ? r.content.map((c) => c.text).join("\n") : JSON.stringify(r);
};
`

// javascript makes the calls at once and prints a text for each, in order.
func javascript(calls []*mind.Call) string {
	var b strings.Builder
	b.WriteString(byName + "for (const said of await Promise.all([\n")
	for _, c := range calls {
		b.WriteString("  (async () => " + expression(c) + ")(),\n")
	}
	b.WriteString("])) text(said);\n")
	return b.String()
}

func expression(c *mind.Call) string {
	name := c.Name
	switch c.Kind {
	case mind.Shell:
		return "(await tools.exec_command({cmd: " + encode(c.Args) + "})).output"
	case mind.Write:
		return "await tools.apply_patch(" + encode(addFile(c.Name, c.Args)) + ")"
	case mind.MCP:
		name = mcpPrefix + c.Server + "__" + c.Name
	case mind.Function:
	}
	return "await byName(" + encode(name) + ", " + c.Args + ")"
}
