package spec_test

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

func TestServerURLs(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"https://mcp.example.com/mcp", "http://a.b:8080/x?y=z&a=%7B", "https://[2606:4700::1]/mcp", "https://mcp.example.com"} {
		if err := spec.ValidServerURL("server_url", good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "mcp.example.com", "ftp://a.b/", "file:///etc/passwd", "https://", "https:///x", "https:a.b", "https://user:pw@a.b/", "https://a.b/#x", "https://a.b/#",
		"https://a.b/?k=${ANTHROPIC_API_KEY}", "https://a.b/{x}", "https://a.b/a b", "https://a.b/\n", "https://a.b/\"", "https://a.b\\x", "https://ä.b/", "https://a.b/" + strings.Repeat("x", 2<<10),
		"https://a%00b/", "https://[fe80::1%25eth0]/", "https://$A/",
	} {
		err := spec.ValidServerURL("server_url", bad)
		if f, ok := event.AsFailure(err); !ok || f.Code != event.InvalidRequest || f.Param != "server_url" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	if err := spec.ValidHeader("headers", "X-Key", "a secret $value ${X}"); err != nil {
		t.Error(err)
	}
	for _, bad := range [][2]string{
		{"", "v"}, {"a b", "v"}, {"a:b", "v"}, {"Host", "v"}, {"content-length", "v"}, {"Mcp-Session-Id", "v"}, {"X", ""}, {"X", " v"},
		{"X", "v\r\nY: z"}, {"X", "ü-value"}, {"X", strings.Repeat("v", 9<<10)}, {"X", spec.Masked}, {"X", spec.SecretRef},
	} {
		err := spec.ValidHeader("headers", bad[0], bad[1])
		if f, ok := event.AsFailure(err); !ok || f.Param != "headers" || len(bad[1]) > 1 && bad[1] != " v" && strings.Contains(f.Message, bad[1]) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestScopeOfCallersServers(t *testing.T) {
	t.Parallel()
	check := func(s spec.MCPScope, url string) event.Code {
		return event.CodeOf(s.Check("docs", &spec.MCPServer{URL: url}))
	}
	all := spec.MCPScope{Hosts: []string{"*"}}
	listed := spec.MCPScope{Hosts: []string{"MCP.example.com", "*.tools.example", "127.0.0.1"}}
	for _, c := range []struct {
		scope spec.MCPScope
		url   string
		want  event.Code
	}{
		{spec.MCPScope{}, "https://mcp.example.com/", event.MCPNotAllowed},
		{all, "https://mcp.example.com/", ""},
		{listed, "https://mcp.example.com:8443/x", ""},
		{listed, "https://MCP.EXAMPLE.COM./x", ""},
		{listed, "https://a.b.tools.example/", ""},
		{listed, "https://tools.example/", event.MCPNotAllowed},
		{listed, "https://eviltools.example/", event.MCPNotAllowed},
		{listed, "https://mcp.example.com.evil.example/", event.MCPNotAllowed},
		{listed, "http://127.0.0.1:80/", event.MCPNotAllowed},
		{all, "http://127.1/", event.MCPNotAllowed},
		{all, "http://2130706433/", event.MCPNotAllowed},
		{all, "http://a.0x7f000001/", event.MCPNotAllowed},
		{all, "http://localhost:1/", event.MCPNotAllowed},
		{all, "http://x.localhost./", event.MCPNotAllowed},
		{all, "http://metadata.google.internal/", event.MCPNotAllowed},
		{all, "http://169.254.169.254/latest", event.MCPNotAllowed},
		{all, "http://[::1]/", event.MCPNotAllowed},
		{all, "http://[::ffff:10.0.0.1]/", event.MCPNotAllowed},
		{all, "http://intranet/", event.MCPNotAllowed},
		{spec.MCPScope{Hosts: []string{"127.0.0.1"}, Private: true}, "http://127.0.0.1:80/", ""},
		{spec.MCPScope{Private: true}, "http://127.0.0.1:80/", event.MCPNotAllowed},
	} {
		if got := check(c.scope, c.url); got != c.want {
			t.Errorf("%v %s: %q, not %q", c.scope, c.url, got, c.want)
		}
	}
	if code := event.CodeOf(all.Check("x", &spec.MCPServer{Command: "sh"})); code != event.InvalidRequest {
		t.Errorf("a caller's command: %q", code)
	}
	for _, a := range []string{"10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.1.2.3", "fd00::1", "fe80::1", "224.0.0.1", "255.255.255.255", "64:ff9b::7f00:1"} {
		if !spec.PrivateAddr(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as public", a)
		}
	}
	if spec.PrivateAddr(netip.MustParseAddr("1.1.1.1")) || spec.PrivateAddr(netip.MustParseAddr("2606:4700::1")) {
		t.Error("a public address counts as private")
	}
	for pattern, want := range map[string]bool{"*": true, "*.a.b": true, "a.b": true, "::1": true, "a.*": false, "https://a.b": false, "a.b:80": false, "": false} {
		if spec.ValidHostPattern(pattern) != want {
			t.Errorf("pattern %q", pattern)
		}
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a    spec.Approval
		asks []string
	}{
		{spec.Approval{}, nil},
		{spec.Approval{Rest: true}, []string{"a", "b", "c"}},
		{spec.Approval{Rest: true, Never: []string{"a"}}, []string{"b", "c"}},
		{spec.Approval{Always: []string{"b"}}, []string{"b"}},
	} {
		var got []string
		for _, tool := range []string{"a", "b", "c"} {
			if c.a.Asks(tool) {
				got = append(got, tool)
			}
		}
		if !slices.Equal(got, c.asks) || c.a.Any() != (len(got) > 0) {
			t.Errorf("%+v asks for %v", c.a, got)
		}
	}
}

// What a caller brings replaces what callers brought; the configuration's stays.
func TestUpdateKeepsConfiguredServers(t *testing.T) {
	t.Parallel()
	s := &spec.Session{Agent: spec.Agent{MCP: map[string]spec.MCPServer{
		"docs": {URL: "https://docs.example.com", Headers: map[string]string{"X": "${DOCS}"}}, "old": {URL: "https://old.example.com", Caller: true},
	}}}
	brought := map[string]spec.MCPServer{"docs": {URL: "https://evil.example.com", Caller: true}, "new": {URL: "https://new.example.com", Caller: true, Allowed: []string{}}}
	next := (&spec.Update{MCP: &brought}).Apply(s)
	if names := slices.Sorted(maps.Keys(next.Agent.MCP)); !slices.Equal(names, []string{"docs", "new"}) || next.Agent.MCP["docs"].Caller {
		t.Errorf("%+v", next.Agent.MCP)
	}
	if f, ok := event.AsFailure(s.Agent.Taken(brought)); !ok || f.Param != "mcp_servers.docs" {
		t.Errorf("%v", f)
	}
	raw, err := json.Marshal(next.Agent)
	var back spec.Agent
	if err != nil || json.Unmarshal(raw, &back) != nil || back.MCP["new"].Allowed == nil || back.MCP["docs"].Allowed != nil {
		t.Errorf("no tool and every tool are the same in %s", raw)
	}
}
