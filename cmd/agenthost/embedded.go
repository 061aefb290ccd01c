package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/sqlite"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/bench/floor"
)

// engine is the actors without a wire, as a subject of the bench: each request is a turn
// in a session that is free, and its readers get the texts of its events, a line each.
type engine struct {
	host    *actors.Host
	adapter string

	mu   sync.Mutex
	free []event.ID
}

// embedded is the program; it is what a Go program that embeds the Host would be.
func embedded(args []string, in io.Reader, out, errs io.Writer) int {
	f := flag.NewFlagSet("embedded", flag.ContinueOnError)
	f.SetOutput(errs)
	cli, adapter, dir, runs := f.String("cli", "", "program to run"), f.String("adapter", "", "codex or claude-code"), f.String("dir", "", "state directory"), f.String("log", "", "file that the stand-in notes its runs in")
	slots := f.Int("slots", 64, "turns at once")
	if f.Parse(args) != nil {
		return exitUsage
	}
	if err := os.Setenv("FAKE_LOG", *runs); err != nil {
		return fail(errs, exitFailed, err)
	}
	e, end, err := newEngine(*cli, *adapter, *dir, *slots, slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		return fail(errs, exitFailed, err)
	}
	code := floor.Serve(e.run, in, out, errs)
	if err := end(); err != nil {
		return fail(errs, exitFailed, err)
	}
	return code
}

func newEngine(cli, name, dir string, slots int, log *slog.Logger) (*engine, func() error, error) {
	all := map[string]agent.Adapter{codex.Name: &codex.Adapter{}, claudecode.Name: &claudecode.Adapter{}}
	adapter := all[name]
	if adapter == nil {
		return nil, nil, fmt.Errorf("no adapter %q is part of the bench", name)
	}
	st, err := sqlite.Open(dir, sqlite.Options{Logger: log, MinFreeDisk: 1 << 20})
	if err != nil {
		return nil, nil, err
	}
	guarded, opts := guard(log, false)
	h, err := actors.New(append(opts, actors.WithLogger(log), actors.WithStateDir(dir), actors.WithStore(st),
		actors.WithLimits(actors.Limits{MaxConcurrentTurns: slots, MaxSubscribers: 512}),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: adapter, Binary: cli, Driver: actors.DriverExec, Passthrough: []string{"FAKE_LOG"}}))...)
	if err != nil {
		guarded.end()
		return nil, nil, errors.Join(err, st.Close())
	}
	end := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err := h.Stop(ctx)
		guarded.end()
		return err
	}
	if err := h.Start(context.Background()); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return &engine{host: h, adapter: name}, end, nil
}

const embedder = "bench"

// run runs a turn and closes its readers. A turn that goes wrong leaves them short, which
// the bench counts as lost.
func (e *engine) run(prompt string, to []net.Conn) {
	defer func() {
		for _, conn := range to {
			_ = conn.Close()
		}
	}()
	ctx := context.Background()
	id, err := e.session(ctx)
	if err != nil {
		_, _ = fmt.Fprintln(to[0], err)
		return
	}
	now, err := e.host.Session(ctx, embedder, id)
	if err != nil {
		_, _ = fmt.Fprintln(to[0], err)
		return
	}
	var readers sync.WaitGroup
	for _, conn := range to {
		events, err := e.host.Subscribe(ctx, embedder, id, now.Head)
		if err != nil {
			_, _ = fmt.Fprintln(conn, err)
			return
		}
		readers.Go(func() {
			defer crash.Guard()
			defer events.Close()
			follow(events, conn)
		})
	}
	_, err = e.host.Post(ctx, embedder, id, []spec.Action{{Input: &spec.NewInput{Items: []*event.Item{{Type: event.Message, Text: prompt}}}}}, nil)
	if err != nil { // nobody would be woken
		_, _ = fmt.Fprintln(to[0], err)
		return
	}
	readers.Wait()
	e.mu.Lock()
	e.free = append(e.free, id)
	e.mu.Unlock()
}

// session is one that is free, or a new one.
func (e *engine) session(ctx context.Context) (event.ID, error) {
	e.mu.Lock()
	if n := len(e.free); n > 0 {
		id := e.free[n-1]
		e.free = e.free[:n-1]
		e.mu.Unlock()
		return id, nil
	}
	e.mu.Unlock()
	posted, err := e.host.CreateSession(ctx, embedder, &spec.NewSession{Agent: spec.Agent{Adapter: e.adapter}})
	if err != nil {
		return event.ID{}, err
	}
	return posted.Session.ID, nil
}

// follow writes the texts of events until the turn has ended, one write a batch.
func follow(events *actors.Subscription, to io.Writer) {
	var buf bytes.Buffer
	for {
		seen := events.After()
		batch, wake, err := events.Next()
		switch {
		case err != nil:
			return
		case batch == nil:
			<-wake
			continue
		}
		buf.Reset()
		ended := false
		for i := batch.After(seen); i < len(batch.Events); i++ { // it may begin earlier
			switch ev := &batch.Events[i]; ev.Kind {
			case event.TextDelta:
				buf.WriteString(ev.Text)
				buf.WriteByte('\n')
			case event.ItemDone:
				if item, ok := ev.Body.(*event.Item); ok && item.Type == event.Message {
					buf.WriteString(item.Text)
					buf.WriteByte('\n')
				}
			case event.TurnEnded:
				ended = true
			}
		}
		if _, err := to.Write(buf.Bytes()); err != nil || ended {
			return
		}
	}
}
