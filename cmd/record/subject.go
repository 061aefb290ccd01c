package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/adapters/gemini"
	"github.com/agenthost/agenthost/adapters/opencode"
	"github.com/agenthost/agenthost/adapters/qwen"
	"github.com/agenthost/agenthost/cmd/recording"
	"github.com/agenthost/agenthost/fakes/provider"
	"github.com/agenthost/agenthost/fakes/tools"
)

// cases are sessions, each with its turns.
var cases = []struct {
	name  string
	turns []string
}{
	{"conversation", []string{"[[say: hello there]]", "[[say: hello again]]"}},
	{"command", []string{"[[say: I look first]][[shell: echo from the shell]] [[say: seen]]"}},
	{"failing_command", []string{"[[shell: echo bad; exit 3]] [[say: it failed]]"}},
	{"file", []string{"[[write: note.txt a note]] [[say: written]]"}},
	{"reasoning", []string{"[[think: I think first]] [[say: thought]]"}},
	{"unauthorized", []string{"[[error: 401]]"}},
	{"context", []string{"[[error: context]]"}},
}

// subject is one CLI with one driver.
type subject struct {
	adapter agent.Adapter
	driver  actors.Driver
	binary  string
	wire    string
	base    string   // of the provider, below its address
	env     []string // that the CLI needs
	played  string   // stream that the program, a stand-in, plays
}

func (s subject) name() string { return s.adapter.Name() + "-" + string(s.driver) }

// subjects are what is installed.
func subjects(only string) (list []subject) {
	for _, one := range []struct {
		adapter             agent.Adapter
		program, wire, base string
		env                 []string
		long                bool // by its long-lived driver too, though auto does not take it
	}{
		{adapter: &codex.Adapter{}, program: "bin/codex", wire: "responses", base: "/v1"},
		{adapter: &claudecode.Adapter{}, program: "bin/claude", wire: "responses", base: "/v1"},
		{adapter: &qwen.Adapter{}, program: "bin/qwen", wire: "chat", base: "/v1", long: true},
		{adapter: opencode.New(), program: "bin/opencode", wire: "chat", base: "/v1"},
		{adapter: gemini.New(), program: "bin/gemini", env: []string{"GEMINI_MODEL=gemini-2.5-pro"}}, // it adds a version of its own, and without a model asks one which to take
	} {
		path, ok := tools.Path(one.program)
		if !ok {
			continue
		}
		var drivers []actors.Driver
		if _, only := one.adapter.(agent.Only); !only {
			drivers = append(drivers, actors.DriverExec)
		} else {
			one.long = true
		}
		if p, can := one.adapter.(agent.Persistent); can && (one.long || len(p.Certified()) > 0) {
			drivers = append(drivers, actors.DriverPersistent)
		}
		for _, d := range drivers {
			s := subject{adapter: one.adapter, driver: d, binary: path, wire: one.wire, base: one.base, env: one.env}
			if only == "" || only == s.name() || only == s.adapter.Name() {
				list = append(list, s)
			}
		}
	}
	return list
}

// key is the provider's; it is in no recording.
const key = "sk-recorded-4b1e8a37c0d9526f"

// play records each case below dir and gives the shapes. Every case has a host of its
// own, so that its streams are its own.
func (s subject) play(ctx context.Context, dir string) (shapes map[string][]string, err error) {
	model := provider.New(provider.Script{Key: key})
	url, err := model.Start()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	workspace, state := filepath.Join(dir, "workspace"), filepath.Join(dir, "state")
	for _, d := range []string{workspace, state} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	shapes = map[string][]string{}
	paths := map[string]string{workspace: "<workspace>", state: "<state>", s.binary: "<binary>"}
	if rel, ok := inRepository(workspace); ok { // some name files so
		paths[rel] = "<workspace>"
	}
	for _, one := range cases {
		r, err := s.session(ctx, filepath.Join(dir, one.name), workspace, state, url, one.turns)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		for _, stream := range r.Streams {
			shapes[one.name] = append(shapes[one.name], stream.Shape(paths)...)
		}
	}
	return shapes, nil
}

// inRepository is a directory's path within the repository that it lies in.
func inRepository(dir string) (string, bool) {
	for root := filepath.Dir(dir); ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
			rel, err := filepath.Rel(root, dir)
			return rel, err == nil
		}
		if root == filepath.Dir(root) {
			return "", false
		}
	}
}

// sessionLimit is for the turns of the slowest CLI.
const sessionLimit = 5 * time.Minute

// session records a session.
func (s subject) session(ctx context.Context, dir, workspace, state, url string, turns []string) (r *recording.Recording, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessionLimit)
	defer cancel()
	rec, err := recording.New(dir, key)
	if err != nil {
		return nil, err
	}
	defer func() { // after the host has stopped
		if err = errors.Join(err, rec.Close("", "")); err == nil {
			r, err = recording.Read(dir)
		}
	}()
	host, err := actors.New(
		actors.WithStateDir(state), actors.WithTapes(rec.Start),
		actors.WithLimits(actors.Limits{Linger: time.Minute}), // how it ends by itself is of interest
		actors.WithEnviron(append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + state, "LANG=C.UTF-8", "FAKE_PLAY=" + s.played}, s.env...)),
		actors.WithRuntime(actors.RuntimeConfig{
			Adapter: s.adapter, Binary: s.binary, Driver: s.driver, Permissions: spec.FullAccess, Sandboxed: true, Passthrough: append([]string{"FAKE_PLAY"}, names(s.env)...),
			LLM: agent.LLM{BaseURL: url + s.base, APIKey: key, WireAPI: s.wire},
		}))
	if err != nil {
		return nil, err
	}
	if err := host.Start(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, host.Stop(context.WithoutCancel(ctx))) }()
	return nil, follow(ctx, host, rec, s.adapter.Name(), workspace, turns)
}

// names are those of variables.
func names(env []string) (list []string) {
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		list = append(list, name)
	}
	return list
}

const owner = "recorder"

// follow runs the turns, one after the other, and records their events.
func follow(ctx context.Context, host *actors.Host, rec *recording.Recorder, adapter, workspace string, turns []string) error {
	input := func(prompt string) *spec.NewInput {
		return &spec.NewInput{Items: []*event.Item{{Type: event.Message, User: true, Text: prompt}}}
	}
	posted, err := host.CreateSession(ctx, owner, &spec.NewSession{
		Agent:       spec.Agent{Adapter: adapter},
		Environment: spec.Environment{Type: spec.EnvSelfHosted, Workspace: workspace},
		Input:       input(turns[0]),
	})
	if err != nil {
		return err
	}
	session := posted.Session.ID
	sub, err := host.Subscribe(ctx, owner, session, posted.Before)
	if err != nil {
		return err
	}
	defer sub.Close()
	for left := turns[1:]; ; {
		batch, wake, err := sub.Next()
		if err != nil {
			return err
		}
		if batch == nil {
			select {
			case <-wake:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		for i := range batch.Events {
			line, err := batch.Events[i].MarshalJSON()
			if err != nil {
				return err
			}
			rec.Event(line)
			if batch.Events[i].Kind != event.TurnEnded {
				continue
			}
			if len(left) == 0 {
				return nil
			}
			if _, err := host.Post(ctx, owner, session, []spec.Action{{Input: input(left[0])}}, nil); err != nil {
				return err
			}
			left = left[1:]
		}
	}
}
