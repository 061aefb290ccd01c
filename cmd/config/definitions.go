package config

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/spec"
)

// SavedAgents are the agents of the file and of ABX_AGENTS_CONFIG. The host gives
// them their ids.
func (c *Config) SavedAgents() []spec.Agent { return c.saved }

// blame notes a problem with one key of a definition.
type blame func(key, value, what, remedy string)

func (l *loader) definitions() {
	taken := map[string]bool{}
	for i := range l.cfg.Definitions {
		prefix := fmt.Sprintf("definitions[%d].", i)
		l.define(&l.cfg.Definitions[i], prefix+"workspace.path", taken, func(key, value, what, remedy string) {
			l.fault(prefix+key, value, what, remedy)
		})
	}
	for i := range l.cfg.reference {
		one := &l.cfg.reference[i]
		l.adopt(&one.Value, taken, func(key, value, what, remedy string) {
			l.problems.add(Problem{Source: l.cfg.referenceFile, Line: one.Line, Key: fmt.Sprintf("agents[%d].%s", i, key), Value: value, What: what, Remedy: remedy})
		})
	}
}

// define makes a saved agent of d, unless something is wrong with it.
// at is the key of its directory.
func (l *loader) define(d *Definition, at string, taken map[string]bool, wrong blame) {
	before := len(l.problems)
	a := spec.Agent{
		Name: d.Name, Model: d.Model, Instructions: d.Instructions,
		Env: d.Env, Permissions: spec.Permissions(d.Permissions), Workspace: l.directory(at, d.Workspace.Path),
		Limits: spec.Limits{
			TurnTimeout: d.Limits.TurnTimeout, IdleTimeout: d.Limits.IdleTimeout, MaxTurns: d.Limits.MaxTurns, MaxUSD: d.Limits.MaxBudgetUSD,
			MaxTokens: int64(d.Limits.MaxTokens), SessionTokens: int64(d.Limits.MaxSessionTokens), SessionUSD: d.Limits.MaxSessionUSD,
			CPU: time.Duration(d.Limits.MaxCPUSeconds) * time.Second, MemoryBytes: int64(d.Limits.MaxMemoryBytes),
			Processes: d.Limits.MaxProcesses, FileBytes: int64(d.Limits.MaxWrittenFileBytes), OpenFiles: d.Limits.MaxOpenFiles,
			OutputBytes: int64(d.Limits.MaxOutputBytes),
			Concurrency: d.Limits.Concurrency, TurnsPerMinute: d.Limits.TurnsPerMinute,
		},
	}
	a.Adapter = l.runtimeOf(d.Runtime, wrong)
	if a.Model == "" {
		a.Model = a.Adapter
	}
	switch {
	case d.Name == "" || spec.ValidAgentName(d.Name) != nil:
		wrong("name", d.Name, "is not an agent's name", "use 1 to 64 of A-Z a-z 0-9 . _ -")
	case l.cfg.Agents.Runtimes[d.Name] != nil || l.src.Aliases[d.Name] != "":
		wrong("name", d.Name, "is the name of an adapter", "choose another name")
	case taken[d.Name]:
		wrong("name", d.Name, "is used twice", "choose another name")
	}
	taken[d.Name] = true
	if d.Workspace.Path != "" && !absolute(a.Workspace) {
		wrong("workspace.path", d.Workspace.Path, "is not an absolute directory", "write it from / on, without ..")
	}
	if d.Workspace.Git != (Git{}) {
		wrong("workspace.git", "", "asks for a feature that is not built yet", "clone the repository into workspace.path yourself")
	}
	runtime := l.cfg.Agents.Runtimes[a.Adapter]
	switch {
	case runtime != nil && runtime.Adapter == "command" && d.Permissions != "" && !mayCommand(d.Permissions):
		wrong("permissions", d.Permissions, commandPermissions, "use workspace_write or full_access, or another runtime")
	case runtime != nil && runtime.Adapter == "acp" && d.Permissions != "" && !keeps(runtime, d.Permissions):
		wrong("permissions", d.Permissions, "is kept by no mode of that agent", "say at agents."+a.Adapter+".modes which mode keeps it, or use another runtime")
	case d.Permissions == "ask" && cannotAsk(a.Adapter, runtime):
		wrong("permissions", d.Permissions, needsAsking, askRemedy)
	}
	for _, name := range sortedKeys(d.Env) {
		if !mayBeSet(name) {
			wrong("env."+name, "", "cannot be set for a CLI", "remove it")
		}
	}
	a.SecretEnv = l.secrets(d.Secrets, d.Env, wrong)
	a.MCP = servers(d.MCPServers, wrong)
	a.LLM = l.provider(&d.LLM, wrong)
	if len(l.problems) == before {
		l.cfg.saved = append(l.cfg.saved, a)
	}
}

// provider is where an agent's own provider is, nil when it has none.
func (l *loader) provider(d *DefinitionLLM, wrong blame) *spec.LLM {
	if *d == (DefinitionLLM{}) {
		return nil
	}
	names := map[string]string{"llm.base_url_env": d.BaseURLEnv, "llm.api_key_env": d.APIKeyEnv}
	for _, at := range sortedKeys(names) {
		switch name := names[at]; {
		case name != "" && !variableName.MatchString(name):
			wrong(at, "", "is not the name of a variable", "put the value into a variable and name that one here")
		case name != "" && l.env[name] == "":
			wrong(at, "", "names a variable that is not set", "set it, or remove the key to use the adapter's")
		}
	}
	return &spec.LLM{BaseURLEnv: d.BaseURLEnv, APIKeyEnv: d.APIKeyEnv, WireAPI: d.WireAPI}
}

// runtimeOf resolves an adapter's name or alias.
func (l *loader) runtimeOf(name string, wrong blame) string {
	if name == "" && l.cfg.Agents.Default != "none" {
		return l.cfg.Agents.Default
	}
	if real := l.src.Aliases[name]; real != "" {
		name = real
	}
	if l.cfg.Agents.Runtimes[name] == nil {
		wrong("runtime", name, "is no adapter here", suggest(name, l.cfg.Agents.names()))
	}
	return name
}

// secrets keeps the names of the variables; a value written into the file has no
// place, because agents are stored.
func (l *loader) secrets(in, env map[string]string, wrong blame) map[string]string {
	var out map[string]string
	for _, name := range sortedKeys(in) {
		variable, ok := wholeVariable(in[name])
		switch {
		case !ok:
			wrong("secrets."+name, "", "is not one variable reference", "put the secret into a variable and write ${NAME}")
		case !mayBeSet(name):
			wrong("secrets."+name, "", "cannot be set for a CLI", "remove it")
		case env[name] != "":
			wrong("secrets."+name, "", "is in env too", "keep one of both")
		default:
			if out == nil {
				out = map[string]string{}
			}
			out[name] = variable
		}
	}
	return out
}

func servers(in map[string]MCPServer, wrong blame) map[string]spec.MCPServer {
	var out map[string]spec.MCPServer
	for _, name := range sortedKeys(in) {
		s := in[name]
		key := "mcp_servers." + name
		switch {
		case spec.ValidServerName(name) != nil:
			wrong(key, "", "is not a server's name", "use 1 to 40 of A-Z a-z 0-9 _ -")
		case (s.URL == "") == (s.Command == ""):
			wrong(key, "", "needs either url or command", "keep one of both")
		case s.URL != "" && !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://"):
			wrong(key+".url", s.URL, "is not an http or https URL", "write https://HOST/PATH")
		}
		for _, m := range []map[string]string{s.Headers, s.Env} {
			for _, k := range sortedKeys(m) {
				if strings.Contains(m[k], ":-") && strings.Contains(m[k], "${") {
					wrong(key+"."+k, "", "has a default inside ${}", "write ${NAME} and set that variable")
				}
			}
		}
		if out == nil {
			out = map[string]spec.MCPServer{}
		}
		out[name] = spec.MCPServer{URL: s.URL, Headers: s.Headers, Command: s.Command, Args: s.Args, Env: s.Env}
	}
	return out
}

// adopt makes a saved agent of one of the reference shape.
func (l *loader) adopt(r *referenceAgent, taken map[string]bool, wrong blame) {
	before := len(l.problems)
	if r.Runtime == "command" || r.Runtime == "custom" {
		l.adoptCommand(r, wrong)
	} else {
		runtime := "agents." + r.Runtime
		if r.Provider != (referenceProvider{}) {
			wrong("provider", "", "a provider belongs to the adapter here", "set "+runtime+".llm in agenthost.yaml and remove it")
		}
		if len(r.ExtraArgs) > 0 {
			wrong("extra_args", "", "arguments belong to the adapter here", "set "+runtime+".extra_args in agenthost.yaml and remove it")
		}
		if r.Command.Argv != nil {
			wrong("command", "", "belongs to runtime: command", "remove it")
		}
	}
	d := Definition{
		Name: r.Name, Runtime: r.Runtime, Model: r.Model, Instructions: r.Instructions, Env: r.Env, Secrets: r.Secrets,
		MCPServers: r.MCPServers, Permissions: strings.ReplaceAll(r.Permissions, "-", "_"),
		Workspace: Workspace{Path: r.Workspace.Path, Git: Git{URL: r.Workspace.Git.URL, Ref: r.Workspace.Git.Ref, Token: r.Workspace.Git.Token}},
		Limits: DefinitionLimits{
			TurnTimeout: r.Limits.TurnTimeoutS.duration(), IdleTimeout: r.Limits.IdleTimeoutS.duration(),
			MaxTurns: r.Limits.MaxTurns, MaxBudgetUSD: r.Limits.MaxBudgetUSD,
			MaxOutputBytes: r.Limits.MaxOutputBytes, MaxCPUSeconds: int(math.Ceil(min(r.Limits.CPUSeconds, math.MaxInt32))),
		},
	}
	l.define(&d, "", taken, wrong)
	if len(l.problems) == before {
		a := &l.cfg.saved[len(l.cfg.saved)-1]
		a.Reasoning.Effort = r.Effort
		if r.Description != "" {
			a.Metadata = map[string]string{"description": r.Description}
		}
	}
}

// commandKeys are the names that the keys of a declared adapter have in the reference
// shape.
var commandKeys = strings.NewReplacer("resume.argv", "command.resume_argv", "output.format", "command.parser", "command", "command.argv", "prompt", "command.prompt", "binary", "command.binary")

// adoptCommand makes an adapter of the command of an agent, and gives the agent that
// one: a command is the agent's own there.
func (l *loader) adoptCommand(r *referenceAgent, wrong blame) {
	if r.Provider != (referenceProvider{}) {
		wrong("provider", "", "a command is told of its provider by variables", "write them into env and secrets of this agent, under the names that the program reads")
	}
	run := defaultRuntime(r.Command.Binary)
	run.Adapter, run.ExtraArgs = "command", r.ExtraArgs
	run.Command, run.Prompt, run.Resume.Argv = r.Command.Argv, r.Command.Prompt, r.Command.ResumeArgv
	if r.Command.Parser != "" {
		run.Output.Format = r.Command.Parser
	}
	name := l.commandName(r.Name)
	l.checkCommand(name, run, func(key, value, what, remedy string) {
		if key = commandKeys.Replace(key); key == "" {
			key = "command"
		}
		wrong(key, value, what, remedy)
	})
	if r.Model != "" && !strings.Contains(strings.Join(run.Command, "\x00"), "{model}") {
		wrong("model", r.Model, "has no place in command.argv", "put {model} there, or remove it")
	}
	l.cfg.Agents.Runtimes[name] = run
	r.Runtime = name
}

// commandName is the name of the adapter of an agent's command, which no other has.
func (l *loader) commandName(agent string) string {
	name := "command-" + strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(agent))
	name = name[:min(len(name), 36)]
	for n, first := 2, name; l.cfg.Agents.Runtimes[name] != nil; n++ {
		name = fmt.Sprintf("%s-%d", first, n)
	}
	return name
}

// seconds is a time as the reference shape writes it.
type seconds float64

func (s seconds) duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// mayBeSet reports whether a configured agent may set a variable of its CLI.
func mayBeSet(name string) bool {
	for _, p := range []string{"LD_", "DYLD_", "AGENTHOST_", "ABX_SERVER_"} {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	return variableName.MatchString(name)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
