package adaptertest

import (
	"path/filepath"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// RunFailures plays recorded failures, by the names of their files in dir, into parsers
// of a and compares what each is told to be. A code of "" is for a run whose output
// gives no reason: the engine then tells its exit.
func RunFailures(t *testing.T, a agent.Adapter, dir string, want map[string]event.Code) {
	t.Helper()
	for name, code := range want {
		t.Run(name, func(t *testing.T) {
			tr, err := Load(filepath.Join(dir, name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			r := Request(a)
			r.Native, r.Carry = tr.Native, tr.Carry
			v := Read(a.NewParser(r), tr).Verdict
			switch {
			case code == "" && v == nil:
			case v == nil || v.Outcome != event.Failed || v.Failure == nil:
				t.Errorf("verdict %+v, want %s", v, code)
			case v.Failure.Code != code:
				t.Errorf("code %s, want %s: %s", v.Failure.Code, code, v.Failure.Message)
			}
		})
	}
}
