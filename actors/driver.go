package actors

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
)

// Driver says how an adapter's CLI is run.
type Driver string

// Drivers. DriverAuto is persistent for versions of a CLI that were tested with it,
// else exec.
const (
	DriverAuto       Driver = "auto"
	DriverExec       Driver = "exec"       // a process a turn
	DriverPersistent Driver = "persistent" // processes that serve many turns
)

// driver is how the adapter's CLI is run, and why. It may run the CLI to have its
// version, so it is not for a Receive.
func (h *Host) driver(r *RuntimeConfig) (d Driver, why string) {
	p, can := r.Adapter.(agent.Persistent)
	switch {
	case !can:
		return DriverExec, "its only one"
	case only(p) && r.Driver != DriverExec:
		return DriverPersistent, "its only one"
	case r.Driver != DriverAuto:
		return r.Driver, "configured"
	}
	version := h.runtimes.version(context.Background(), r, h.cfg.environ)
	certified := p.Certified()
	for _, word := range strings.Fields(version) {
		if slices.Contains(certified, word) {
			return DriverPersistent, "certified for " + word
		}
	}
	if b, err := h.runtimes.look(r); err != nil {
		return DriverExec, "it is not installed"
	} else if h.runtimes.certified(r.Adapter.Name(), b.path, version) {
		return DriverPersistent, "certified on this machine for " + version
	}
	if version == "" {
		version = "a program that tells no version"
	}
	why = "no version is certified for the persistent one yet"
	if len(certified) > 0 {
		why = fmt.Sprintf("%s is not among those certified for the persistent one: %s", version, strings.Join(certified, ", "))
	}
	return DriverExec, why + "; agenthost adapter certify " + r.Adapter.Name() + " tests the installed one"
}

// only says that the adapter has no other driver.
func only(p agent.Persistent) bool {
	_, is := p.(agent.Only)
	return is
}

// persistent is the adapter if its CLI is run as one; nil else.
func (h *Host) persistent(r *RuntimeConfig) agent.Persistent {
	d, why := h.driver(r)
	if d == DriverPersistent {
		p, _ := r.Adapter.(agent.Persistent)
		return p
	}
	if _, can := r.Adapter.(agent.Persistent); can && r.Driver == DriverAuto {
		if _, told := h.runtimes.told.LoadOrStore(r.Adapter.Name(), true); !told {
			h.log.Info("one process a turn", "adapter", r.Adapter.Name(), "driver", string(d), "why", why)
		}
	}
	return nil
}

// capabilities are what the adapter can do as it is run.
func (h *Host) capabilities(r *RuntimeConfig) agent.Capabilities {
	if p := h.persistent(r); p != nil {
		return p.PersistentCapabilities()
	}
	return r.Adapter.Capabilities()
}

// validate asks the adapter, for the way it is run.
func (h *Host) validate(r *RuntimeConfig, req *agent.Request) error {
	if p := h.persistent(r); p != nil {
		return p.ValidatePersistent(req)
	}
	return r.Adapter.Validate(req)
}
