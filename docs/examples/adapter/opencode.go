package opencode

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Adapter runs opencode. It has no state, so one value serves all turns.
type Adapter struct{}

var _ agent.Adapter = Adapter{}

// Name is what callers name as their model when they want this agent.
func (Adapter) Name() string { return "opencode" }

// Aliases are its other names.
func (Adapter) Aliases() []string { return []string{"open-code"} }

// Binary is looked up in the tools directories and PATH.
func (Adapter) Binary() string { return "opencode" }

// Capabilities say what a turn can be asked for. What is not claimed here is refused
// before anything is started; the suite checks that the rest is handed on.
func (Adapter) Capabilities() agent.Capabilities {
	return agent.Capabilities{
		Resume: true, Instructions: true, BaseURL: true, Usage: true,
		// It has no sandbox, and --auto lets it do everything.
		Permissions: []spec.Permissions{spec.FullAccess},
	}
}

var sessionID = regexp.MustCompile(`^ses_[A-Za-z0-9]+$`)

// Validate refuses what this CLI has no place for. A refusal is an *event.Failure
// that names the field, because the caller reads it.
func (a Adapter) Validate(r *agent.Request) error {
	switch {
	case r.Permissions != spec.FullAccess:
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf("opencode cannot be held to %q; it has full_access only", r.Permissions))
	case strings.TrimSpace(r.Prompt) == "":
		return event.FailParam(event.InvalidRequest, "input", "the prompt is empty")
	case strings.HasPrefix(r.Model, "-"):
		return event.FailParam(event.InvalidRequest, "model", fmt.Sprintf("model %q would be read as an option", r.Model))
	case len(r.MCP) > 0:
		return event.FailParam(event.Unsupported, "mcp_servers", "this adapter hands no MCP servers on")
	case r.Text.Type == "json_schema":
		return event.FailParam(event.Unsupported, "text.format", "opencode has no structured output")
	case r.Reasoning.Effort != "":
		return event.FailParam(event.Unsupported, "reasoning.effort", "opencode takes no reasoning effort")
	case r.Native != "" && !sessionID.MatchString(r.Native):
		return event.Fail(event.ResumeLost, fmt.Sprintf("%q is no session of opencode; start a new session", r.Native))
	}
	return nil
}

// The provider's key is handed over in a variable: arguments and files can be read by
// others.
const keyVariable = "AGENT_PROVIDER_KEY"

// usualModel is asked for when a provider is given and no model.
const usualModel = "default"

// Invocation says what to run. It is called after Validate and does no I/O; equal
// requests give equal invocations.
func (a Adapter) Invocation(r *agent.Request) (*agent.Invocation, error) {
	inv := &agent.Invocation{
		Args: []string{"run", "--format", "json", "--auto", "--pure"},
		Env:  []string{"OPENCODE_DISABLE_AUTOUPDATE=1"},
		// The prompt goes to standard input: it may be long, and begin with a dash.
		Stdin: []byte(r.Prompt),
		// No line says that the turn is over; with exit status 0 it is.
		ExitIsVerdict: true,
	}
	if r.Instructions != "" {
		inv.Stdin = []byte(r.Instructions + "\n\n" + r.Prompt)
	}
	model := r.Model
	if r.LLM.BaseURL != "" {
		if model == "" {
			model = usualModel
		}
		text, err := json.Marshal(providers(r.LLM.BaseURL, model))
		if err != nil {
			return nil, event.Fail(event.InvalidRequest, "the provider cannot be written down: "+err.Error())
		}
		inv.Env = append(inv.Env, "OPENCODE_CONFIG_CONTENT="+string(text), "OPENCODE_DISABLE_MODELS_FETCH=1")
		model = "host/" + model
	}
	if r.LLM.APIKey != "" {
		inv.Env = append(inv.Env, keyVariable+"="+r.LLM.APIKey)
	}
	if r.Home != "" { // it keeps its sessions there, so it has to outlive the turn
		inv.Env = append(inv.Env, "XDG_DATA_HOME="+r.Home)
	}
	if model != "" {
		inv.Args = append(inv.Args, "-m", model)
	}
	if r.Native != "" {
		inv.Args = append(inv.Args, "-s", r.Native)
	}
	inv.Args = append(inv.Args, r.ExtraArgs...)
	return inv, nil
}

// providers is the configuration of a provider with one model. The key stays in its
// variable.
func providers(url, model string) any {
	type object map[string]any
	return object{"provider": object{"host": object{
		"npm":     "@ai-sdk/openai-compatible",
		"options": object{"baseURL": url, "apiKey": "{env:" + keyVariable + "}"},
		"models":  object{model: object{}},
	}}}
}

// NewParser reads one run.
func (a Adapter) NewParser(*agent.Request) agent.Parser { return &parser{} }
