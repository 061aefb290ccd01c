package actors

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
)

// allowed are the variables of the host's environment that every CLI sees.
// Everything else is left out, so a server's own secrets and nesting markers do
// not reach an agent.
var allowed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"CODEX_HOME", "CLAUDE_CONFIG_DIR", "QWEN_HOME", "CURSOR_CONFIG_DIR",
}

// forbidden never reach a CLI, whoever asks: they would load code into it or
// show our own settings.
func forbidden(name string) bool {
	switch name {
	case "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH":
		return true
	}
	return strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "AGENTHOST_") || strings.HasPrefix(name, "ABX_SERVER_")
}

func inherited(name string, passthrough []string) bool {
	if forbidden(name) {
		return false
	}
	return slices.Contains(allowed, name) || slices.Contains(passthrough, name) ||
		strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "NPM_CONFIG_") || strings.HasPrefix(name, "npm_config_") ||
		strings.HasPrefix(name, "XDG_") && strings.HasSuffix(name, "_HOME")
}

// childEnv builds a CLI's environment: the allowlisted part of environ, then
// each of more; a later entry of a name wins.
func childEnv(environ, passthrough []string, more ...[]string) []string {
	at := map[string]int{}
	var out []string
	put := func(kv string) {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" || forbidden(name) || strings.ContainsRune(kv, 0) {
			return
		}
		if i, dup := at[name]; dup {
			out[i] = kv
			return
		}
		at[name] = len(out)
		out = append(out, kv)
	}
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); inherited(name, passthrough) {
			put(kv)
		}
	}
	for _, list := range more {
		for _, kv := range list {
			put(kv)
		}
	}
	return out
}

// EnvNames are the names, sorted, of the variables that a CLI gets: those of environ
// that it may see, with those of passthrough, and what its invocation adds.
func EnvNames(environ, passthrough []string, inv *agent.Invocation) []string {
	env := childEnv(environ, passthrough, inv.Env)
	names := make([]string, len(env))
	for i, kv := range env {
		names[i], _, _ = strings.Cut(kv, "=")
	}
	slices.Sort(names)
	return names
}

// lookup reads one variable of environ.
func lookup(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if n, v, ok := strings.Cut(environ[i], "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}

var credentialName = regexp.MustCompile(`(?i)(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)`)

// credentials are the values in a CLI's environment that its output must not
// show: those of variables named like a key, and the passwords of proxy URLs.
func credentials(env []string) []string {
	var out []string
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case credentialName.MatchString(name):
			out = append(out, value)
		case strings.HasSuffix(strings.ToUpper(name), "_PROXY"):
			if u, err := url.Parse(value); err == nil && u.User != nil {
				if p, ok := u.User.Password(); ok {
					out = append(out, p)
				}
			}
		}
	}
	return out
}
