package acceptance

import (
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/tools"
)

// A real CLI sets subagents to work, and the official Python SDK reads them.
func TestRealCLISubagents(t *testing.T) {
	t.Parallel()
	for play, adapter := range map[string]string{"claude": "claude-code", "codex": "codex", "switched_off": "claude-code"} {
		t.Run(play, func(t *testing.T) {
			t.Parallel()
			python := tools.Need(t, "py-3.57.0/bin/python")
			r := newCLIRig(t, adapter, tools.Need(t, realCLIs[adapter]))
			v := judged(t, r.rig, r.URL, python, []string{"-B", "subagents.py", play})
			if len(v.passed) != 1 || len(v.failed) != 0 || v.ended != nil || v.errors != "" {
				t.Errorf("%+v", v)
			}
			if play != "switched_off" {
				r.verified(t, adapter, "subagents")
			}
			r.Clean(15 * time.Second)
		})
	}
}
