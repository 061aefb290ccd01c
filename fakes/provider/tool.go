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

// searchID marks the ids of calls that only look for a tool, whose name stands
// behind it: their results are not results of a call that the prompt asked for.
const searchID = "_find_"

// Shell and file tools of the CLIs we know, the better ones first.
var (
	shellTools = []string{"exec_command", "shell_command", "Bash", "run_shell_command", "bash", "shell"}
	writeTools = []string{"Write", "write_file", "write"}
	taskTools  = []string{"Agent", "Task", "spawn_agent", "agent", "task"}
	joinTools  = []string{"wait_agent"}
)

// translate turns calls into calls of the request's tools. Where one has to be
// looked for first, that is done before any is made.
func translate(calls []*mind.Call, q *question, number int) []*toolCall {
	if t, ok := q.scripts(); ok && slices.ContainsFunc(calls, func(c *mind.Call) bool { return !q.own(c) }) {
		return []*toolCall{{ID: "call_scripted_" + strconv.Itoa(number), tool: t, Args: javascript(calls)}}
	}
	var list, searches []*toolCall
	for i, c := range calls {
		call := find(c, q)
		call.ID = nth("call", i) + "_scripted_" + strconv.Itoa(number)
		list = append(list, call)
		if call.Search {
			call.ID += searchID + c.Name
			searches = append(searches, call)
		}
	}
	if len(searches) > 0 {
		return searches
	}
	return list
}

// nth tells the ids of one response's calls apart, none the beginning of another.
func nth(prefix string, i int) string {
	if i == 0 {
		return prefix
	}
	return prefix + "_" + strconv.Itoa(i)
}

func find(c *mind.Call, q *question) *toolCall {
	switch c.Kind {
	case mind.Shell:
		return q.shell(c.Args)
	case mind.Write:
		return q.write(c.Name, c.Args)
	case mind.MCP:
	case mind.Subagent:
		return q.subagent(c.Args)
	case mind.Join:
		return q.join()
	case mind.Function:
		if t, ok := q.tool(c.Name); ok {
			return &toolCall{tool: t, Args: c.Args}
		}
	}
	return q.mcp(c)
}

// offers says whether the request has a tool of a bare name, or may have it.
func (q *question) offers(name string) bool {
	if _, ok := q.scripts(); ok {
		return true
	}
	c := find(&mind.Call{Kind: mind.Function, Name: name}, q)
	return slices.ContainsFunc(q.Tools, func(t tool) bool { return t.Name == c.Name && t.Namespace == c.Namespace })
}

// own says that a call is one of a function that the request itself names.
func (q *question) own(c *mind.Call) bool {
	_, ok := q.tool(c.Name)
	return ok && c.Kind == mind.Function
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

// mcp finds a tool of an MCP server, of any without a server's name, or looks for
// it where the CLI hides such tools behind a search.
func (q *question) mcp(c *mind.Call) *toolCall {
	for _, t := range q.Tools {
		if server, name, ok := t.served(); ok && name == c.Name && (c.Server == "" || server == c.Server) {
			return &toolCall{tool: t, Args: c.Args}
		}
	}
	for _, t := range q.Tools { // a server and a tool parted by no more than an underscore
		if c.Server != "" && (t.Name == c.Server+"_"+c.Name || t.Name == "mcp_"+c.Server+"_"+c.Name) || c.Server == "" && t.Namespace == "" && strings.HasSuffix(t.Name, "_"+c.Name) {
			return &toolCall{tool: t, Args: c.Args}
		}
	}
	full := c.Name
	if c.Server != "" {
		full = mcpPrefix + c.Server + "__" + c.Name
	}
	for _, t := range q.Tools {
		if !t.Search || q.searched[c.Name] {
			continue // a second search would find no more
		}
		query := map[string]any{"query": strings.TrimSpace(c.Server + " " + c.Name)}
		if t.Schema.has("max_results") {
			query["max_results"] = 5
			if c.Server != "" {
				query["query"] = "select:" + full
			}
		}
		return &toolCall{tool: t, Args: encode(query)}
	}
	return &toolCall{tool: tool{Name: full}, Args: c.Args}
}

// mcpPrefix is how the CLIs mark the tools of MCP servers.
const mcpPrefix = "mcp__"

// served parts the name of an MCP server's tool, which some CLIs give as one name
// and others as a namespace and a name.
func (t tool) served() (server, name string, ok bool) {
	if space, ok := strings.CutPrefix(t.Namespace, mcpPrefix); ok {
		return strings.TrimSuffix(space, "__"), t.Name, true
	}
	full, ok := strings.CutPrefix(t.Name, mcpPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(full, "__")
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}" // only strings, lists and maps of strings come here
	}
	return string(b)
}

// workingDir is how the CLIs name their working directory in a prompt.
var workingDir = regexp.MustCompile(`(?:<cwd>|[Ww]orking directory: |working in the directory: )([^<\n]+)`)

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
