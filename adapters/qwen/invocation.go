package qwen

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

const schemaFile = "output-schema.json"

// permissions gives the arguments of a permission, the same for a first and a
// resumed turn; nil for one that the CLI does not have. default is a mode that asks
// before it changes anything; with nobody to ask, those tools are not offered.
func permissions(p spec.Permissions) []string {
	switch p {
	case spec.ReadOnly:
		return []string{"--approval-mode", "default"}
	case spec.WorkspaceWrite:
		// The mode comes last: the tools before it are a list up to the next option.
		return []string{"--allowed-tools", "run_shell_command", "--approval-mode", "auto-edit"}
	case spec.FullAccess:
		return []string{"--approval-mode", "yolo"}
	}
	return nil
}

// authType is the CLI's word for the wire of the host's provider, "" when the CLI
// is left to its own.
func authType(r *agent.Request) (string, error) {
	if r.LLM.BaseURL == "" && r.LLM.APIKey == "" {
		return "", nil
	}
	switch r.LLM.WireAPI {
	case "", "chat":
		return "openai", nil
	case "responses":
		return "openai-responses", nil
	}
	return "", event.FailParam(event.InvalidRequest, "llm.wire_api", fmt.Sprintf("qwen speaks wire_api chat or responses, not %q", r.LLM.WireAPI))
}

func build(r *agent.Request) (*agent.Invocation, error) {
	inv := &agent.Invocation{Stdin: []byte(r.Prompt)}
	args := []string{"--output-format", "stream-json", "--include-partial-messages"}
	auth, err := authType(r)
	if err != nil {
		return nil, err
	}
	if auth != "" {
		args = append(args, "--auth-type", auth)
	}
	if r.Model != "" {
		if err := argv.Word("model", r.Model); err != nil {
			return nil, err
		}
		args = append(args, "--model", r.Model)
	}
	if r.Native != "" {
		args = append(args, "--resume", r.Native)
	}
	if r.Instructions != "" {
		const option = "--append-system-prompt="
		if err := argv.Fits("instructions", r.Instructions, len(option)); err != nil {
			return nil, err
		}
		args = append(args, option+r.Instructions) // joined: it may begin with '-'
	}
	if r.Limits.MaxTurns > 0 {
		args = append(args, "--max-session-turns", strconv.Itoa(r.Limits.MaxTurns))
	}
	if r.Text.Type == "json_schema" {
		inv.Files = append(inv.Files, agent.File{Name: schemaFile, Data: r.Text.Schema})
		args = append(args, "--json-schema", "@"+filepath.Join(r.Dir, schemaFile))
	}
	if r.MultiAgent.Disabled {
		args = append(args, "--exclude-tools", "agent")
	}
	args = append(args, permissions(r.Permissions)...)
	inv.Args = append(args, r.ExtraArgs...)
	environment(r, inv)
	if err := settings(r, inv); err != nil {
		return nil, err
	}
	return inv, argv.Check(inv.Args)
}

func environment(r *agent.Request, inv *agent.Invocation) {
	inv.Env = append(inv.Env,
		"QWEN_CODE_NO_RELAUNCH=true",
		"QWEN_CODE_SUPPRESS_YOLO_WARNING=1",
		// Offer the MCP servers' tools from the first request on.
		"QWEN_CODE_LEGACY_MCP_BLOCKING=1",
	)
	if r.Home != "" {
		inv.Env = append(inv.Env, "QWEN_HOME="+r.Home)
	}
	if r.LLM.BaseURL != "" {
		inv.Env = append(inv.Env, "OPENAI_BASE_URL="+baseURL(r.LLM.BaseURL))
	}
	if r.LLM.APIKey != "" {
		inv.Env = append(inv.Env, "OPENAI_API_KEY="+r.LLM.APIKey)
	}
}

// baseURL is the address below which /chat/completions is: one without any path
// gets /v1.
func baseURL(s string) string {
	s = strings.TrimRight(s, "/")
	if u, err := url.Parse(s); err == nil && u.Path == "" && u.RawQuery == "" {
		return s + "/v1"
	}
	return s
}
