package qwen

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

const settingsFile = "settings.json"

// file is the part of the CLI's settings that a turn decides.
type file struct {
	General struct {
		AutoUpdate bool `json:"enableAutoUpdate"`
	} `json:"general"`
	Privacy struct {
		Statistics bool `json:"usageStatisticsEnabled"`
	} `json:"privacy"`
	Telemetry struct {
		Enabled bool `json:"enabled"`
	} `json:"telemetry"`
	UI struct {
		// The long-lived driver would else ask the model, behind each turn and with the
		// whole conversation, what the user might say next.
		Suggest bool `json:"enableFollowupSuggestions"`
	} `json:"ui"`
	Memory struct {
		Extract bool `json:"enableManagedAutoMemory"`
		Dream   bool `json:"enableManagedAutoDream"`
	} `json:"memory"`
	Model struct {
		Effort     string `json:"reasoningEffort,omitempty"`
		Generation struct {
			MaxRetries int `json:"maxRetries"`
		} `json:"generationConfig"`
	} `json:"model"`
	Servers map[string]server `json:"mcpServers,omitempty"`
}

// server is an MCP server. Trusted ones run their tools without a question, and the
// model sees the tools themselves, not a search for them.
type server struct {
	URL       string            `json:"httpUrl,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	TimeoutMS int64             `json:"timeout,omitempty"`
	Trust     bool              `json:"trust"`
	Always    bool              `json:"alwaysLoadTools"`
	Include   []string          `json:"includeTools,omitzero"` // nil is all
}

// settings writes the turn's settings file. Header and environment values stay out
// of it: the CLI fills ${NAME} from its environment.
func settings(r *agent.Request, inv *agent.Invocation) error {
	var f file // all switches are off, there is no retry
	f.Model.Effort = effort(r.Reasoning.Effort)
	var vault argv.Vault
	byName := func(values map[string]string) map[string]string {
		names := make(map[string]string, len(values))
		for _, k := range argv.Sorted(values) {
			names[k] = "${" + vault.Put(values[k]) + "}"
		}
		return names
	}
	// The CLI would also fill in a $ that is meant as one; what it has filled in stays.
	plain := func(value string) string {
		if !strings.Contains(value, "$") {
			return value
		}
		name := fmt.Sprintf("AGENT_MCP_VALUE_%d", len(inv.Env))
		inv.Env = append(inv.Env, name+"="+value)
		return "${" + name + "}"
	}
	trust := r.Permissions != spec.Ask // else each call is a question
	f.Servers = map[string]server{}
	if h := r.Host; h != nil {
		f.Servers[h.Name] = server{
			URL: h.URL, Headers: map[string]string{"Authorization": "Bearer ${" + h.TokenEnv + "}"},
			TimeoutMS: h.Timeout.Milliseconds(), Trust: true, Always: true,
		}
		inv.Env = append(inv.Env, h.TokenEnv+"="+h.Token)
	}
	for _, name := range argv.Sorted(r.MCP) {
		switch s := r.MCP[name]; {
		case s.URL != "":
			f.Servers[name] = server{URL: plain(s.URL), Headers: byName(s.Headers), Trust: trust, Always: true, Include: s.Allowed}
		case s.Command != "":
			args := make([]string, len(s.Args))
			for i, a := range s.Args {
				args[i] = plain(a)
			}
			f.Servers[name] = server{Command: plain(s.Command), Args: args, Env: byName(s.Env), Trust: trust, Always: true, Include: s.Allowed}
		default:
			return event.FailParam(event.InvalidRequest, "mcp_servers."+name, "an MCP server needs a url or a command")
		}
	}
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	inv.Env = append(inv.Env, vault.Env...)
	inv.Env = append(inv.Env, "QWEN_CODE_SYSTEM_SETTINGS_PATH="+filepath.Join(r.Dir, settingsFile))
	inv.Secrets = append(inv.Secrets, vault.Values...)
	inv.Files = append(inv.Files, agent.File{Name: settingsFile, Data: data})
	return nil
}

// effort maps the neutral levels to the CLI's.
func effort(e string) string {
	if e == "minimal" {
		return "low"
	}
	return e
}
