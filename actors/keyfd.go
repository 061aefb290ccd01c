package actors

import (
	"context"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/process"
)

// keyFD is where the CLI of a turn reads its key, 0 when it has to have it in its
// environment. It may run the CLI to have its version, so it is not for a Receive.
func (h *Host) keyFD(ctx context.Context, r *RuntimeConfig, req *agent.Request) int {
	a, can := r.Adapter.(agent.KeyReader)
	if !can || req.LLM.APIKey == "" || len(req.LLM.APIKey) > process.MaxHanded || !a.ReadsKey(h.runtimes.version(ctx, r, h.cfg.environ)) {
		return 0
	}
	return process.HandedFD
}

// keyOf is what a process is given by the descriptor.
func keyOf(req *agent.Request) []byte {
	if req.KeyFD == 0 {
		return nil
	}
	return []byte(req.LLM.APIKey)
}
