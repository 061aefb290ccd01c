//go:build !linux

package chaos

import (
	"context"
	"errors"

	"github.com/agenthost/agenthost/bench/chaos/schedule"
)

func (c *conductor) inject(context.Context, schedule.Fault) error {
	return errors.New("chaos needs Linux: it looks at processes by /proc")
}
