package spec

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

// MCPScope says which MCP servers callers may bring. The zero value is none.
type MCPScope struct {
	// Hosts are names of servers, "*.suffix" for all names below one, "*" for all.
	Hosts []string
	// Private lets servers be on this machine or in its network.
	Private bool
}

var hostPattern = regexp.MustCompile(`^(\*|(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)$`)

// ValidHostPattern reports whether s can stand in MCPScope.Hosts.
func ValidHostPattern(s string) bool {
	return len(s) <= 253 && hostPattern.MatchString(s) || literal(s)
}

// Check refuses a caller's server that is out of scope.
func (s *MCPScope) Check(name string, m *MCPServer) error {
	param := "mcp_servers." + name + ".url"
	u, err := url.Parse(m.URL)
	if err != nil || m.URL == "" || m.Command != "" {
		return event.FailParam(event.InvalidRequest, param, "a caller's MCP server needs an http or https URL; servers that are started by a command come from the host's configuration only")
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if !s.lists(host) {
		return event.FailParam(event.MCPNotAllowed, param, fmt.Sprintf("this host does not let callers bring the MCP server %.100s; its operator lists the allowed ones at agents.caller_mcp, or in the scope.mcp of a policy", host))
	}
	if !s.Private && private(host) {
		return NotPublic(name, host)
	}
	return nil
}

// NotPublic is the refusal of a server in the host's own network.
func NotPublic(name, host string) *event.Failure {
	return event.FailParam(event.MCPNotAllowed, "mcp_servers."+name+".url",
		fmt.Sprintf("%.100s is an address of this machine or of its network, which callers may not reach; ABX_AGENTS_ALLOW_PRIVATE_URLS=1 at the host allows it", host))
}

func (s *MCPScope) lists(host string) bool {
	for _, pattern := range s.Hosts {
		if MatchHost(pattern, host) {
			return true
		}
	}
	return false
}

// MatchHost reports whether the pattern of a scope takes the host.
func MatchHost(pattern, host string) bool {
	pattern, host = strings.ToLower(pattern), strings.ToLower(strings.TrimSuffix(host, "."))
	below, wild := strings.CutPrefix(pattern, "*.")
	return pattern == "*" || pattern == host || wild && strings.HasSuffix(host, "."+below)
}

// privateNames end names that resolvers answer with addresses of a private network.
var privateNames = []string{"localhost", "local", "internal", "lan", "home.arpa", "localdomain"}

func private(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return PrivateAddr(a)
	}
	for _, suffix := range privateNames {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return true
		}
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return !strings.Contains(host, ".") || number(last) // one label, or 127.1 and 0x7f000001
}

// number says that a name ending in s is read as an IPv4 address by some clients.
func number(s string) bool {
	return s != "" && (strings.Trim(s, "0123456789") == "" || strings.HasPrefix(s, "0x") && strings.Trim(s[2:], "0123456789abcdef") == "")
}

// literal reports whether a URL's host is an address.
func literal(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Zone() == ""
}

var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// PrivateAddr reports whether a is no public address: of this machine, a private
// network, a link (cloud metadata), or special.
func PrivateAddr(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return true
	}
	for _, p := range special {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
