package acceptance

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/fakes/tools"
)

// The real Gemini CLI runs turns of a session: words, a command, a file, what was said
// before, and a provider that refuses it. It takes up no conversation whose process is
// gone, so that is not asked for.
func TestRealGemini(t *testing.T) {
	t.Parallel()
	if !certifies() {
		t.Skip("it starts for seconds; make certify plays it")
	}
	const adapter = "gemini"
	r := newCLIRig(t, adapter, tools.Need(t, "bin/gemini"), limit("runner_idle", "1m"))
	first := askAgentsStreamed(t, r, adapter, nil, "Please remember the word heron.")
	completed(t, first, "I will remember the word heron.")
	ran := askResponsesStreamed(t, r, adapter, first, "[[say: I will run it.]] [[shell: echo from a real shell >ran.txt]]")
	if ran.status != "completed" || !strings.Contains(r.fileOf("ran.txt"), "from a real shell") || len(ran.commands) != 1 || !strings.Contains(ran.commands[0].line, "echo from a real shell") {
		t.Errorf("the turn that runs a command: %+v", ran)
	}
	wrote := askAgents(t, r, adapter, ran, "[[write: a.txt some text]]")
	if wrote.status != "completed" || r.fileOf("a.txt") != "some text" || len(wrote.files) != 1 {
		t.Errorf("the turn that writes: %+v", wrote)
	}
	completed(t, askResponses(t, r, adapter, wrote, "What did I ask you to remember?"), "heron")
	if refused := askAgents(t, r, adapter, nil, "[[error: 401]]"); refused.status != "failed" || refused.code != "authentication_error" {
		t.Errorf("%s %s %q", refused.status, refused.code, refused.message)
	}
}
