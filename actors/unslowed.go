//go:build !slowed

package actors

import "github.com/agenthost/agenthost/actors/fold"

// linger and handed are where a build with the tag slowed makes its mistakes.
func linger(*fold.Batch)               {}
func handed(b *fold.Batch) *fold.Batch { return b }
