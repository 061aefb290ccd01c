package acp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/spec"
)

// Config is a declared CLI, with the key names of the configuration file.
type Config struct {
	Command []string
	Env     Env
	Aliases []string
	// Modes are session modes and answers by permission.
	Modes map[string]Mode
	// Auth is the way of signing in that the CLI is asked for.
	Auth string
}

// KeyError is a wrong value in a definition. Key is its path, such as "modes.ask".
type KeyError struct{ Key, Problem string }

func (e *KeyError) Error() string { return e.Key + ": " + e.Problem }

var (
	validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	validEnv  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Declare checks a definition and makes its adapter. The error names the key at fault
// (*KeyError).
func Declare(name string, c Config) (*Adapter, error) {
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("adapter name %q does not match %s", name, validName)
	}
	modes, err := c.modes()
	if err != nil {
		return nil, fmt.Errorf("adapter %s: %w", name, err)
	}
	return New(CLI{
		Agent:   Agent{Name: name, Modes: modes, Auth: c.Auth},
		Aliases: slices.Clone(c.Aliases), Command: slices.Clone(c.Command), Env: c.Env,
	}), nil
}

func (c *Config) modes() (map[spec.Permissions]Mode, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return nil, &KeyError{"command", "the program is missing"}
	}
	for i, arg := range c.Command {
		if strings.IndexByte(arg, 0) >= 0 {
			return nil, &KeyError{fmt.Sprintf("command[%d]", i), "contains a NUL character"}
		}
	}
	for _, e := range [...]struct{ key, name string }{{"llm_env.api_key", c.Env.APIKey}, {"llm_env.base_url", c.Env.BaseURL}, {"llm_env.model", c.Env.Model}} {
		if e.name != "" && !validEnv.MatchString(e.name) {
			return nil, &KeyError{e.key, fmt.Sprintf("%q is no name of a variable", e.name)}
		}
	}
	// As a command, the CLI is not confined: these two are taken as they are.
	modes := map[spec.Permissions]Mode{spec.WorkspaceWrite: {Answer: Allow}, spec.FullAccess: {Answer: Allow}}
	for _, name := range sorted(c.Modes) {
		m, p := c.Modes[name], spec.Permissions(name)
		if !slices.Contains(order, p) {
			return nil, &KeyError{"modes." + name, "is no permission: use read_only, workspace_write, full_access or ask"}
		}
		only := map[spec.Permissions]Answer{spec.ReadOnly: Deny, spec.Ask: AskCaller}[p]
		if m.Answer == "" {
			if m.Answer = only; only == "" {
				m.Answer = Allow
			}
		}
		switch {
		case m.Answer != Deny && m.Answer != Allow && m.Answer != AskCaller:
			return nil, &KeyError{"modes." + name + ".answer", fmt.Sprintf("%q is not one of deny, allow, ask", m.Answer)}
		case only != "" && m.Answer != only, only == "" && m.Answer == AskCaller:
			return nil, &KeyError{"modes." + name + ".answer", fmt.Sprintf("%q is not what %s means", m.Answer, name)}
		case only != "" && m.ID == "":
			return nil, &KeyError{"modes." + name + ".mode", "is missing: the CLI's own mode may act without a question"}
		}
		modes[p] = m
	}
	return modes, nil
}
