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
	if play(os.Args[1:]) > 0 {
		os.Exit(1)
	}
}
