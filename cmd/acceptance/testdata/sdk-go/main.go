// Command sdk-go plays cases of the official Go SDK against a running server: only
// the base URL is set. It is the twin of ../sdk/oracle.py, and a module of its own, so
// that the server does not depend on the SDK.
package main

import (
	"context"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

var (
	ctx    = context.Background()
	client = openai.NewClient(option.WithUnsafeAllowHTTP())
)

func main() {
	only := os.Args[1:]
	if len(only) > 0 && only[0] == "real" { // the agents are the real CLIs
		cases, only = realCases, only[1:]
	}
	if play(only) > 0 {
		os.Exit(1)
	}
}
