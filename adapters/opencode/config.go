package opencode

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

//go:embed mark.js
var mark []byte

const (
	markFile = "mark.js"
	keyEnv   = "AGENT_PROVIDER_KEY"
	// offline keeps the CLI from installing packages for plugins, of which ours needs
	// none, at each start in a new home. What it starts is told the opposite.
	offline = "NPM_CONFIG_OFFLINE"
	// host is the provider that the configuration is about.
	host = "host"
	// unnamed is the model of a request that names none.
	unnamed = "default"
)

// file is the part of the CLI's configuration that a process is started with.
type file struct {
	AutoUpdate   bool                `json:"autoupdate"`
	Share        string              `json:"share"`
	Enabled      []string            `json:"enabled_providers,omitempty"`
	Providers    map[string]provider `json:"provider,omitempty"`
	Model        string              `json:"model,omitempty"`
	SmallModel   string              `json:"small_model,omitempty"`
	Plugins      []string            `json:"plugin"`
	Permission   map[string]string   `json:"permission"`
	Agents       map[string]any      `json:"agent"`
	Experimental struct {
		GoOn bool `json:"continue_loop_on_deny"`
	} `json:"experimental"`
}

type provider struct {
	Package string              `json:"npm"`
	Name    string              `json:"name"`
	Options map[string]string   `json:"options"`
	Models  map[string]struct{} `json:"models"`
}

// packages speak the provider's wires.
var packages = map[string]string{"": "@ai-sdk/openai-compatible", "chat": "@ai-sdk/openai-compatible", "responses": "@ai-sdk/openai"}

// prepare writes the configuration of a process.
func prepare(r *agent.Request, run *agent.Runner) error {
	f := file{Share: "disabled", Plugins: []string{"file://" + filepath.Join(r.Dir, markFile)}, Permission: permission(r)}
	f.Agents = map[string]any{"build": map[string]any{"permission": f.Permission}} // beats a person's own of that agent
	f.Experimental.GoOn = true
	if err := provide(r, &f, run); err != nil {
		return err
	}
	if r.MultiAgent.Disabled {
		f.Permission["task"] = "deny"
	}
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	run.Files = append(run.Files, agent.File{Name: markFile, Data: mark})
	run.Env = append(run.Env, "OPENCODE_CONFIG_CONTENT="+string(text), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", offline+"=true")
	if r.Permissions != spec.FullAccess {
		run.Env = append(run.Env, "OPENCODE_DISABLE_PROJECT_CONFIG=1")
	}
	if r.Home != "" {
		run.Env = append(run.Env, "XDG_DATA_HOME="+r.Home)
		for _, kind := range []string{"CONFIG", "STATE", "CACHE"} {
			run.Env = append(run.Env, "XDG_"+kind+"_HOME="+filepath.Join(r.Home, strings.ToLower(kind)))
		}
	}
	return nil
}

// provide points the CLI at the host's model provider, if one is configured. The CLI
// fills {env:NAME} and {file:PATH} into the text of its configuration, so a model's
// name must not have such a thing in it.
func provide(r *agent.Request, f *file, run *agent.Runner) error {
	if strings.ContainsAny(r.Model, "{}") {
		return event.FailParam(event.InvalidRequest, "model", "a model of opencode must not have braces in its name: the CLI would read variables and files that they name")
	}
	if r.LLM.BaseURL == "" {
		if r.LLM.APIKey != "" {
			run.Env = append(run.Env, "OPENAI_API_KEY="+r.LLM.APIKey)
		}
		if r.Model != "" && !strings.Contains(r.Model, "/") {
			return event.FailParam(event.InvalidRequest, "model", fmt.Sprintf("opencode names a model with its provider, such as openai/%s, unless the provider has a base URL", r.Model))
		}
		f.Model = r.Model
		return nil
	}
	model := r.Model
	if model == "" {
		model = unnamed
	}
	options := map[string]string{"baseURL": baseURL(r.LLM.BaseURL)}
	if r.LLM.APIKey != "" {
		options["apiKey"] = "{env:" + keyEnv + "}"
		run.Env = append(run.Env, keyEnv+"="+r.LLM.APIKey)
	}
	f.Enabled = []string{host}
	f.Providers = map[string]provider{host: {Package: packages[r.LLM.WireAPI], Name: host, Options: options, Models: map[string]struct{}{model: {}}}}
	f.Model, f.SmallModel = host+"/"+model, host+"/"+model
	return nil
}

// baseURL is the address below which /chat/completions is: one without any path gets
// /v1.
func baseURL(s string) string {
	s = strings.TrimRight(s, "/")
	if u, err := url.Parse(s); err == nil && u.Path == "" && u.RawQuery == "" {
		return s + "/v1"
	}
	return s
}

// reading are the tools that change nothing.
var reading = []string{"read", "grep", "glob", "list", "lsp", "skill", "todoread", "todowrite"}

// permission is what each tool may do, by patterns of its name: the last one that fits
// holds, and they are written in the order of their names, so "*" comes first.
func permission(r *agent.Request) map[string]string {
	p := map[string]string{}
	calls := "allow"
	switch r.Permissions {
	case spec.ReadOnly:
		p["*"] = "deny"
	case spec.Ask:
		p["*"], calls = "ask", "ask"
	case spec.WorkspaceWrite:
		p["*"], p["external_directory"] = "allow", "deny"
	default:
		p["*"] = "allow"
	}
	for _, tool := range reading {
		p[tool] = "allow"
	}
	p["question"] = "deny" // nobody is there to choose
	for _, name := range argv.Sorted(r.MCP) {
		if r.MCP[name].Allowed == nil {
			p[name+"_*"] = calls
			continue
		}
		p[name+"_*"] = "deny"
		for _, tool := range r.MCP[name].Allowed {
			p[name+"_"+tool] = calls
		}
	}
	if r.Host != nil {
		p[r.Host.Name+"_*"] = "allow"
	}
	return p
}
