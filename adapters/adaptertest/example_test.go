package adaptertest_test

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/command"
)

// What a run comes to, by the rules of the engine.
func ExampleRead() {
	a, err := command.New("mycli", command.Config{
		Command: []string{"mycli"},
		Output:  command.Output{Format: "jsonl"},
		JSONL:   command.Paths{Text: ".delta", Error: ".error"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	run := &adaptertest.Transcript{
		Lines: adaptertest.Lines([]byte(`{"delta":"hel"}` + "\n" + `{"delta":"lo"}` + "\n" + `{"error":"rate limit"}` + "\n")),
		Exit:  agent.Exit{Code: 1},
	}
	got := adaptertest.Read(a.NewParser(adaptertest.Request(a)), run)
	fmt.Printf("%q %s\n", got.Texts(), got.Verdict.Failure)
	// Output: ["hello"] rate_limited: rate limit
}
