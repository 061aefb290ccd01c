package actors

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the installers.
type (
	// installWanted asks for an installation.
	installWanted struct {
		runtime  *RuntimeConfig
		manifest *agent.Manifest
		reply    chan answer[*Install]
	}
	// installerGone says that an installation's actor stopped.
	installerGone struct{ who *actor.PID }
)

// installers sees that each adapter has at most one installation at a time. It is
// the parent of all of them; what they are doing is read from Host.installs.
type installers struct {
	host     *Host
	running  map[string]*actor.PID // by adapter
	stopping bool
}

func newInstallers(h *Host) *installers {
	return &installers{host: h, running: map[string]*actor.PID{}}
}

func (s *installers) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Stopping:
		s.stopping = true
	case *installWanted:
		s.want(c, m)
	case *actor.Terminated:
		c.Send(c.Self(), &installerGone{m.Who}) // it overtook what the actor sent before
	case *installerGone:
		s.gone(m.who)
	}
}

func (s *installers) want(c actor.Context, m *installWanted) {
	if s.stopping {
		m.reply <- answer[*Install]{err: event.Fail(event.ShuttingDown, "the server is shutting down")}
		return
	}
	name := m.runtime.Adapter.Name()
	slot := s.host.installs[name]
	if now := slot.p.Load().install; now != nil && now.State == InstallRunning {
		m.reply <- answer[*Install]{value: now}
		return
	}
	first := &Install{
		ID: event.NewID(), Adapter: name, Package: m.manifest.Package(), Version: m.manifest.Version,
		State: InstallRunning, Created: s.host.now().UnixMilli(),
	}
	slot.publish(first)
	host := s.host
	s.running[name] = c.Spawn(host.props(func() actor.Actor { return newInstaller(host, m.runtime, m.manifest, slot, first) }))
	m.reply <- answer[*Install]{value: first}
}

// gone: an installation's actor stopped. One that crashed has not said how it ended.
func (s *installers) gone(who *actor.PID) {
	for name, pid := range s.running {
		if pid.GetId() != who.GetId() {
			continue
		}
		delete(s.running, name)
		slot := s.host.installs[name]
		if now := slot.p.Load().install; now.State == InstallRunning {
			slot.publish(now.ended(s.host.now().UnixMilli(), "", event.Fail(event.InstallError, "the installation failed inside the host; the server's log has the cause")))
		}
	}
}

// ended is how the installation ended.
func (i *Install) ended(at int64, path string, f *event.Failure) *Install {
	next := *i
	next.Ended, next.Path, next.Failure = at, path, f
	next.State = InstallCompleted
	if f != nil {
		next.State = InstallFailed
	}
	return &next
}
