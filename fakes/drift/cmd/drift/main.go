// Command drift prints what the installed official SDKs have and docs/openapi.json
// has not, and why where that is known. It is run from the module's root:
//
//	go run ./fakes/drift/cmd/drift
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/agenthost/agenthost/fakes/drift"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "drift:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func run(ctx context.Context) error {
	doc, err := drift.ReadDocument("docs/openapi.json")
	if err != nil {
		return err
	}
	all, err := drift.Installed(ctx)
	if err != nil {
		return err
	}
	for _, sdk := range all {
		gaps, err := drift.Gaps(sdk, doc)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s: %d operations, %d gaps\n", sdk.Name, sdk.Version, len(sdk.Operations), len(gaps))
		for _, g := range gaps {
			reason := drift.Known().Reason(g)
			if reason == "" {
				reason = "NEW"
			}
			fmt.Printf("  %s\n      %s\n", g, reason)
		}
	}
	return nil
}
