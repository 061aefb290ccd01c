package provider

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/fakes/mind"
)

// tool is one tool that a request offers.
type tool struct {
	Name, Namespace string
	// Custom tools take text instead of JSON.
	Custom bool
	// Search is a tool that only finds other tools.
	Search bool
	// Schema is the JSON schema of its arguments.
	Schema schema
}

type schema struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
}

func (s schema) has(name string) bool { _, ok := s.Properties[name]; return ok }

// toolCall is a call in the caller's own terms.
type toolCall struct {
	ID string
	tool
	// Args is JSON, of a custom tool text.
	Args string
}

// searchID marks the ids of calls that only look for a tool: their results are
// not results of a call that the prompt asked for.
const searchID = "find"

// Shell and file tools of the CLIs we know, the better ones first.
var (
	shellTools = []string{"exec_command", "shell_command", "Bash", "run_shell_command", "bash", "shell"}
	writeTools = []string{"Write", "write_file", "write"}
	taskTools  = []string{"Agent", "Task", "spawn_agent", "agent", "task"}
	joinTools  = []string{"wait_agent"}
)

// translate turns a call into one of the request's tools.
func translate(c *mind.Call, q *question, number int) *toolCall {
	call := find(c, q)
	if call.Search {
		call.ID = "call_" + searchID + "_" + strconv.Itoa(number)
	} else {
		call.ID = "call_scripted_" + strconv.Itoa(number)
	}
	return call
}

func find(c *mind.Call, q *question) *toolCall {
	switch c.Kind {
	case mind.Shell:
		return q.shell(c.Args)
	case mind.Write:
		return q.write(c.Name, c.Args)
	case mind.MCP:
		return q.mcp(c)
	case mind.Subagent:
		return q.subagent(c.Args)
	case mind.Join:
		return q.join()
	case mind.Function:
	}
	t, ok := q.tool(c.Name)
	if !ok {
		t = tool{Name: c.Name}
	}
	return &toolCall{tool: t, Args: c.Args}
}

// ownTools is the namespace that Codex puts its own tools into for some models.
const ownTools = "functions"

func (q *question) tool(names ...string) (tool, bool) {
	for _, n := range names {
		own := func(t tool) bool { return t.Name == n && (t.Namespace == "" || t.Namespace == ownTools) }
		if i := slices.IndexFunc(q.Tools, own); i >= 0 {
			return q.Tools[i], true
		}
	}
	return tool{}, false
}

func (q *question) shell(command string) *toolCall {
	if t, ok := q.tool("exec"); ok && t.Custom {
		return &toolCall{tool: t, Args: "const r = await tools.exec_command({cmd: " + quote(command) + "});\ntext(r.output);\n"}
	}
	t, ok := q.tool(shellTools...)
	if !ok {
		t = tool{Name: "Bash"}
	}
	args := map[string]any{}
	switch p := t.Schema.Properties["command"]; {
	case t.Schema.has("cmd"):
		args["cmd"] = command
	case p.Type == "array":
		args["command"] = []string{"bash", "-lc", command}
	default:
		args["command"] = command
	}
	if t.Schema.has("description") {
		args["description"] = "Run the command of the prompt"
	}
	if t.Schema.has("is_background") {
		args["is_background"] = false
	}
	return &toolCall{tool: t, Args: encode(args)}
}

func (q *question) write(path, text string) *toolCall {
	if t, ok := q.tool(writeTools...); ok {
		if q.Dir != "" && !filepath.IsAbs(path) {
			path = filepath.Join(q.Dir, path)
		}
		args := map[string]any{"content": text}
		if t.Schema.has("filePath") {
			args["filePath"] = path
		} else {
			args["file_path"] = path
		}
		return &toolCall{tool: t, Args: encode(args)}
	}
	patch := addFile(path, text)
	if t, ok := q.tool("exec"); ok && t.Custom {
		return &toolCall{tool: t, Args: "text(await tools.apply_patch(" + quote(patch) + "));\n"}
	}
	if t, ok := q.tool("apply_patch"); ok {
		if t.Custom {
			return &toolCall{tool: t, Args: patch}
		}
		return &toolCall{tool: t, Args: encode(map[string]any{"input": patch})}
	}
	// Codex offers models that it does not know no patch tool, but still reads a
	// patch out of a shell command.
	return q.shell("apply_patch <<'SCRIPTED_PATCH'\n" + patch + "SCRIPTED_PATCH\n")
}

// subagent hands a prompt to a subagent.
func (q *question) subagent(prompt string) *toolCall {
	t := q.agentTool(taskTools)
	args := map[string]any{}
	for name, value := range map[string]any{
		"prompt": prompt, "message": prompt, "description": "Run the task of the prompt", "subagent_type": "general-purpose",
	} {
		if t.Schema.has(name) {
			args[name] = value
		}
	}
	return &toolCall{tool: t, Args: encode(args)}
}

// join waits for the subagents that the results of earlier calls name.
func (q *question) join() *toolCall {
	var ids []string
	for _, m := range q.Talk {
		if m.From != mind.Tool {
			continue
		}
		for _, found := range agentID.FindAllStringSubmatch(m.Text, -1) {
			ids = append(ids, found[1])
		}
	}
	return &toolCall{tool: q.agentTool(joinTools), Args: encode(map[string]any{"targets": ids, "timeout_ms": 60_000})}
}

var agentID = regexp.MustCompile(`"agent_id": ?"([^"]+)"`)

// agentTool finds a tool about subagents, which Codex puts into a namespace of its
// own for some models.
func (q *question) agentTool(names []string) tool {
	for _, name := range names {
		if i := slices.IndexFunc(q.Tools, func(t tool) bool { return t.Name == name && !strings.HasPrefix(t.Namespace, "mcp__") }); i >= 0 {
			return q.Tools[i]
		}
	}
	return tool{Name: names[0]}
}

// addFile is a patch that makes a file.
func addFile(path, text string) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Add File: " + path + "\n")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("+" + line + "\n")
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}

// mcp finds a tool of an MCP server, or looks for it where the CLI hides such
// tools behind a search.
func (q *question) mcp(c *mind.Call) *toolCall {
	space := "mcp__" + c.Server
	for _, t := range q.Tools {
		if t.Name == space+"__"+c.Name || strings.TrimSuffix(t.Namespace, "__") == space && t.Name == c.Name {
			return &toolCall{tool: t, Args: c.Args}
		}
	}
	full := space + "__" + c.Name
	if t, ok := q.tool("exec"); ok && t.Custom {
		return &toolCall{tool: t, Args: "text(await tools." + full + "(" + c.Args + "));\n"}
	}
	for _, t := range q.Tools {
		if !t.Search || q.searched {
			continue // a second search would find no more
		}
		query := map[string]any{"query": c.Server + " " + c.Name}
		if t.Schema.has("max_results") {
			query = map[string]any{"query": "select:" + full, "max_results": 5}
		}
		return &toolCall{tool: t, Args: encode(query)}
	}
	return &toolCall{tool: tool{Name: full}, Args: c.Args}
}

func quote(s string) string { return encode(s) }

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}" // only strings, lists and maps of strings come here
	}
	return string(b)
}

// workingDir is how the CLIs name their working directory in a prompt.
var workingDir = regexp.MustCompile(`(?:<cwd>|[Ww]orking directory: )([^<\n]+)`)

// dirOf looks for a working directory in a text of the CLI's own.
func dirOf(text string) string {
	if m := workingDir.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// wrapped says that a user message is the CLI's own and not the user's: CLIs put
// their surroundings into tagged texts.
func wrapped(text string) bool {
	text = strings.TrimSpace(text)
	if text == "Tool loaded." { // beside the result of a tool search
		return true
	}
	for _, tag := range []string{"<environment_context>", "<system-reminder>", "<subagent_notification>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions", "<permissions instructions>"} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}
