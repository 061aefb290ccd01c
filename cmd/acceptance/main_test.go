package acceptance

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/fakes/acp"
	"github.com/agenthost/agenthost/fakes/mcp"
)

// asMCP in its environment makes the test binary a tool server, asACP an agent with
// these session modes.
const (
	asMCP = "ACCEPTANCE_AS_MCP"
	asACP = "ACCEPTANCE_AS_ACP"
)

// TestMain looks, after a run of all tests with the real CLIs, whether each fact of
// the capability matrix that is said to come from here did.
func TestMain(m *testing.M) {
	if os.Getenv(asMCP) != "" {
		if err := mcp.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if modes := os.Getenv(asACP); modes != "" {
		home := os.Getenv("HOME")
		if own := os.Getenv("CURSOR_CONFIG_DIR"); own != "" {
			home = own
		}
		if err := (&acp.Agent{Home: home, Modes: strings.Split(modes, ",")}).Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if code == 0 && wholeRun() {
		missing, err := adaptertest.Unproven("cmd/acceptance")
		if err != nil {
			missing = append(missing, err.Error())
		}
		for _, fact := range missing {
			if adapter, _, _ := strings.Cut(fact, ":"); briefly[adapter] != nil && !certifies() {
				continue // its other tests are for make certify
			}
			fmt.Println("the capability matrix says what no test found:", fact)
			code = 1
		}
	}
	os.Exit(code)
}

func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return os.Getenv("AGENTHOST_TEST_CLIS") != ""
}
