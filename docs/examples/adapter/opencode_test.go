package opencode

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/adaptertest"
)

// The suite that every adapter passes: what the engine relies on.
func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, Adapter{}, adaptertest.Cases{
		Dir: "testdata/recorded", Native: "ses_dd3b4581dffePrKr7RAkVA8sWa", Silent: silent,
	})
}

func FuzzFeed(f *testing.F) { adaptertest.FuzzFeed(f, Adapter{}, "testdata/recorded") }

// What is this adapter's own is tested as anything else.
func TestTheProviderIsConfiguredWithoutItsKey(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(Adapter{})
	r.Model, r.LLM = "m1", agent.LLM{BaseURL: "https://llm.example.com/v1", APIKey: "sk-secret"}
	inv, err := Adapter{}.Invocation(r)
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Join(inv.Env, "\n")
	if !strings.Contains(env, `"baseURL":"https://llm.example.com/v1"`) || !strings.Contains(env, "{env:AGENT_PROVIDER_KEY}") || strings.Count(env, "sk-secret") != 1 {
		t.Errorf("environment %s", env)
	}
	if args := strings.Join(inv.Args, " "); !strings.HasSuffix(args, "-m host/m1") {
		t.Errorf("arguments %s", args)
	}
}

// The tests' own program is the CLI that a Host runs: no test needs the real one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "run" && os.Args[2] == "--format" {
		standIn()
		return
	}
	os.Exit(m.Run())
}

// standIn answers like the real CLI.
func standIn() {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	const session = `"sessionID":"ses_standin"`
	fmt.Printf(`{"type":"step_start",%s,"part":{"id":"prt_1"}}`+"\n", session)
	fmt.Printf(`{"type":"text",%s,"part":{"id":"prt_2","text":%q}}`+"\n", session, "You said: "+string(prompt))
	fmt.Printf(`{"type":"step_finish",%s,"part":{"id":"prt_3","tokens":{"input":3,"output":2,"cache":{}}}}`+"\n", session)
}
