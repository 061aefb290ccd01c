package spec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

// refused checks that err is an InvalidRequest about param, and is short enough
// for a stranger, whatever the request held.
func refused(t *testing.T, name string, err error, param string) {
	t.Helper()
	var f *event.Failure
	if !errors.As(err, &f) || f.Code != event.InvalidRequest || f.Param != param || len(f.Message) > 250 {
		t.Errorf("%.60s: %v, want a short refusal of %q", name, err, param)
	}
}

func TestMetadataBounds(t *testing.T) {
	t.Parallel()
	full := map[string]string{}
	for i := range MaxMetadata {
		full[fmt.Sprint(i)] = strings.Repeat("é", MaxMetadataValue) // characters count, not bytes
	}
	full["0"] = ""
	for _, good := range []map[string]string{nil, {}, full, {strings.Repeat("é", MaxMetadataKey): "v"}} {
		if err := ValidMetadata("metadata", good); err != nil {
			t.Errorf("%d entries: %v", len(good), err)
		}
	}
	over := map[string]string{"one": "more"}
	for k, v := range full {
		over[k] = v
	}
	for name, c := range map[string]struct {
		m     map[string]string
		param string
	}{
		"too many":       {over, "agent.metadata"},
		"no key":         {map[string]string{"": "v"}, "agent.metadata"},
		"long key":       {map[string]string{strings.Repeat("k", MaxMetadataKey+1): "v"}, "agent.metadata"},
		"long value":     {map[string]string{"k": strings.Repeat("v", MaxMetadataValue+1)}, "agent.metadata.k"},
		"first of three": {map[string]string{"c": long(), "b": long(), "d": long(), "a": ""}, "agent.metadata.b"},
	} {
		for range 5 { // of a map: the same answer each time
			refused(t, name, ValidMetadata("agent.metadata", c.m), c.param)
		}
	}
}

func long() string { return strings.Repeat("v", MaxMetadataValue+1) }

func TestNames(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "a", "A.b_c-9", strings.Repeat("x", 64), "..."} {
		if err := ValidAgentName(good); err != nil {
			t.Errorf("agent %q: %v", good, err)
		}
	}
	for _, bad := range []string{" ", "a b", "a\n", "a/b", "é", strings.Repeat("x", 65), "a\x00"} {
		refused(t, bad, ValidAgentName(bad), "name")
	}
	for _, good := range []string{"a", "A_b-9", strings.Repeat("x", 40)} {
		if err := ValidServerName(good); err != nil {
			t.Errorf("server %q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a.b", "a b", "a\n", "é", strings.Repeat("x", 41), strings.Repeat("x", 1<<20)} {
		refused(t, "server", ValidServerName(bad), "mcp_servers")
	}
}

func TestPermissionsAreAClosedSet(t *testing.T) {
	t.Parallel()
	for _, good := range []Permissions{"", ReadOnly, WorkspaceWrite, FullAccess, Ask} {
		if err := ValidPermissions(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []Permissions{"Ask", "ask ", "all", Permissions(strings.Repeat("x", 1<<20))} {
		refused(t, "permissions", ValidPermissions(bad), "permissions")
	}
}
