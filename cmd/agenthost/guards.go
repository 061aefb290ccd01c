package main

import (
	"log/slog"
	"path/filepath"
	"runtime"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/cmd/warden"
)

// guards are what is process-wide and keeps CLIs from outliving their turns and
// this program.
type guards struct{ keeper *warden.Keeper }

// isolators are what there is to isolate with; this program confines CLIs itself.
func isolators(ungrouped string) *isolation.Machine {
	var helper []string
	if runtime.GOOS == "linux" {
		helper = []string{"/proc/self/exe"}
	}
	return isolation.Look(helper, ungrouped)
}

// guard sets up what works on this machine and logs what does not. alone says that
// this program may move itself to another control group, as a server may; hidden are
// files that no confined CLI may see.
func guard(log *slog.Logger, alone bool, hidden ...string) (*guards, []actors.Option) {
	g := &guards{}
	var opts []actors.Option
	ungrouped := ""
	if err := process.BecomeSubreaper(); err != nil {
		log.Warn("weaker guarantee: what leaves its process group may outlive a turn", "error", err)
	}
	if groups, err := process.FindCgroups(); err != nil {
		log.Debug("no control group for each turn", "error", err)
		ungrouped = err.Error()
	} else {
		if alone {
			groups.Delegate()
		}
		opts = append(opts, actors.WithCgroups(groups))
	}
	opts = append(opts, actors.WithIsolation(isolators(ungrouped), hidden...))
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

// secretFiles are those that the configuration names, and its own, by absolute path.
func secretFiles(cfg *config.Config) []string {
	var out []string
	for _, file := range []string{cfg.File, cfg.TLSKey, env("ABX_AGENTS_CONFIG"), env("ABX_SERVER_POLICY_FILE")} {
		if file == "" {
			continue
		}
		if abs, err := filepath.Abs(file); err == nil {
			out = append(out, abs)
		}
	}
	return out
}
