package responses_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/call/calltest"
	"github.com/agenthost/agenthost/wires/responses"
)

// judging is an engine that looks at what a body was read as, and takes nothing.
type judging struct {
	*fakeEngine
	t *testing.T
}

var errRead = event.Fail(event.QueueFull, "the body was read to its end")

func (e judging) CreateSession(_ context.Context, _ string, n *spec.NewSession) (*call.Posted, error) {
	calltest.Sound(e.t, n)
	return nil, errRead
}

func (e judging) Post(_ context.Context, _ string, _ event.ID, actions []spec.Action, _ *spec.Key) (*call.Posted, error) {
	calltest.Sound(e.t, actions)
	return nil, errRead
}

// seeds are recorded bodies of the trouble cases, beside those of testdata/fuzz.
func seeds(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "cmd", "acceptance", "testdata", "cases", "h_*.json"))
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, p := range paths {
		body, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
}

// FuzzBodies: any body is answered by each operation that takes one, with a refusal
// that is the caller's fault, and what it is read as is sound.
func FuzzBodies(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		w := responses.New(judging{newEngine(t, nil), t}, responses.Options{Adapters: []responses.Adapter{{Name: "codex", Images: true}}, CancelWait: time.Millisecond})
		for operation, handle := range map[string]call.Handler{
			"responses.create": w.Create, "conversations.create": w.CreateConversation,
			"conversations.update": w.UpdateConversation, "conversations.create_items": w.CreateItems,
		} {
			c := calltest.Post(handle, "ann", body, "conversation_id", "conv_00000000000000000000000000000001")
			calltest.Refused(t, operation, c)
			checkAnswer(t, operation, c.Ctx)
		}
	})
}
