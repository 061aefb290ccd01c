package measure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/sqlite"
	"github.com/agenthost/agenthost/bench/drive"
)

// seed stores n further sessions in a state directory as a server does, durably and in
// its own format, but without HTTP between.
func (l *lab) seed(dir string, n int) (err error) {
	quiet := slog.New(slog.DiscardHandler)
	st, err := sqlite.Open(dir, sqlite.Options{Logger: quiet})
	if err != nil {
		return err
	}
	h, err := actors.New(actors.WithLogger(quiet), actors.WithStateDir(dir), actors.WithStore(st), actors.WithRuntime(actors.RuntimeConfig{Adapter: nobody{}}),
		actors.WithLimits(actors.Limits{MaxSessions: many, PassivateAfter: time.Second}))
	if err != nil {
		return errors.Join(err, st.Close())
	}
	if err := h.Start(l.ctx); err != nil {
		return errors.Join(err, h.Stop(context.WithoutCancel(l.ctx)))
	}
	defer func() { err = errors.Join(err, h.Stop(context.WithoutCancel(l.ctx))) }()
	return parallel(l.ctx, 256, n, func(ctx context.Context, _ *drive.Session, _ int) error {
		_, err := h.CreateSession(ctx, "one", &spec.NewSession{Agent: spec.Agent{Adapter: nobody{}.Name()}})
		return err
	})
}

// many is above every count of sessions.
const many = 2_000_000

// nobody is an adapter whose sessions have no turns here.
type nobody struct{}

func (nobody) Name() string                  { return "codex" }
func (nobody) Aliases() []string             { return nil }
func (nobody) Binary() string                { return "true" }
func (nobody) Validate(*agent.Request) error { return nil }

func (nobody) Capabilities() agent.Capabilities {
	return agent.Capabilities{Permissions: []spec.Permissions{spec.WorkspaceWrite}}
}

func (nobody) Invocation(*agent.Request) (*agent.Invocation, error) {
	return nil, fmt.Errorf("no turn is run while sessions are stored")
}

func (nobody) NewParser(*agent.Request) agent.Parser { return nobodyLines{} }

type nobodyLines struct{}

func (nobodyLines) Feed([]byte, *agent.Batch)      {}
func (nobodyLines) Close(agent.Exit, *agent.Batch) {}

func fileSize(path string) float64 {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return 0
	}
	return float64(info.Size())
}
