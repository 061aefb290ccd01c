package provider

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/fakes/mind"
)

// scripts is the tool by which Codex has some models call all others, out of
// JavaScript.
func (q *question) scripts() (tool, bool) {
	t, ok := q.tool("exec")
	return t, ok && t.Custom
}

// stillRuns is what Codex says of a script that takes longer than half a minute.
var stillRuns = regexp.MustCompile(`^Script running with cell ID (\S+)`)

// waitID marks the ids of calls that wait for a script's result.
const waitID = "_wait_"

// wait asks for what a script has printed since.
func (q *question) wait(number int) *toolCall {
	t, ok := q.tool("wait")
	if !ok {
		t = tool{Name: "wait"}
	}
	return &toolCall{ID: "call_scripted_" + strconv.Itoa(number) + waitID + q.cell, tool: t, Args: encode(map[string]any{"cell_id": q.cell})}
}

// byName calls a tool by its full name, or by the end of it. Names are made
// identifiers of the language by the CLI.
const byName = `const byName = async (name, args) => {
  const end = name.replace(/[^A-Za-z0-9_]/g, "_");
  const full = ALL_TOOLS.map((t) => t.name).find((n) => n === end || n.startsWith("` + mcpPrefix + `") && n.endsWith("__" + end));
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
