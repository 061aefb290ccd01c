package spec

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

// MCPServer is one tool server a CLI is told about: reached at URL, or started by
// Command.
type MCPServer struct {
	URL string `json:"url,omitempty"`
	// Headers and Env of a configured server may hold ${VAR}, which the host fills
	// from its environment at spawn. A caller's server holds SecretRef for each
	// header, and the values are in Secrets.
	Headers map[string]string `json:"headers,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Caller says that a caller brought the server: the host's environment is never
	// filled in, and its scope says whether the server may be reached.
	Caller bool `json:"caller,omitempty"`
	// Allowed are the only tools that may be called; nil is all of them.
	Allowed  []string `json:"allowed_tools,omitzero"`
	Approval Approval `json:"require_approval,omitzero"`
	// Secrets are a caller's header values on their way to the host's memory.
	Secrets map[string]Secret `json:"-"`
}

// SecretRef is what is stored of a caller's header value.
const SecretRef = "${secret}"

// SetHeader gives a caller's server a header; only its name will be stored.
func (m *MCPServer) SetHeader(name, value string) {
	if m.Headers == nil {
		m.Headers, m.Secrets = map[string]string{}, map[string]Secret{}
	}
	m.Headers[name], m.Secrets[name] = SecretRef, NewSecret(value)
}

func (m MCPServer) clone() MCPServer {
	m.Headers, m.Args, m.Env = maps.Clone(m.Headers), slices.Clone(m.Args), maps.Clone(m.Env)
	m.Allowed, m.Secrets = slices.Clone(m.Allowed), maps.Clone(m.Secrets)
	m.Approval.Always, m.Approval.Never = slices.Clone(m.Approval.Always), slices.Clone(m.Approval.Never)
	return m
}

// Approval says which tools of a server need somebody's consent before each call.
// The zero value is none.
type Approval struct {
	Always []string `json:"always,omitempty"`
	Never  []string `json:"never,omitempty"`
	// Rest holds for tools in neither list.
	Rest bool `json:"rest,omitempty"`
}

// Asks reports whether a call of tool needs consent.
func (a *Approval) Asks(tool string) bool {
	return slices.Contains(a.Always, tool) || a.Rest && !slices.Contains(a.Never, tool)
}

// Any reports whether any call may need consent.
func (a *Approval) Any() bool { return a.Rest || len(a.Always) > 0 }

// WithMCP is the agent's servers with those of callers replaced by servers; a
// configured one of the same name stays, see Taken.
func (a *Agent) WithMCP(servers map[string]MCPServer) map[string]MCPServer {
	out := map[string]MCPServer{}
	for name, m := range servers {
		out[name] = m.clone()
	}
	for name, m := range a.MCP {
		if !m.Caller {
			out[name] = m
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Taken refuses a caller's server that has the name of a configured one.
func (a *Agent) Taken(servers map[string]MCPServer) error {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if m, ok := a.MCP[name]; ok && !m.Caller {
			return event.FailParam(event.InvalidRequest, "mcp_servers."+name, fmt.Sprintf("the agent already has a server %s, from the host's configuration; choose another server_label", name))
		}
	}
	return nil
}

// Bounds of what callers bring.
const (
	MaxServers      = 32
	MaxHeaders      = 32       // of one server
	MaxHeaderValue  = 8 << 10  // bytes
	MaxHeaderValues = 64 << 10 // bytes of all servers' values: they travel in an environment
	MaxServerURL    = 2 << 10  // bytes
	MaxAllowedTools = 256      // names
	maxToolName     = 128      // characters
)

var (
	toolName   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")
	urlText    = regexp.MustCompile(`^[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+$`)
	urlHost    = regexp.MustCompile(`^[A-Za-z0-9.-]{1,253}$`)
)

// ValidServerURL checks a caller's server address. Braces and the like are refused
// because CLIs fill ${VAR} from an environment that holds keys.
func ValidServerURL(param, s string) error {
	bad := func(what string) error { return event.FailParam(event.InvalidRequest, param, param+" "+what) }
	if len(s) > MaxServerURL {
		return bad(fmt.Sprintf("is longer than %d bytes", MaxServerURL))
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || !urlText.MatchString(s):
		return bad("is no URL; percent-encode what is not allowed in one")
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		return bad("must begin with https:// or http://")
	case u.User != nil:
		return bad("must not hold a user or password; send them as headers or authorization")
	case u.Fragment != "" || strings.Contains(s, "#"):
		return bad("must not have a fragment")
	case !urlHost.MatchString(u.Hostname()) && !literal(u.Hostname()):
		return bad("names no host")
	}
	return nil
}

// reservedHeaders are those that the CLI's MCP client sets itself.
var reservedHeaders = []string{
	"accept", "connection", "content-length", "content-type", "content-encoding", "expect", "host", "keep-alive", "last-event-id",
	"mcp-protocol-version", "mcp-session-id", "te", "trailer", "transfer-encoding", "upgrade",
}

// ValidHeader checks a header that a caller wants sent. A failure never repeats the
// value.
func ValidHeader(param, name, value string) error {
	bad := func(what string) error { return event.FailParam(event.InvalidRequest, param, param+": "+what) }
	switch {
	case !headerName.MatchString(name):
		return bad(fmt.Sprintf("%.60q is no name of a header", name))
	case slices.Contains(reservedHeaders, strings.ToLower(name)):
		return bad("the header " + name + " belongs to the protocol and cannot be set")
	case value == Masked || value == SecretRef:
		return bad("the value of " + name + " is the mark that this host shows instead of a value; send the value itself")
	case strings.TrimSpace(value) == "" || strings.TrimSpace(value) != value:
		return bad("the value of " + name + " is empty or has space around it")
	case len(value) > MaxHeaderValue:
		return bad(fmt.Sprintf("the value of %s is longer than %d bytes", name, MaxHeaderValue))
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return bad("the value of " + name + " has characters that a header cannot carry")
	}
	return nil
}

// ValidToolNames checks a list of a server's tools.
func ValidToolNames(param string, names []string) error {
	if len(names) > MaxAllowedTools {
		return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("%s names %d tools; at most %d are allowed", param, len(names), MaxAllowedTools))
	}
	for _, n := range names {
		if !toolName.MatchString(n) {
			return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("%s: %.60q is no name of a tool: it must match [A-Za-z0-9_.-]{1,%d}", param, n, maxToolName))
		}
	}
	return nil
}

// ValidCallerServers checks the servers of one request together.
func ValidCallerServers(param string, servers map[string]MCPServer) error {
	if len(servers) > MaxServers {
		return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("%s holds %d MCP servers; at most %d are allowed", param, len(servers), MaxServers))
	}
	total := 0
	for _, m := range servers {
		for _, v := range m.Secrets {
			total += len(v.Reveal())
		}
	}
	if total > MaxHeaderValues {
		return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("the header values of all MCP servers have %d bytes; at most %d are allowed", total, MaxHeaderValues))
	}
	return nil
}

// Bearer is the value of an Authorization header that carries token.
func Bearer(token string) string {
	if len(token) > 7 && strings.EqualFold(token[:7], "bearer ") {
		return token
	}
	return "Bearer " + token
}
