package actors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// InstallState says how far an installation is.
type InstallState string

// States of an installation.
const (
	InstallRunning   InstallState = "running"
	InstallCompleted InstallState = "completed"
	InstallFailed    InstallState = "failed"
)

// Install is an installation of an adapter's CLI: a job that goes on by itself.
// A value is never changed; Host.InstallOf has the newest.
type Install struct {
	ID               event.ID
	Adapter          string
	Package, Version string
	State            InstallState
	// Created and Ended are in Unix milliseconds; Ended is 0 while it runs.
	Created, Ended int64
	Progress       []InstallStep
	// Path is the program once it is installed.
	Path string
	// Failure is why it failed.
	Failure *event.Failure
}

// InstallStep is a line of progress.
type InstallStep struct {
	At   int64 // Unix milliseconds
	Text string
}

// installation is the newest Install of an adapter, nil before the first, and a
// channel that is closed when there is a newer one.
type installation struct {
	install *Install
	changed chan struct{}
}

// installSlot holds an adapter's installation. One actor at a time stores there.
type installSlot struct{ p atomic.Pointer[installation] }

func newInstallSlot() *installSlot {
	s := &installSlot{}
	s.p.Store(&installation{changed: make(chan struct{})})
	return s
}

func (s *installSlot) publish(i *Install) {
	was := s.p.Swap(&installation{install: i, changed: make(chan struct{})})
	close(was.changed)
}

// Install begins to install the CLI of an adapter, named by name or alias, into the
// first tools directory. version "" is the newest that there is a manifest of. While
// an installation of the adapter runs, that one is the answer; in another process,
// the new one waits for it.
func (h *Host) Install(ctx context.Context, name, version string) (*Install, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	if h.Draining() {
		return nil, event.Fail(event.ShuttingDown, "the server is shutting down")
	}
	r, m, err := h.installable(name, version)
	if err != nil {
		return nil, err
	}
	msg := &installWanted{runtime: r, manifest: m, reply: make(chan answer[*Install], 1)}
	h.root.Send(h.installers, msg)
	return await(ctx, h, msg.reply)
}

// installable finds what would be installed.
func (h *Host) installable(name, version string) (*RuntimeConfig, *agent.Manifest, error) {
	r, ok := h.runtimes.byName[name]
	if !ok {
		return nil, nil, event.FailParam(event.NotFound, "runtime", fmt.Sprintf("this host has no adapter %q; it has %s", name, h.runtimes.names()))
	}
	own := r.Adapter.Name()
	if len(r.Manifests) == 0 || len(h.runtimes.boxes) == 0 {
		return nil, nil, event.FailParam(event.NotInstallable, "runtime", fmt.Sprintf("the CLI of %s cannot be installed by this host; %s", own, r.remedy()))
	}
	var versions []string
	for i := range r.Manifests {
		m := &r.Manifests[i]
		if version != "" && version != m.Version {
			versions = append(versions, m.Version)
			continue
		}
		if r.Binary != m.Program {
			return nil, nil, event.FailParam(event.NotInstallable, "runtime", fmt.Sprintf(
				"agents.%s.binary is %q, and an installation makes the program %q; remove the setting to use it", own, r.Binary, m.Program))
		}
		return r, m, nil
	}
	return nil, nil, event.FailParam(event.InvalidRequest, "version", fmt.Sprintf("this host has no manifest of %s %s; it has %s", own, version, strings.Join(versions, ", ")))
}

// Installable are the versions of an adapter's CLI that there are manifests of, the
// newest first.
func (h *Host) Installable(name string) []string {
	r, ok := h.runtimes.byName[name]
	if !ok {
		return nil
	}
	out := make([]string, len(r.Manifests))
	for i := range r.Manifests {
		out[i] = r.Manifests[i].Version
	}
	return out
}

// InstallOf is the newest installation of an adapter's CLI by this Host, nil when
// there was none.
func (h *Host) InstallOf(name string) *Install {
	r, ok := h.runtimes.byName[name]
	if !ok {
		return nil
	}
	return h.installs[r.Adapter.Name()].p.Load().install
}

// AwaitInstall waits for the end of the running installation of an adapter and
// returns it; told, if not nil, gets every state that is seen on the way.
func (h *Host) AwaitInstall(ctx context.Context, name string, told func(*Install)) (*Install, error) {
	r, ok := h.runtimes.byName[name]
	if !ok {
		return nil, event.FailParam(event.NotFound, "runtime", fmt.Sprintf("this host has no adapter %q", name))
	}
	slot := h.installs[r.Adapter.Name()]
	for {
		now := slot.p.Load()
		if now.install == nil {
			return nil, event.FailParam(event.NotFound, "runtime", "no installation of "+r.Adapter.Name()+" was asked for")
		}
		if told != nil {
			told(now.install)
		}
		if now.install.State != InstallRunning {
			return now.install, nil
		}
		select {
		case <-now.changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// note adds a line of progress to a copy.
func (i *Install) note(at int64, text string) *Install {
	next := *i
	next.Progress = append(slices.Clip(i.Progress), InstallStep{At: at, Text: text})
	return &next
}
