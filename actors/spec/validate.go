package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/event"
)

// Bounds of metadata, as both wires state them, and of a tools list.
const (
	MaxMetadata      = 16      // entries
	MaxMetadataKey   = 64      // characters
	MaxMetadataValue = 512     // characters
	MaxTools         = 3 << 20 // bytes of JSON
)

// HostServer is what CLIs call the host's own MCP server.
const HostServer = "agenthost"

var agentName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// ValidMetadata checks the bounds. param is the metadata field's name in the
// request; like the checks below, the error is an *event.Failure, InvalidRequest,
// that names the field at fault.
func ValidMetadata(param string, m map[string]string) error {
	if len(m) > MaxMetadata {
		return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("metadata has %d entries; at most %d are allowed", len(m), MaxMetadata))
	}
	for _, k := range slices.Sorted(maps.Keys(m)) { // the same fault first, each time
		if k == "" || utf8.RuneCountInString(k) > MaxMetadataKey {
			return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("a metadata key must have 1 to %d characters", MaxMetadataKey))
		}
		if utf8.RuneCountInString(m[k]) > MaxMetadataValue {
			return event.FailParam(event.InvalidRequest, param+"."+k, fmt.Sprintf("a metadata value may have at most %d characters", MaxMetadataValue))
		}
	}
	if err := validProvider(param, m); err != nil {
		return err
	}
	if b, ok := m[OnBusyKey]; ok && b == "" {
		return event.FailParam(event.InvalidRequest, param+"."+OnBusyKey, OnBusyKey+" must be queue, steer or reject")
	}
	return ValidOnBusy(param+"."+OnBusyKey, OnBusy(m[OnBusyKey]))
}

// ValidAgentName checks a saved agent's name. "" is allowed: agents may be
// nameless. "." and ".." are none, though nothing here makes a path of a name.
func ValidAgentName(name string) error {
	if name != "" && (!agentName.MatchString(name) || name == "." || name == "..") {
		return event.FailParam(event.InvalidRequest, "name", "an agent's name must match [A-Za-z0-9._-]{1,64} and be neither . nor ..")
	}
	return nil
}

// ValidModel checks a model's name: it may become an argument of a CLI.
func ValidModel(name string) error {
	if strings.ContainsRune(name, 0) {
		return event.FailParam(event.InvalidRequest, "model", "model contains a NUL character")
	}
	return nil
}

// ValidServerName checks the name of an MCP server.
func ValidServerName(name string) error {
	if !serverName.MatchString(name) {
		return event.FailParam(event.InvalidRequest, "mcp_servers", fmt.Sprintf("the MCP server name %.60q must match [A-Za-z0-9_-]{1,40}", name))
	}
	if name == HostServer {
		return event.FailParam(event.InvalidRequest, "mcp_servers", "the MCP server name "+HostServer+" is the host's own; choose another")
	}
	return nil
}

// ValidPermissions checks p against the closed set; "" is allowed.
func ValidPermissions(p Permissions) error {
	switch p {
	case "", ReadOnly, WorkspaceWrite, FullAccess, Ask:
		return nil
	}
	return event.FailParam(event.InvalidRequest, "permissions", fmt.Sprintf("permissions %.60q is not one of read_only, workspace_write, full_access, ask", p))
}
