package codex

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// usage is a thread's total as Codex tells it.
type usage struct {
	Input      *jsonl.Num `json:"input_tokens"`
	Cached     jsonl.Num  `json:"cached_input_tokens"`
	CacheWrite jsonl.Num  `json:"cache_write_input_tokens"`
	Output     *jsonl.Num `json:"output_tokens"`
	Reasoning  jsonl.Num  `json:"reasoning_output_tokens"`
}

// readUsage reads a total; ok is false when it tells neither input nor output.
func readUsage(raw json.RawMessage) (total event.Usage, ok bool) {
	var u usage
	if len(raw) == 0 || !jsonl.Decode(raw, &u) || u.Input == nil && u.Output == nil {
		return total, false
	}
	if u.Input != nil {
		total.Input = int64(*u.Input)
	}
	if u.Output != nil {
		total.Output = int64(*u.Output)
	}
	total.Cached, total.CacheWrite, total.Reasoning = int64(u.Cached), int64(u.CacheWrite), int64(u.Reasoning)
	return total, true
}

// since is what was used between two totals. A total that shrank belongs to another
// count and stands for itself.
func since(before, now event.Usage) *event.Usage {
	if now.Input < before.Input || now.Output < before.Output {
		return &now
	}
	return &event.Usage{
		Input:      now.Input - before.Input,
		Cached:     max(now.Cached-before.Cached, 0),
		CacheWrite: max(now.CacheWrite-before.CacheWrite, 0),
		Output:     now.Output - before.Output,
		Reasoning:  max(now.Reasoning-before.Reasoning, 0),
	}
}
