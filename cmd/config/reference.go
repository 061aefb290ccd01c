package config

import (
	"reflect"

	"github.com/goccy/go-yaml/ast"
)

// referenceFile is the agents file of existing deployments: one agent, a list of
// agents, or a map with "agents" and "default".
type referenceFile struct {
	Default string                    `yaml:"default"`
	Agents  []located[referenceAgent] `yaml:"agents"`
}

// referenceAgent has every key of such a file; those that have no place here are
// refused in definitions.go with what to do instead.
type referenceAgent struct {
	Name         string               `yaml:"name"`
	Runtime      string               `yaml:"runtime"`
	Model        string               `yaml:"model"`
	Instructions string               `yaml:"instructions"`
	Description  string               `yaml:"description"`
	Provider     referenceProvider    `yaml:"provider"`
	Workspace    referenceWorkspace   `yaml:"workspace"`
	Env          map[string]string    `yaml:"env"`
	Secrets      map[string]string    `yaml:"secrets" keep:"true" secret:"true"`
	MCPServers   map[string]MCPServer `yaml:"mcp_servers"`
	Permissions  string               `yaml:"permissions" enum:"read_only,workspace_write,full_access,read-only,workspace-write,full-access"`
	Limits       referenceLimits      `yaml:"limits"`
	ExtraArgs    []string             `yaml:"extra_args"`
	Effort       string               `yaml:"reasoning_effort" enum:"none,minimal,low,medium,high,xhigh"`
	Command      referenceCommand     `yaml:"command"`
}

type referenceProvider struct {
	BaseURL   string `yaml:"base_url"`
	APIKey    string `yaml:"api_key" keep:"true" secret:"true"`
	WireAPI   string `yaml:"wire_api"`
	Auth      string `yaml:"auth"`
	APIKeyEnv string `yaml:"api_key_env" secret:"true"`
}

type referenceWorkspace struct {
	Path string       `yaml:"path"`
	Git  referenceGit `yaml:"git"`
}

type referenceGit struct {
	URL       string `yaml:"url"`
	Ref       string `yaml:"ref"`
	Token     string `yaml:"token" keep:"true" secret:"true"`
	TokenUser string `yaml:"token_user"`
	Depth     int    `yaml:"depth"`
}

type referenceLimits struct {
	TurnTimeoutS   seconds `yaml:"turn_timeout_s"`
	IdleTimeoutS   seconds `yaml:"idle_timeout_s"`
	MaxOutputBytes Size    `yaml:"max_output_bytes"`
	MaxTurns       int     `yaml:"max_turns"`
	MaxBudgetUSD   float64 `yaml:"max_budget_usd"`
	CPUSeconds     float64 `yaml:"cpu_seconds"`
}

type referenceCommand struct {
	Argv       []string `yaml:"argv"`
	ResumeArgv []string `yaml:"resume_argv"`
	Prompt     string   `yaml:"prompt" enum:"argv,stdin"`
	Parser     string   `yaml:"parser" enum:"text,jsonl-claude,jsonl-codex,jsonl-cursor"`
	Binary     string   `yaml:"binary"`
}

// short makes plain texts of the keys that may be one instead of a map.
func (w *referenceWorkspace) short() reflect.Value { return structOf(&w.Path) }
func (g *referenceGit) short() reflect.Value       { return structOf(&g.URL) }

// reference reads such a file in any of its three forms.
func (d *decoder) reference(data []byte, file *referenceFile) {
	d.anchors = map[string]ast.Node{}
	root := d.parse(data)
	if root == nil {
		return
	}
	switch n := d.plain(root).(type) {
	case *ast.SequenceNode:
		d.value(n, field{value: structOf(&file.Agents)}, "agents")
	default:
		for _, pair := range d.pairs(n, field{}, "", "write a list of agents, or a map with agents") {
			if key := pair.Key.GetToken().Value; key == "agents" || key == "default" {
				d.value(n, field{value: structOf(file)}, "")
				return
			}
		}
		file.Agents = make([]located[referenceAgent], 1)
		d.value(n, field{value: structOf(&file.Agents[0])}, "agents[0]")
	}
}
