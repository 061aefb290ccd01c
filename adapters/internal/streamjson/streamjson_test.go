package streamjson_test

import (
	"testing"

	"github.com/agenthost/agenthost/adapters/internal/streamjson"
)

func TestToolNamesGoByTheConfiguredServers(t *testing.T) {
	t.Parallel()
	servers := []string{"a", "a__b", "docs"}
	for name, want := range map[string][2]string{
		"mcp__docs__read": {"docs", "read"}, "mcp__a__b__c": {"a__b", "c"}, "mcp__a__c": {"a", "c"},
		"mcp__other__x__y": {"other", "x__y"}, "Bash": {"", "Bash"}, "mcp__odd": {"", "mcp__odd"},
	} {
		server, tool, ok := streamjson.ToolName(name, servers)
		if server != want[0] || tool != want[1] || ok != (want[0] != "") {
			t.Errorf("%s: %q %q %v", name, server, tool, ok)
		}
	}
}

func TestServersOfOddTypesAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{`[{"name":"a","status":"failed"}]`: 1, `null`: 0, ``: 0, `{"a":1}`: 0, `[1]`: 0, `[`: 0} {
		if got := streamjson.Servers([]byte(text)); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestOnlyFramesAreFrames(t *testing.T) {
	t.Parallel()
	var f streamjson.Frame
	for text, want := range map[string]bool{
		`{"type":"stream_event","event":{"type":"ping"}}`: true, `{"type":"user","text":"stream_event"}`: false,
		`{"type":"user","kind":"stream_event"}`: false, `{"type":"stream_event"`: false,
	} {
		if got := f.Read([]byte(text)); got != want || want && f.Kind() != "ping" {
			t.Errorf("%s: %v %q", text, got, f.Kind())
		}
	}
}
