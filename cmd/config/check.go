package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/acp"
	"github.com/agenthost/agenthost/adapters/command"
)

var (
	adapterName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	tokenID     = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
)

func tokenKey(i int) string { return fmt.Sprintf("auth.tokens[%d]", i) }

// check judges the settings as a whole, after every source has been read.
func (l *loader) check() {
	c := l.cfg
	c.StateDir, c.ToolsDir = l.directory("state_dir", c.StateDir), l.directory("tools_dir", c.ToolsDir)
	c.Environments.Workspace = l.directory("environments.workspace", c.Environments.Workspace)
	if c.StateDir == "" {
		l.fault("state_dir", "", "is empty", "name a directory; a relative one in a file counts from the directory of that file")
	}
	c.Audit.File = l.directory("audit.file", c.Audit.File)
	l.checkTokens()
	l.checkListen()
	l.checkWeb()
	l.checkRuntimes()
	l.checkDefault()
	l.checkCallerMCP()
	l.checkUnbuilt()
	if c.Limits.MaxFileBytes > c.Limits.MaxBodyBytes {
		l.warn("limits.max_file_bytes: an upload also has to fit into a request; raise limits.max_body_bytes above it")
	}
	l.definitions()
	l.checkPolicy()
}

// roles are those that the server knows; only the first two may do anything as
// long as there is no policy.
var roles = []string{"admin", "dev", "observer"}

// checkRoles warns of a token that lets nobody do anything.
func (l *loader) checkRoles(t *Token, key string) {
	idle := true
	for j, r := range t.Roles {
		at := fmt.Sprintf("%s.roles[%d]", key, j)
		switch {
		case r == "":
			l.fault(at, "", "is empty", "name a role, such as dev or admin")
			idle = false
		case !contains(roles, r):
			l.doubt(at, r, "is not one of "+strings.Join(roles, ", ")+"; without a policy this role may do nothing", didYouMean(r, roles))
			idle = false
		case r != "observer":
			idle = false
		}
	}
	if idle {
		l.doubt(key, "", "has neither the role dev nor admin; without a policy it may do nothing", "add one of them to roles")
	}
}

func (l *loader) checkListen() {
	host, port, err := net.SplitHostPort(l.cfg.Listen)
	if err != nil {
		l.fault("listen", l.cfg.Listen, "is not an address", "write HOST:PORT, such as 127.0.0.1:9000 or [::1]:9000")
		return
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		l.fault("listen", l.cfg.Listen, "has no port from 0 to 65535", "write HOST:PORT, such as 127.0.0.1:9000")
		return
	}
	if len(l.cfg.Auth.Tokens) == 0 && !l.cfg.Auth.AllowAnonymous && !Loopback(host) {
		l.fault("listen", l.cfg.Listen, "is reachable from other machines and no token is set",
			"set ABX_SERVER_TOKEN or auth.tokens; or, behind a gateway that guards it, auth.allow_anonymous: true")
	}
}

// Loopback reports whether host names this machine only.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (l *loader) checkCallerMCP() {
	for i, host := range l.cfg.Agents.CallerMCP {
		if !spec.ValidHostPattern(host) {
			l.fault(fmt.Sprintf("agents.caller_mcp[%d]", i), host, "is not a host", "write a name such as mcp.example.com, *.example.com for all below it, or * for all; without scheme, port and path")
		}
	}
}

// names are the adapters of the configuration, sorted.
func (a *Agents) names() []string {
	names := make([]string, 0, len(a.Runtimes))
	for name := range a.Runtimes {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (l *loader) checkRuntimes() {
	for _, name := range l.cfg.Agents.names() {
		r, key := l.cfg.Agents.Runtimes[name], "agents."+name
		switch {
		case contains(BuiltIn, name):
			if r.Adapter != "" && r.Adapter != name {
				l.fault(key+".adapter", r.Adapter, "cannot replace a built-in adapter", "choose another name for it")
			}
			l.refuseCommandKeys(key)
		case r.Adapter == "acp":
			l.refuseKeys(key, "belongs to adapter: command only", "prompt", "output", "jsonl", "resume", "exit")
			l.checkACP(name, r, l.blames(key))
		case r.Adapter != "command":
			remedy := "an adapter of your own needs adapter: command, or acp if it speaks that protocol"
			if r.Adapter != "" {
				l.fault(key+".adapter", r.Adapter, "is no kind of adapter", strings.TrimPrefix(didYouMean(r.Adapter, []string{"command", "acp"})+" "+remedy, " "))
				continue
			}
			if n := nearest(name, append([]string{"default"}, BuiltIn...)); n != "" {
				remedy = fmt.Sprintf("did you mean %q? %s", n, remedy)
			}
			l.fault(key, "", "no such adapter", remedy)
			continue
		default:
			l.refuseKeys(key, "belongs to adapter: acp only", "modes", "auth_method")
			l.checkCommand(name, r, l.blames(key))
		}
		for i, v := range r.PassthroughEnv {
			if !variableName.MatchString(v) || strings.HasPrefix(v, "LD_") || strings.HasPrefix(v, "DYLD_") ||
				strings.HasPrefix(v, "AGENTHOST_") || strings.HasPrefix(v, "ABX_SERVER_") {
				l.fault(fmt.Sprintf("%s.passthrough_env[%d]", key, i), v, "cannot be passed to a CLI", "name a variable other than LD_*, DYLD_*, AGENTHOST_* and ABX_SERVER_*")
			}
		}
		names := map[string]string{".llm.api_key_env": r.LLM.APIKeyEnv, ".llm.base_url_env": r.LLM.BaseURLEnv}
		for _, at := range sortedKeys(names) {
			if names[at] != "" && !variableName.MatchString(names[at]) {
				l.fault(key+at, "", "is not the name of a variable", "put the value into a variable and name that one here")
			}
		}
		l.checkIsolation(key, r)
		l.checkProvider(name, r)
		l.checkInstall(name, r)
	}
}

// checkInstall refuses an installation that could never be made.
func (l *loader) checkInstall(name string, r *Runtime) {
	if !r.AutoInstall {
		return
	}
	key := "agents." + name + ".auto_install"
	if list, err := adapters.Manifests(name); err != nil || len(list) == 0 || r.Adapter == "command" {
		l.fault(key, "true", "asks for a CLI that this program cannot install", "install it by hand and remove this key")
		return
	}
	if !l.cfg.AllowInstall {
		l.fault(key, "true", "asks for installing, which is off", "set ABX_AGENTS_ALLOW_INSTALL=1, or install it once with: agenthost install "+name)
	}
}

// blames says what is wrong below a key of the file.
func (l *loader) blames(key string) blame {
	return func(at, value, what, remedy string) {
		l.fault(strings.TrimSuffix(key+"."+at, "."), value, what, remedy)
	}
}

// checkProvider warns of variables of the configuration's own that are not there:
// nothing is taken in their place.
func (l *loader) checkProvider(name string, r *Runtime) {
	if r.LLM.Relay && (name == "cursor" || r.Adapter != "" && (r.LLMEnv.BaseURL == "" || r.LLMEnv.APIKey == "")) {
		l.fault("agents."+name+".llm.relay", "true", "is for a CLI that can be told another address of its provider and a key", "remove it, or name the variables in llm_env.base_url and llm_env.api_key")
	}
	own := LLM{BaseURLEnv: DefaultBaseURLEnv, APIKeyEnv: DefaultAPIKeyEnv}
	if d := Default(l.src.Home, l.src.Root).Agents.Runtimes[name]; d != nil {
		own = d.LLM
	}
	for _, v := range []struct{ key, name, own, usual string }{
		{"base_url_env", r.LLM.BaseURLEnv, own.BaseURLEnv, DefaultBaseURLEnv}, {"api_key_env", r.LLM.APIKeyEnv, own.APIKeyEnv, DefaultAPIKeyEnv},
	} {
		if v.name != "" && v.name != v.usual && v.name != v.own && variableName.MatchString(v.name) && l.env[v.name] == "" {
			shown := v.name
			if shown != strings.ToUpper(shown) {
				shown = "" // it may be the key itself
			}
			l.doubt("agents."+name+".llm."+v.key, shown, "is not set", "set that variable; "+v.usual+" is not used in its place")
		}
	}
}

// refuseCommandKeys names keys of adapter: command on a built-in adapter.
func (l *loader) refuseCommandKeys(key string) {
	l.refuseKeys(key, "belongs to an adapter of one's own only", "command", "prompt", "output", "jsonl", "resume", "exit", "llm_env", "modes", "auth_method")
}

func (l *loader) refuseKeys(key, why string, keys ...string) {
	for _, k := range keys {
		if _, given := l.origins[key+"."+k]; given {
			l.fault(key+"."+k, "", why, "remove it")
		}
	}
}

// checkOwn checks what all adapters of one's own have.
func (l *loader) checkOwn(name string, r *Runtime, wrong blame) {
	if !adapterName.MatchString(name) || contains([]string{"none", "command", "acp", "imported"}, name) || l.src.Aliases[name] != "" {
		wrong("", "", "cannot be an adapter's name", "use 1 to 40 of a-z 0-9 -, not none, command, acp, imported or another adapter's alias")
	}
	if ids := l.nounOf(name); ids != "" {
		wrong("", "", "cannot be an adapter's name: policies call other operations "+ids, "choose another name")
	}
	if !l.cfg.allowCommand {
		wrong("", "", "ABX_AGENTS_ALLOW_COMMAND=0 forbids adapters of one's own", "remove it, or unset that variable")
	}
	if b := r.Binary; strings.Contains(b, "/") && !filepath.IsAbs(b) {
		wrong("binary", b, "is neither a name nor an absolute path", "write a name in tools_dir or PATH, or a path from / on")
	}
}

// nounOf is how the operations look that have name where those of an adapter have the
// adapter's, "" when there are none: a statement about one would be about the others.
func (l *loader) nounOf(name string) string {
	ids := "agents." + name + "."
	for _, o := range l.src.Operations {
		if strings.HasPrefix(o.ID, ids) {
			return ids + "*"
		}
	}
	return ""
}

// checkCommand judges a declared adapter, whichever file declares it.
func (l *loader) checkCommand(name string, r *Runtime, wrong blame) {
	l.checkOwn(name, r, wrong)
	if r.Prompt == "" {
		r.Prompt = "stdin"
		if strings.Contains(strings.Join(r.Command, "\x00"), "{prompt}") {
			r.Prompt = "argv"
		}
	}
	// The adapter knows its own rules.
	if _, err := command.New(name, r.Declared()); err != nil {
		keys := command.KeyErrors(err)
		for _, k := range keys {
			wrong(k.Key, "", k.Problem, "")
		}
		if keys == nil {
			wrong("", "", err.Error(), "")
		}
	}
	if !mayCommand(r.Permissions) {
		wrong("permissions", r.Permissions, commandPermissions, "use workspace_write or full_access, or confine the program by what starts it")
	}
}

// checkACP checks an agent that speaks the Agent Client Protocol.
func (l *loader) checkACP(name string, r *Runtime, wrong blame) {
	l.checkOwn(name, r, wrong)
	if _, err := acp.Declare(name, r.DeclaredACP()); err != nil {
		if at := (*acp.KeyError)(nil); errors.As(err, &at) {
			wrong(at.Key, "", at.Problem, "")
		} else {
			wrong("", "", err.Error(), "")
		}
		return
	}
	if !keeps(r, r.Permissions) {
		wrong("permissions", r.Permissions, "is kept by no mode", fmt.Sprintf("say at agents.%s.modes.%s which mode of the agent keeps it", name, r.Permissions))
	}
}

// keeps says that a declared ACP agent has a mode for the permissions.
func keeps(r *Runtime, permissions string) bool {
	_, has := r.Modes[permissions]
	return has || mayCommand(permissions)
}

// commandPermissions says why a command cannot be held to fewer permissions.
const commandPermissions = "cannot be enforced on a command"

// mayCommand says that a command adapter takes the permissions.
func mayCommand(permissions string) bool {
	return permissions == "workspace_write" || permissions == "full_access"
}

func (l *loader) checkDefault() {
	name := l.cfg.Agents.Default
	if name == "" {
		name = "none"
	}
	if real := l.src.Aliases[name]; real != "" {
		name = real
	}
	if l.cfg.Agents.Runtimes[name] == nil && name != "none" {
		l.fault("agents.default", name, "is no adapter here", suggest(name, append(l.cfg.Agents.names(), "none")))
	}
	l.cfg.Agents.Default = name
}

// persistent are the adapters with a driver that serves many turns from one process;
// noExec those that have no other.
var (
	persistent = []string{"codex", "claude-code", "qwen-code", "cursor", "opencode", "gemini", "acp"}
	noExec     = []string{"opencode", "gemini", "acp"}
)

// checkUnbuilt refuses settings whose feature does not exist yet, so that nobody
// believes they are protected by them.
func (l *loader) checkUnbuilt() {
	c := l.cfg
	unbuilt := func(key, value, remedy string) {
		l.fault(key, value, "asks for a feature that is not built yet", remedy)
	}
	if c.Store.Kind == "postgres" {
		unbuilt("store.kind", c.Store.Kind, "use embedded")
	}
	if c.Environments.Hosted == "docker" {
		unbuilt("environments.hosted", c.Environments.Hosted, "use local or off")
	}
	for _, name := range c.Agents.names() {
		r, key := c.Agents.Runtimes[name], "agents."+name
		adapter := r.Adapter
		if adapter == "" {
			adapter = name
		}
		if r.LLM.WireAPI == "chat" && name == "codex" {
			l.fault(key+".llm.wire_api", r.LLM.WireAPI, "is no wire that Codex speaks", "use responses")
		}
		if r.Driver == "persistent" && !contains(persistent, adapter) {
			l.fault(key+".driver", r.Driver, "is no driver of adapter "+adapter, "use auto or exec")
		}
		if r.Driver == "exec" && contains(noExec, adapter) {
			l.fault(key+".driver", r.Driver, "is no driver of adapter "+adapter, "use auto or persistent")
		}
		if r.Permissions == "ask" && cannotAsk(name, r) {
			l.fault(key+".permissions", r.Permissions, needsAsking, askRemedy)
		}
	}
}

// cannotAsk says that a built-in adapter has no way to ask for permission.
func cannotAsk(name string, r *Runtime) bool {
	switch name {
	case "claude-code", "opencode", "gemini":
		return false
	case "codex", "qwen-code":
		return r == nil || r.Driver != "persistent"
	}
	return contains(BuiltIn, name)
}

const (
	needsAsking = "needs a CLI that can ask"
	askRemedy   = "use read_only, workspace_write or full_access; claude-code, opencode and gemini can ask, and codex and qwen-code with driver: persistent"
)

// absolute reports whether an agent can work in path.
func absolute(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == strings.TrimSuffix(path, "/") || path == "/"
}

// DeclaredACP is the runtime as the adapter of the Agent Client Protocol takes it.
func (r *Runtime) DeclaredACP() acp.Config {
	c := acp.Config{Command: r.Command, Env: acp.Env{APIKey: r.LLMEnv.APIKey, BaseURL: r.LLMEnv.BaseURL, Model: r.LLMEnv.Model}, Auth: r.Auth}
	if len(r.Modes) > 0 {
		c.Modes = make(map[string]acp.Mode, len(r.Modes))
		for name, m := range r.Modes {
			c.Modes[name] = acp.Mode{ID: m.ID, Answer: acp.Answer(m.Answer)}
		}
	}
	return c
}

// Declared is the runtime as the declarative adapter takes it.
func (r *Runtime) Declared() command.Config {
	c := command.Config{
		Binary: r.Binary, Command: r.Command, Prompt: r.Prompt, Output: command.Output{Format: r.Output.Format},
		JSONL: command.Paths{
			Text: r.JSONL.TextPath, Message: r.JSONL.MessagePath, Error: r.JSONL.ErrorPath,
			Session: r.JSONL.SessionPath, Usage: r.JSONL.UsagePath, Done: r.JSONL.DonePath,
		},
		Resume: command.Resume{Args: r.Resume.Args, Argv: r.Resume.Argv},
		Exit:   command.Exit{Success: r.Exit.Success, Failures: r.Exit.Failures},
		LLMEnv: command.LLMEnv{APIKey: r.LLMEnv.APIKey, BaseURL: r.LLMEnv.BaseURL, Model: r.LLMEnv.Model},
	}
	if r.Resume.SessionIDFrom != "" {
		c.Resume.SessionIDFrom = &r.Resume.SessionIDFrom
	}
	return c
}
