// Command fake is a stand-in for coding CLIs; "fake help" says what it does.
package main

import (
	"os"

	"github.com/agenthost/agenthost/fakes/standin"
)

func main() {
	os.Exit(standin.Main(os.Args, standin.World{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
