package actors

import (
	"context"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
)

// comes says that a program that was not found will be installed when a turn needs
// it.
func (h *Host) comes(r *RuntimeConfig, err error) bool {
	if !r.AutoInstall || event.CodeOf(err) != event.RuntimeNotInstalled {
		return false
	}
	_, _, err = h.installable(r.Adapter.Name(), "")
	return err == nil
}

// provide installs a turn's CLI if it is not there and may be, and tells what the
// turn waits for. It returns early when leave is closed: then nobody reads what it
// says, and the installation goes on for the next turn. Not for a Receive.
func (h *Host) provide(adapter string, leave <-chan struct{}, tell func(event.EnvironmentStatus, *event.Failure)) error {
	r, err := h.runtime(adapter)
	if err != nil || !r.AutoInstall {
		return nil // what is wrong is said by who needs it
	}
	err = h.asked(r, "locate", func() error {
		_, err := h.runtimes.locate(r)
		return err
	})
	if !h.comes(r, err) {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h.work.Go(func() {
		select {
		case <-leave:
			cancel()
		case <-ctx.Done():
		}
	})
	tell(event.EnvironmentPending, nil)
	name := r.Adapter.Name()
	done, err := h.Install(ctx, name, "")
	if err == nil {
		done, err = h.AwaitInstall(ctx, name, nil)
	}
	switch {
	case ctx.Err() != nil:
		return event.Fail(event.ServerStopped, "the turn ended before its CLI was installed")
	case err == nil && done.Failure == nil:
		tell(event.EnvironmentReady, nil)
		return nil
	case err == nil:
		err = done.Failure
	}
	f, ok := event.AsFailure(err)
	if !ok {
		f = event.Fail(event.InstallError, err.Error())
	}
	f = event.Fail(event.RuntimeNotInstalled, fmt.Sprintf("the CLI of %s could not be installed: %s", name, f.Message))
	tell(event.EnvironmentFailed, f)
	return f
}
