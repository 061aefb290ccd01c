package chaos

import (
	"fmt"
	"os"

	"github.com/agenthost/agenthost/bench/chaos/observer"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
	"github.com/agenthost/agenthost/fakes/appserver"
	"github.com/agenthost/agenthost/fakes/mcp"
	"github.com/agenthost/agenthost/fakes/standin"
	"github.com/agenthost/agenthost/fakes/streamjson"
)

// Observe is the observer's program; its arguments are the run's directory.
func Observe(args []string) int {
	if len(args) != 1 {
		return failed("an observer is started by a chaos run")
	}
	if err := observer.Main(args[0], os.Stdin, os.Stdout); err != nil {
		return failed(err.Error())
	}
	return 0
}

// CLI is the stand-in that the server starts: one with a process a turn, claude with its
// stream of JSON, codex with its app-server, or a tool server of one of them.
func CLI(args []string) int {
	self, err := os.Executable()
	if err != nil || len(args) == 0 {
		return failed("a stand-in is started by a chaos run")
	}
	again := []string{self, CLIVerb}
	resume, streams := streamjson.Speaks(args)
	switch {
	case args[0] == "mcp":
		err = mcp.Serve(os.Stdin, os.Stdout)
	case args[0] == "codex" && len(args) > 1 && args[1] == "app-server":
		err = appserver.Serve(appserver.Options{
			Home: os.Getenv("CODEX_HOME"), Log: os.Getenv("FAKE_LOG"),
			Tools: append(again, "mcp"), Leave: []string{self, CLIVerb, "sleep"},
		}, os.Stdin, os.Stdout)
	case args[0] == "claude" && streams:
		err = streamjson.Serve(streamjson.Options{
			Home: os.Getenv("CLAUDE_CONFIG_DIR"), Log: os.Getenv("FAKE_LOG"), Resume: resume,
			Tools: append(again, "mcp"), Leave: []string{self, CLIVerb, "sleep"},
		}, os.Stdin, os.Stdout)
	case args[0] == schedule.Exec:
		args[0] = "claude"
		fallthrough
	default:
		return standin.Main(append([]string{"fake"}, args...), standin.World{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Self: again})
	}
	if err != nil {
		return failed(err.Error())
	}
	return 0
}

func failed(why string) int {
	_, _ = fmt.Fprintln(os.Stderr, "chaos:", why) // nobody reads a closed terminal
	return 1
}
