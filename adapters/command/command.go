package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/adapters/cursor"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Adapter is one declared CLI.
type Adapter struct {
	name string
	cfg  Config
}

var _ agent.Adapter = (*Adapter)(nil)

// New checks a definition. The error joins a *KeyError for each key at fault.
func New(name string, cfg Config) (*Adapter, error) {
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("adapter name %q does not match %s", name, validName)
	}
	cfg.Command, cfg.Aliases = slices.Clone(cfg.Command), slices.Clone(cfg.Aliases)
	cfg.Resume.Args, cfg.Resume.Argv = slices.Clone(cfg.Resume.Args), slices.Clone(cfg.Resume.Argv)
	cfg.Exit.Success, cfg.Exit.Failures = slices.Clone(cfg.Exit.Success), maps.Clone(cfg.Exit.Failures)
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("adapter %s: %w", name, err)
	}
	return &Adapter{name: name, cfg: cfg}, nil
}

// Name is the name it was declared with.
func (a *Adapter) Name() string { return a.name }

// Aliases are the declared ones.
func (a *Adapter) Aliases() []string { return slices.Clone(a.cfg.Aliases) }

// Binary is the declared one, else the first element of command.
func (a *Adapter) Binary() string { return cmp.Or(a.cfg.Binary, a.cfg.Command[0]) }

// Capabilities follow from the definition.
func (a *Adapter) Capabilities() agent.Capabilities {
	return agent.Capabilities{
		Resume:       a.resumes(),
		TextDeltas:   slices.Contains([]string{formatText, formatClaude, formatCursor}, a.cfg.Output.Format) || a.cfg.JSONL.Text != "",
		Instructions: true,
		BaseURL:      a.cfg.LLMEnv.BaseURL != "",
		Usage:        a.cfg.Output.Format == formatCodex || a.cfg.Output.Format == formatClaude || a.cfg.JSONL.Usage != "",
		Permissions:  []spec.Permissions{spec.WorkspaceWrite, spec.FullAccess},
	}
}

// resumes reports whether a later turn goes on where the one before ended.
func (a *Adapter) resumes() bool { return len(a.cfg.Resume.Args)+len(a.cfg.Resume.Argv) > 0 }

// Validate refuses what the definition has no place for.
func (a *Adapter) Validate(r *agent.Request) error {
	if !slices.Contains(a.Capabilities().Permissions, r.Permissions) {
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf("%s cannot be held to %q: a command adapter has workspace_write and full_access", a.name, r.Permissions))
	}
	switch {
	case argv.Empty(r.Prompt):
		return event.FailParam(event.InvalidRequest, "input", "the prompt is empty")
	case len(r.MCP) > 0:
		return event.FailParam(event.Unsupported, "mcp_servers", a.name+" is a command adapter and takes no MCP servers")
	case r.Text.Type == "json_schema":
		return event.FailParam(event.Unsupported, "text.format", a.name+" is a command adapter and has no structured output")
	case len(r.Images) > 0:
		return event.FailParam(event.Unsupported, "input", a.name+" is a command adapter and takes no images")
	case r.Model != "" && !a.takesModel():
		return event.FailParam(event.Unsupported, "model", fmt.Sprintf("%s is a command adapter without a place for a model; name %q itself, or give its definition {model} or llm_env.model", a.name, a.name))
	}
	if err := argv.Word("model", r.Model); err != nil {
		return err
	}
	if strings.HasPrefix(r.Native, "-") {
		return event.Fail(event.ResumeLost, fmt.Sprintf("the session id %q of %s would be read as an option", r.Native, a.name))
	}
	_, err := a.Invocation(r)
	return err
}

// NewParser reads the declared format, and the exit where the output did not tell.
func (a *Adapter) NewParser(r *agent.Request) agent.Parser {
	return &exiting{Parser: a.newParser(r), name: a.name, cfg: &a.cfg}
}

func (a *Adapter) newParser(r *agent.Request) agent.Parser {
	own := *r
	if !a.resumes() {
		own.Native, own.Carry = "", nil
	}
	switch a.cfg.Output.Format {
	case formatCodex:
		return codex.NewParser(&own, a.name)
	case formatClaude:
		return claudecode.NewParser(&own, a.name)
	case formatCursor:
		return cursor.NewParser(&own, a.name)
	case formatJSONL:
		return newLines(&a.cfg, a.implied(r))
	default:
		return &plain{session: a.implied(r), cfg: &a.cfg}
	}
}

// implied is the session id of a CLI that finds its conversation by itself: ours.
// It is "" for one that tells its own.
func (a *Adapter) implied(r *agent.Request) string {
	tells := a.cfg.sessionPath() != "" || a.dialect()
	if !a.resumes() || tells {
		return ""
	}
	return r.Session.Hex()
}

// dialect reports whether the output is that of a known CLI.
func (a *Adapter) dialect() bool {
	return slices.Contains([]string{formatCodex, formatClaude, formatCursor}, a.cfg.Output.Format)
}
