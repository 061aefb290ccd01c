package main

import (
	"log/slog"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/cmd/warden"
)

// guards are what is process-wide and keeps CLIs from outliving their turns and
// this program.
type guards struct{ keeper *warden.Keeper }

// guard sets up what works on this machine and logs what does not. alone says that
// this program may move itself to another control group, as a server may.
func guard(log *slog.Logger, alone bool) (*guards, []actors.Option) {
	g := &guards{}
	var opts []actors.Option
	if err := process.BecomeSubreaper(); err != nil {
		log.Warn("weaker guarantee: what leaves its process group may outlive a turn", "error", err)
	}
	if groups, err := process.FindCgroups(); err != nil {
		log.Debug("no control group for each turn", "error", err)
	} else {
		if alone {
			groups.Delegate()
		}
		opts = append(opts, actors.WithCgroups(groups))
	}
	keeper, err := warden.Start(log, 0)
	if err != nil {
		log.Warn("weaker guarantee: no warden, so CLIs may outlive this program if it is killed", "error", err)
		return g, opts
	}
	g.keeper = keeper
	return g, append(opts, actors.WithWarden(keeper))
}

// end is for when the Host has stopped.
func (g *guards) end() {
	if g.keeper != nil {
		g.keeper.Close()
	}
}
