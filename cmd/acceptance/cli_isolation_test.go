package acceptance

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/fakes/tools"
)

// confinedRig is a server whose real CLI runs at a level; the test is skipped where the
// machine does not have it.
func confinedRig(t *testing.T, adapter string, level isolation.Level, more ...setting) *cliRig {
	t.Helper()
	if why := isolation.Look([]string{"/proc/self/exe"}, "").Lacks(level); why != "" {
		t.Skipf("this machine does not have %s: %s", level, why)
	}
	is := map[string]any{"level": level.String(), "required": level.String()}
	return newCLIRig(t, adapter, tools.Need(t, realCLIs[adapter]), append([]setting{cli(adapter, map[string]any{"isolation": is})}, more...)...)
}

// A conversation of each real CLI behind the kernel's walls: it works in its workspace,
// remembers, and its tools reach neither the host nor a port that is not its provider's.
func TestConfinedRealCLI(t *testing.T) {
	t.Parallel()
	for adapter := range realCLIs {
		if !plays(t, adapter) && !certifies() {
			continue
		}
		for _, level := range []isolation.Level{isolation.Landlock, isolation.Bubblewrap} {
			for _, driver := range []string{"exec", "persistent"} {
				if adapter == "opencode" && (driver == "exec" || level == isolation.Landlock) {
					continue // it has no such driver, and cannot be run there: see its package
				}
				if !certifies() && (level != isolation.Landlock || driver != map[string]string{"codex": "exec", "claude-code": "persistent"}[adapter]) {
					continue
				}
				t.Run(fmt.Sprint(adapter, "/", level, "/", driver), func(t *testing.T) {
					t.Parallel()
					confinedConversation(t, confinedRig(t, adapter, level, cli(adapter, map[string]any{"driver": driver})), adapter, level)
				})
			}
		}
	}
}

func confinedConversation(t *testing.T, r *cliRig, adapter string, level isolation.Level) {
	t.Helper()
	turns := []*told{askResponses(t, r, adapter, nil, "Please remember the word heron.")}
	completed(t, turns[0], "I will remember the word heron.")
	say := func(prompt string) *told {
		turns = append(turns, askResponses(t, r, adapter, turns[len(turns)-1], prompt))
		return turns[len(turns)-1]
	}
	say("[[write: a.txt some text]]")
	if got := r.fileOf("a.txt"); got != "some text" {
		t.Errorf("the file that it wrote has %q", got)
	}
	ran := say("[[shell: cat a.txt && echo from a real shell]]")
	completed(t, ran, "from a real shell")

	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	port := l.Addr().(*net.TCPAddr).Port
	outside := t.TempDir()
	for what, attack := range map[string]string{
		"the host's state":      "cat " + filepath.Join(r.StateDir, "id"),
		"a file outside":        "touch " + filepath.Join(outside, "x"),
		"a port of the machine": fmt.Sprintf("bash -c '</dev/tcp/127.0.0.1/%d'", port),
	} {
		tried := say("[[shell: if " + attack + " 2>/dev/null; then echo it got out; else echo it was held; fi]]")
		if tried.status != "completed" || !strings.Contains(fmt.Sprint(tried.commands), "it was held") {
			t.Errorf("%s: %s, %+v", what, tried.status, tried.commands)
		}
	}
	if list, _ := os.ReadDir(outside); len(list) > 0 {
		t.Error("it wrote outside of its workspace")
	}
	completed(t, say("What did I ask you to remember?"), "heron")
	last := r.http.ok("GET", "/v1/responses/resp_"+turns[len(turns)-1].turn, nil).object
	if is, _ := at(last, "metadata", "agenthost.isolation").(string); !strings.HasSuffix(is, level.String()) {
		t.Errorf("the response says of its isolation %q", is)
	}
	ses := r.http.ok("GET", "/v1/agents/sessions/agsess_"+turns[0].session, nil).object
	if is, _ := at(ses, "metadata", "agenthost.isolation").(string); !strings.HasSuffix(is, level.String()) {
		t.Errorf("the session says of its isolation %q", is)
	}
}
