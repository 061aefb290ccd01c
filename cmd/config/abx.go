package config

import (
	"os"
	"reflect"
	"strings"
)

// abxScalars are the names of existing deployments that set one of our keys.
var abxScalars = map[string]string{
	"ABX_AGENTS_STATE_DIR":            "state_dir",
	"ABX_TOOLS_DIR":                   "tools_dir",
	"ABX_AGENTS_MAX_CONCURRENT_TURNS": "limits.max_concurrent_turns",
	"ABX_AGENTS_RESPONSES_WORKSPACE":  "environments.workspace",
	"ABX_AGENTS_DEFAULT":              "agents.default",
}

// abxUnbuilt are names whose feature is not built yet, with the value that asks
// for nothing beyond what is there.
var abxUnbuilt = map[string]string{
	"ABX_AGENTS_MAX_VAULTS":         "100",
	"ABX_AGENTS_WEBHOOK_ALLOW_HTTP": "0",
	"ABX_AGENTS_TRACES":             "0",
}

// abxRead are names read elsewhere: by the code below, or as the provider's
// variables.
var abxRead = []string{
	"ABX_SERVER_TOKEN", "ABX_SERVER_ENABLED_GROUPS", "ABX_AGENTS_PERSIST", "ABX_AGENTS_CONFIG",
	"ABX_AGENTS_LOCK_DEFINITIONS", "ABX_AGENTS_ALLOW_COMMAND", "ABX_AGENTS_PASSTHROUGH_ENV",
	"ABX_LLM_BASE_URL", "ABX_LLM_API_KEY", "ABX_AGENTS_MAX_FILE_BYTES", "ABX_AGENTS_MAX_ARTIFACT_BYTES",
	"ABX_AGENTS_ALLOW_PRIVATE_URLS", "ABX_AGENTS_ALLOW_INSTALL", "ABX_SERVER_POLICY", "ABX_SERVER_POLICY_FILE",
}

// abxElsewhere are names of a server that can run beside us.
var abxElsewhere = []string{"ABX_SERVER_BASE_DIR", "ABX_PTY_PORT", "ABX_AGENTS_ADAPTER_MODULES"}

// otherGroups are the groups of that server.
var otherGroups = []string{"core", "commands", "file_ops", "process", "terminal", "system", "dev_tools", "browser"}

// minToken is the fewest characters of a token.
const minToken = 16

func (l *loader) abx() {
	for _, s := range l.cfg.Scalars() {
		for name, key := range abxScalars {
			if raw := l.env[name]; key == s.Key && raw != "" {
				l.set(s, raw, "variable "+name)
			}
		}
	}
	for _, name := range sortedKeys(abxUnbuilt) {
		if raw := l.env[name]; raw != "" && raw != abxUnbuilt[name] {
			l.problems.add(Problem{Source: "variable " + name, What: "asks for a feature that is not built yet", Remedy: "unset it"})
		}
	}
	l.abxPolicy()
	l.abxToken()
	l.abxGroups()
	l.abxSwitch("ABX_AGENTS_PERSIST", func(on bool) {
		if l.cfg.Ephemeral = !on; !on {
			l.warn("variable ABX_AGENTS_PERSIST: sessions are kept in memory and end with the server")
		}
	})
	l.abxSwitch("ABX_AGENTS_LOCK_DEFINITIONS", func(on bool) { l.cfg.LockDefinitions = on })
	l.abxSwitch("ABX_AGENTS_ALLOW_PRIVATE_URLS", func(on bool) { l.cfg.PrivateURLs = on })
	l.abxSwitch("ABX_AGENTS_ALLOW_INSTALL", func(on bool) { l.cfg.AllowInstall = on })
	l.abxSwitch("ABX_AGENTS_ALLOW_COMMAND", func(on bool) { l.cfg.allowCommand = on })
	for _, name := range splitList(l.env["ABX_AGENTS_PASSTHROUGH_ENV"]) {
		for key, r := range l.cfg.Agents.Runtimes {
			r.PassthroughEnv = append(r.PassthroughEnv, name)
			l.origins["agents."+key+".passthrough_env"] = origin{source: "variable ABX_AGENTS_PASSTHROUGH_ENV"}
		}
	}
	l.abxSize("ABX_AGENTS_MAX_FILE_BYTES", &l.cfg.Limits.MaxFileBytes)
	l.abxSize("ABX_AGENTS_MAX_ARTIFACT_BYTES", &l.cfg.Limits.MaxArtifactBytes)
	l.abxAgents()
	l.abxUnknown()
}

func (l *loader) abxToken() {
	token := l.env["ABX_SERVER_TOKEN"]
	if token == "" {
		return
	}
	for _, t := range l.cfg.Auth.Tokens {
		if t.TokenEnv == "ABX_SERVER_TOKEN" { // the file gives it an id of its own
			return
		}
	}
	if len(token) < minToken {
		l.warn("variable ABX_SERVER_TOKEN: SHORTER THAN 16 CHARACTERS AND EASY TO GUESS; set a longer one, such as the output of: openssl rand -hex 32")
	}
	l.cfg.Auth.Tokens = append(l.cfg.Auth.Tokens, Token{ID: "server", Roles: []string{"admin"}, TokenEnv: "ABX_SERVER_TOKEN", Value: token})
	l.origins[tokenKey(len(l.cfg.Auth.Tokens)-1)] = origin{source: "variable ABX_SERVER_TOKEN"}
}

func (l *loader) abxGroups() {
	const name = "ABX_SERVER_ENABLED_GROUPS"
	raw, ok := l.env[name]
	if !ok {
		return
	}
	l.cfg.Groups = []string{}
	l.origins["groups"] = origin{source: "variable " + name}
	for _, group := range splitList(raw) {
		switch {
		case group == "agents":
			l.cfg.Groups = append(l.cfg.Groups, group)
		case contains(otherGroups, group):
			l.warn("variable " + name + ": the group " + group + " is not served here; the server that has it can run beside this one")
		default:
			l.problems.add(Problem{Source: "variable " + name, Value: group, What: "is no group", Remedy: suggest(group, append([]string{"agents"}, otherGroups...))})
		}
	}
	if len(l.cfg.Groups) == 0 {
		l.warn("variable " + name + ": the group agents is not in it, so every route of it answers 404")
	}
}

func (l *loader) abxSwitch(name string, apply func(bool)) {
	switch strings.ToLower(l.env[name]) {
	case "":
	case "1", "true", "yes", "on":
		apply(true)
	case "0", "false", "no", "off":
		apply(false)
	default:
		l.problems.add(Problem{Source: "variable " + name, Value: l.env[name], What: "is not 0 or 1", Remedy: "write 0 or 1"})
	}
}

// abxSize reads a bound in bytes.
func (l *loader) abxSize(name string, size *Size) {
	raw := l.env[name]
	if raw == "" {
		return
	}
	n, ok := ParseSize(raw)
	if !ok || n < 1 {
		l.problems.add(Problem{Source: "variable " + name, Value: raw, What: "is no size", Remedy: "write a number of bytes, such as 10485760"})
		return
	}
	*size = n
}

// abxAgents reads the agents file of existing deployments.
func (l *loader) abxAgents() {
	path := l.env["ABX_AGENTS_CONFIG"]
	if path == "" {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		l.problems.add(unreadable("variable ABX_AGENTS_CONFIG", path, err))
		return
	}
	d := &decoder{file: path, env: l.lookup, origins: map[string]origin{}}
	var file referenceFile
	d.reference(data, &file)
	l.problems = append(l.problems, d.problems...)
	if file.Default != "" && l.env["ABX_AGENTS_DEFAULT"] == "" {
		l.cfg.Agents.Default = file.Default
		l.origins["agents.default"] = d.origins["default"]
	}
	l.cfg.reference, l.cfg.referenceFile = file.Agents, path
}

func (l *loader) abxUnknown() {
	known := append([]string(nil), abxRead...)
	for name := range abxScalars {
		known = append(known, name)
	}
	for name := range abxUnbuilt {
		known = append(known, name)
	}
	for name := range l.env {
		switch {
		case !strings.HasPrefix(name, "ABX_") || contains(known, name) || l.named(name):
		case contains(abxElsewhere, name):
			l.warn("variable " + name + ": belongs to routes that are not served here")
		default:
			l.warn("variable " + name + ": unknown; " + suggestShort(name, known))
		}
	}
}

// named says that the configuration names the variable.
func (l *loader) named(name string) bool {
	for _, t := range l.cfg.Auth.Tokens {
		if t.TokenEnv == name {
			return true
		}
	}
	for _, r := range l.cfg.Agents.Runtimes {
		if r.LLM.APIKeyEnv == name || r.LLM.BaseURLEnv == name || contains(r.PassthroughEnv, name) {
			return true
		}
	}
	return false
}

func splitList(text string) []string {
	var out []string
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return out
}

// structOf is the settable value behind p.
func structOf(p any) reflect.Value { return reflect.ValueOf(p).Elem() }
