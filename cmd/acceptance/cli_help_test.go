package acceptance

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/adapters/qwen"
)

// What an adapter looks for in the help of another version stands in that of the
// tested one.
func TestRealCLIListsWhatItTakes(t *testing.T) {
	t.Parallel()
	usual := map[string][][]string{"codex": {nil, {"exec", "resume"}, {"app-server"}}}
	for _, a := range []interface {
		agent.Adapter
		agent.Flagged
	}{&codex.Adapter{}, &claudecode.Adapter{}, &qwen.Adapter{}} {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			program := need(t, a.Name())
			runs := usual[a.Name()]
			if runs == nil {
				runs = [][]string{nil}
			}
			for _, args := range runs {
				help, words := a.Help(args)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, program, help...)
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
				text, err := cmd.Output()
				if err != nil || !strings.Contains(string(text), "--help") {
					t.Fatalf("%s %q: %v", filepath.Base(program), help, err)
				}
				for _, word := range slices.Sorted(maps.Keys(words)) {
					if !strings.Contains(string(text), word) {
						t.Errorf("%s %q does not list %s", filepath.Base(program), help, word)
					}
				}
			}
		})
	}
}
