package main

import (
	"fmt"
	"slices"
	"sort"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/acp"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/adapters/command"
	"github.com/agenthost/agenthost/adapters/cursor"
	"github.com/agenthost/agenthost/adapters/gemini"
	"github.com/agenthost/agenthost/adapters/opencode"
	"github.com/agenthost/agenthost/adapters/qwen"
	"github.com/agenthost/agenthost/cmd/config"
)

// builtIn is the one list of adapters that need no declaration.
var builtIn = []builtInAdapter{
	{
		adapter: &codex.Adapter{}, pinned: codex.Pinned,
		install: []string{"npm", "install", "-g", "@openai/codex@" + codex.Pinned},
		keys:    []string{"CODEX_API_KEY", "OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL"},
		signedIn: []string{"CODEX_HOME", ".codex", "auth.json"}, signIn: "run: codex login",
	},
	{
		adapter: &claudecode.Adapter{}, pinned: claudecode.Pinned,
		install: []string{"npm", "install", "-g", "@anthropic-ai/claude-code@" + claudecode.Pinned},
		keys:    []string{"ANTHROPIC_API_KEY"}, urls: []string{"ANTHROPIC_BASE_URL"},
		passed:   []string{"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL"},
		tokens:   []string{"ANTHROPIC_AUTH_TOKEN"},
		signedIn: []string{"CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"}, signIn: "run: claude, then /login",
	},
	{
		adapter: &qwen.Adapter{}, pinned: qwen.Pinned,
		install: []string{"npm", "install", "-g", "@qwen-code/qwen-code@" + qwen.Pinned},
		keys:    []string{"OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL"},
		passed:   []string{"OPENAI_MODEL"},
		signedIn: []string{"QWEN_HOME", ".qwen", "oauth_creds.json"}, signIn: "run: qwen, then /auth",
	},
	{
		adapter: &cursor.Adapter{}, pinned: cursor.Documented,
		byHand:   "install the Cursor CLI with its vendor's installer",
		signedIn: []string{"CURSOR_CONFIG_DIR", ".cursor", "cli-config.json"}, signIn: "run: cursor-agent login",
	},
	{
		adapter: opencode.New(), pinned: opencode.Pinned,
		install: []string{"npm", "install", "-g", "opencode-ai@" + opencode.Pinned},
		keys:    []string{"OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL"},
		signedIn: []string{"XDG_DATA_HOME", ".local/share", "opencode/auth.json"}, signIn: "run: opencode auth login",
	},
	{
		adapter: gemini.New(), pinned: gemini.Pinned,
		install:  []string{"npm", "install", "-g", "@google/gemini-cli@" + gemini.Pinned},
		signedIn: []string{"GEMINI_CLI_HOME", "", ".gemini/oauth_creds.json"}, signIn: "run: gemini, then /auth",
	},
}

// builtInAdapter is an adapter with what a person needs to know about its CLI.
type builtInAdapter struct {
	adapter agent.Adapter
	pinned  string   // version that its facts were taken from
	install []string // command that installs it without this program
	byHand  string   // what to do where no command does
	// keys and urls are the CLI's own variables, the last fallback of its provider;
	// passed are further ones that it may see.
	// tokens are those among them that let in like a key.
	keys, urls, passed, tokens []string
	// signedIn is the variable of its home, its home's name and the file in it that
	// a sign-in leaves.
	signedIn []string
	signIn   string
}

// own finds what is known about the CLI of an adapter; nil for a declared one.
func own(name string) *builtInAdapter {
	for i := range builtIn {
		if builtIn[i].adapter.Name() == name {
			return &builtIn[i]
		}
	}
	return nil
}

// aliases are the other names of the built-in adapters.
func aliases() map[string]string {
	out := map[string]string{}
	for _, b := range builtIn {
		for _, alias := range b.adapter.Aliases() {
			out[alias] = b.adapter.Name()
		}
	}
	return out
}

// mount makes the runtimes of the configuration: the built-in ones in their order,
// then the declared ones by name. local says that the host serves only this
// machine, or one person's terminal.
func mount(cfg *config.Config, local bool) ([]actors.RuntimeConfig, error) {
	var out []actors.RuntimeConfig
	var list []agent.Adapter
	add := func(a agent.Adapter, r *config.Runtime) {
		list = append(list, a)
		out = append(out, runtimeConfig(a, r, local))
	}
	for _, b := range builtIn {
		r := cfg.Agents.Runtimes[b.adapter.Name()]
		if r == nil {
			continue
		}
		add(b.adapter, r)
		last := &out[len(out)-1]
		var err error
		if last.Manifests, err = adapters.Manifests(b.adapter.Name()); err != nil {
			return nil, err
		}
		last.AutoInstall = r.AutoInstall && cfg.AllowInstall
	}
	var names []string
	for name, r := range cfg.Agents.Runtimes {
		if r.Adapter == "command" || r.Adapter == "acp" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		a, err := declared(name, cfg.Agents.Runtimes[name])
		if err != nil {
			return nil, fmt.Errorf("agents.%s: %w", name, err)
		}
		add(a, cfg.Agents.Runtimes[name])
	}
	if _, err := adapters.NewSet(list...); err != nil {
		return nil, err
	}
	return out, nil
}

// declared is an adapter of the configuration's own.
func declared(name string, r *config.Runtime) (agent.Adapter, error) {
	if r.Adapter == "acp" {
		return acp.Declare(name, r.DeclaredACP())
	}
	return command.New(name, r.Declared())
}

func runtimeConfig(a agent.Adapter, r *config.Runtime, local bool) actors.RuntimeConfig {
	llm := agent.LLM{WireAPI: r.LLM.WireAPI}
	urls, keys := []string{r.LLMEnv.BaseURL}, []string{r.LLMEnv.APIKey}
	var vendor []string
	passed := r.PassthroughEnv
	if b := own(a.Name()); b != nil {
		urls, keys = b.urls, b.keys
		vendor = b.passed
		if r.LLM.Relay { // another credential would be a way around it
			other := func(name string) bool { return slices.Contains(b.tokens, name) || slices.Contains(b.keys, name) }
			vendor, passed = slices.DeleteFunc(slices.Clone(vendor), other), slices.DeleteFunc(slices.Clone(passed), other)
		}
	}
	// A CLI that knows one provider only is not told of the host's; one that was named
	// for it alone, it refuses itself.
	if a.Capabilities().BaseURL || r.LLM.BaseURLEnv != config.DefaultBaseURLEnv {
		llm.BaseURL = provided(r.LLM.BaseURLEnv, config.DefaultBaseURLEnv, urls)
	}
	llm.APIKey = provided(r.LLM.APIKeyEnv, config.DefaultAPIKeyEnv, keys)
	out := actors.RuntimeConfig{
		Adapter: a, Binary: r.Binary, Driver: actors.Driver(r.Driver), Home: actors.HomePrivate, Permissions: spec.Permissions(r.Permissions), OnBusy: spec.OnBusy(r.OnBusy),
		Strict: r.PermissionsStrict, Sandboxed: r.Sandboxed, LLM: llm, Relay: r.LLM.Relay, Passthrough: passed, Vendor: vendor, Declared: own(a.Name()) == nil, ExtraArgs: r.ExtraArgs,
		Proof: adapters.ProofOf(a.Name()), Remedy: remedy(a.Name(), r.Binary),
	}
	level, required := r.Isolation.Levels()
	out.Isolation = actors.Isolation{Level: level, Required: required, Read: r.Isolation.Read, Write: r.Isolation.Write}
	for _, port := range r.Isolation.Ports {
		out.Isolation.Ports = append(out.Isolation.Ports, uint16(port))
	}
	// The person's own sign-in is used where only that person can ask, and where no
	// key was given to be used instead.
	if r.Home == "inherit" || r.Home == "auto" && local && llm.APIKey == "" && !r.Isolation.OwnHome() {
		out.Home = actors.HomeInherit
	}
	return out
}

// provided is the value of the variable that the configuration names. Only the
// usual one may be replaced by the CLI's own: a person who names another wants
// that provider and no other.
func provided(named, usual string, own []string) string {
	if named != "" && named != usual {
		return env(named)
	}
	return or(env(usual), first(own...))
}

// first is the value of the first of these variables that is set.
func first(names ...string) string {
	for _, name := range names {
		if v := env(name); v != "" {
			return v
		}
	}
	return ""
}
