package config

import (
	"strings"
	"testing"
)

// An adapter of one's own has no name that makes its operations those of a route.
func TestAdaptersAreNotNamedLikeRoutes(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"adapter: command, command: [x]", "adapter: acp, command: [x, --acp]"} {
		for name, noun := range map[string]bool{"sessions": true, "runtimes": true, "vaults": true, "aider": false, "session": false, "responses": false} {
			_, _, err := load(t, fileOf(t, "agents:\n  "+name+": {"+kind+"}\n"), nil)
			if told := err != nil && strings.Contains(err.Error(), "agents."+name) && strings.Contains(err.Error(), "agents."+name+".*"); told != noun || !noun && err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
		}
	}
}
