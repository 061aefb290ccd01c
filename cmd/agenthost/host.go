package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
	"github.com/agenthost/agenthost/cmd/config"
)

// options are the Host's, as the configuration says, without a store.
func options(cfg *config.Config, log *slog.Logger, stateDir string, runtimes []actors.RuntimeConfig) []actors.Option {
	l := cfg.Limits
	opts := []actors.Option{
		actors.WithLogger(log),
		actors.WithStateDir(stateDir),
		actors.WithCertificates(cfg.StateDir),
		actors.WithToolsDirs(cfg.ToolsDir),
		actors.WithWorkspace(cfg.Environments.Workspace),
		actors.WithAgents(cfg.SavedAgents()...),
		actors.WithDefaultAdapter(cfg.Agents.Default),
		actors.WithCallerMCP(spec.MCPScope{Hosts: cfg.Agents.CallerMCP, Private: cfg.PrivateURLs}),
		actors.WithLimits(actors.Limits{
			MaxConcurrentTurns:  l.MaxConcurrentTurns,
			MaxPrincipalTurns:   l.MaxPrincipalTurns,
			MaxAgentTurns:       l.MaxAgentTurns,
			AgentTurnsPerMinute: l.AgentRate,
			MaxQueue:            l.MaxQueue,
			MaxWaitingTurns:     l.MaxWaitingTurns,
			MaxWaitingProcesses: l.MaxWaitingProcesses,
			ToolResultTimeout:   l.ToolResultTimeout,
			MaxSessions:         int64(l.MaxSessions),
			SessionTTL:          l.SessionTTL,
			StoreMaxBytes:       int64(l.StoreMaxBytes),
			MaxSubscribers:      l.MaxSubscribers,
			Runners:             actors.RunnerLimits{Idle: l.RunnerIdle, Turns: l.RunnerTurns, Memory: int64(l.RunnerMaxMemory), MaxIdle: l.RunnerMaxIdle},
			PassivateAfter:      l.PassivateAfter,
			TurnTimeout:         l.TurnTimeout,
			IdleTimeout:         l.IdleTimeout,
			SettleQuiet:         l.SettleQuiet,
			Linger:              l.Linger,
			InterruptGrace:      l.InterruptGrace,
			TerminateGrace:      l.TerminateGrace,
			MaxLineBytes:        int(l.MaxLineBytes),
			MaxItemBytes:        int(l.MaxItemBytes),
			MaxOutputBytes:      int64(l.MaxOutputBytes),
			JournalMaxBytes:     int64(l.JournalMaxBytes),
			RingBytes:           int(l.RingBytes),
			MaxAgents:           l.MaxAgents,
			MaxFileBytes:        int64(l.MaxFileBytes),
			MaxFilesBytes:       int64(max(l.MaxFilesBytes, l.MaxFileBytes)), // one has to fit
			MaxFiles:            l.MaxFiles,
			MinAvailableMemory:  max(uint64(l.MinAvailableMemory), 1), // 0 would be the default, not off
			MaxArtifactBytes:    int64(l.MaxArtifactBytes),
			MaxArtifactsBytes:   int64(max(l.MaxArtifactsBytes, l.MaxArtifactBytes)),
			MaxArtifacts:        l.MaxArtifacts,
			MaxSecretBytes:      int64(l.MaxSecretBytes),
			MaxCPU:              time.Duration(l.MaxCPUSeconds) * time.Second,
			MaxMemoryBytes:      int64(l.MaxMemoryBytes),
			MaxProcesses:        l.MaxProcesses,
			MaxWritten:          int64(l.MaxWrittenFileBytes),
			MaxOpenFiles:        l.MaxOpenFiles,
			Budgets:             budgets(&l),
		}),
	}
	opts = append(opts, actors.WithSecrets(values(cfg.Auth.Tokens)...))
	if cfg.LockDefinitions {
		opts = append(opts, actors.WithLockedAgents())
	}
	for _, r := range runtimes {
		opts = append(opts, actors.WithRuntime(r))
	}
	return opts
}

// openHost makes the Host of a server. The store locks the state directory, so a
// second server on it is refused.
func openHost(cfg *config.Config, log *slog.Logger, runtimes []actors.RuntimeConfig, s *seams, guarded ...actors.Option) (*actors.Host, error) {
	var (
		st  store.Store
		err error
	)
	if cfg.Ephemeral {
		st, err = openEphemeral(cfg.StateDir)
	} else {
		st, err = sqlite.Open(cfg.StateDir, s.store(sqlite.Options{Logger: log, MinFreeDisk: uint64(cfg.Limits.MinFreeDisk), Reserve: int64(cfg.Limits.DiskReserve)}))
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = fmt.Errorf("%w; let this user write there, or choose another directory with --state-dir", err)
	}
	if err != nil {
		return nil, err
	}
	opts := append(options(cfg, log, cfg.StateDir, runtimes), actors.WithStore(st))
	h, err := actors.New(append(append(opts, guarded...), s.host()...)...)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return h, nil
}

// ephemeral is a memory store that holds the state directory like the embedded one.
type ephemeral struct {
	store.Store
	lock *os.File
}

func openEphemeral(dir string) (store.Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the store in %s: state directory: %w", dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	if err := flock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("state directory %s is in use by another server; stop it or choose another state directory: %w", dir, err), f.Close())
	}
	return &ephemeral{memory.New(), f}, nil
}

// Close gives the directory back.
func (e *ephemeral) Close() error { return errors.Join(e.Store.Close(), e.lock.Close()) }

// budgets are the configured ones; 0 is none.
func budgets(l *config.Limits) budget.Caps {
	amount := func(tokens int, usd float64) budget.Amount {
		return budget.Amount{Tokens: int64(tokens), MicroUSD: budget.MicroUSD(usd)}
	}
	return budget.Caps{
		Turn: amount(l.MaxTurnTokens, l.MaxTurnUSD), Session: amount(l.MaxSessionTokens, l.MaxSessionUSD),
		Principal: amount(l.MaxPrincipalTokens, l.MaxPrincipalUSD), Day: amount(l.MaxDayTokens, l.MaxDayUSD),
	}
}
