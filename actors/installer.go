package actors

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/actors/toolbox"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of an installation to itself.
type (
	// lockedBox says that no other installation runs and the version's directory is
	// there, or that the version is installed already (program).
	lockedBox struct {
		lock    *toolbox.Lock
		stage   *toolbox.Stage
		steps   []toolbox.Step
		env     []string
		redact  *redact.Set
		program string
		err     error
	}
	// lockHeld says whose end is waited for.
	lockHeld struct{ pid string }
	// compared says that what was fetched is what the manifest names.
	compared struct {
		program string
		err     error
	}
	switchedOver struct{ err error }
	// putBack says that the lock is free and nothing unfinished is left.
	putBack struct{}
)

// installer installs one version of one CLI. The commands are its children, run and
// ended like the CLI of a turn; what works on the disk runs in goroutines that
// answer with a message.
type installer struct {
	host     *Host
	runtime  *RuntimeConfig
	manifest *agent.Manifest
	slot     *installSlot
	now      *Install

	lock    *toolbox.Lock
	stage   *toolbox.Stage
	steps   []toolbox.Step
	env     []string
	redact  *redact.Set
	program string // once it is there
	// trying says that the program is being run to see that it starts.
	trying  bool
	process *actor.PID // of the command that runs
	told    bool       // it was told to end
	exit    *agent.Exit
	lines   []string // of the command
	failure *event.Failure
	ending  bool
	clock   timer
	// taken is closed when the lock is ours to give back, quit when the actor is gone.
	taken, quit chan struct{}
}

func newInstaller(h *Host, r *RuntimeConfig, m *agent.Manifest, slot *installSlot, first *Install) *installer {
	return &installer{host: h, runtime: r, manifest: m, slot: slot, now: first, taken: make(chan struct{}), quit: make(chan struct{})}
}

func (i *installer) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		i.clock.arm(c, i.host.cfg.limits.InstallTimeout, func(gen int) any { return &clockUp{gen} })
		i.begin(c)
	case *lockHeld:
		text := "waits for another installation of " + i.now.Adapter
		if m.pid != "" {
			text += ", by process " + m.pid
		}
		i.say(text)
	case *lockedBox:
		i.locked(c, m)
	case *output:
		for _, f := range m.batch.Facts {
			i.heard(f.Text)
		}
		putBatch(m.batch)
		m.release(nil)
	case *spawnFailed:
		i.process = nil
		i.fail(c, event.Fail(event.InstallError, m.failure.Message))
	case *exited:
		exit := m.exit
		i.exit = &exit
	case *gone:
		i.stepped(c)
	case *compared:
		i.compared(c, m)
	case *switchedOver:
		if m.err != nil {
			i.fail(c, event.Fail(event.InstallError, m.err.Error()))
		} else {
			i.end(c)
		}
	case *clockUp:
		if i.clock.is(m.gen) {
			i.fail(c, event.Fail(event.InstallError, fmt.Sprintf("the installation took longer than %s", i.host.cfg.limits.InstallTimeout)))
		}
	case *putBack:
		i.publishEnd()
		c.Stop(c.Self())
	case *actor.Stopping:
		i.stop()
	}
}

func (i *installer) at() int64 { return i.host.now().UnixMilli() }

func (i *installer) say(text string) {
	i.now = i.now.note(i.at(), text)
	i.slot.publish(i.now)
}

// maxHeard bounds the lines kept of one step.
const maxHeard = 50

func (i *installer) heard(line string) {
	if line = strings.TrimSpace(line); line != "" && len(i.lines) < maxHeard {
		i.lines = append(i.lines, line)
	}
}

// begin waits for the lock in a goroutine.
func (i *installer) begin(c actor.Context) {
	host, self, m, name, taken, quit := i.host, c.Self(), i.manifest, i.now.Adapter, i.taken, i.quit
	box, remedy := host.runtimes.boxes[0], i.runtime.remedy()
	host.work.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stop := make(chan struct{})
		defer close(stop)
		host.work.Go(func() {
			select {
			case <-quit:
				cancel()
			case <-stop:
			}
		})
		out := &lockedBox{}
		out.lock, out.err = box.Lock(ctx, name, func(pid string) { host.root.Send(self, &lockHeld{pid}) })
		if out.err == nil {
			if out.program = box.Installed(m); out.program == "" {
				out.stage, out.err = out.lock.Begin(m)
			}
		}
		if out.stage != nil {
			out.env = childEnv(host.cfg.environ, nil, toolEnv(host.cfg.environ))
			out.redact = host.redactors.get(append(credentials(out.env), host.ownSecrets()...))
			out.steps, out.err = host.commands(out.stage, remedy)
		}
		host.root.Send(self, out)
		select {
		case <-taken:
		case <-quit: // the actor is gone and gives nothing back
			giveBack(out.lock, out.stage)
		}
	})
}

// commands are a stage's steps with their programs found.
func (h *Host) commands(stage *toolbox.Stage, remedy string) ([]toolbox.Step, error) {
	steps := stage.Steps()
	for i := range steps {
		tool := steps[i].Tool
		if filepath.IsAbs(tool) {
			continue // a step before it puts it there
		}
		if steps[i].Tool = h.runtimes.onPath(tool); steps[i].Tool == "" {
			return nil, fmt.Errorf("%s is needed and not in PATH; install it, or %s", tool, remedy)
		}
	}
	return steps, nil
}

// giveBack removes what is unfinished and lets the next one in.
func giveBack(lock *toolbox.Lock, stage *toolbox.Stage) {
	if stage != nil {
		stage.Discard()
	}
	if lock != nil {
		lock.Unlock()
	}
}

func (i *installer) locked(c actor.Context, m *lockedBox) {
	i.lock, i.stage, i.steps, i.env, i.redact = m.lock, m.stage, m.steps, m.env, m.redact
	close(i.taken)
	switch {
	case i.ending: // it is too late already
		i.end(c)
	case m.err != nil:
		i.fail(c, event.Fail(event.InstallError, m.err.Error()))
	case m.program != "":
		i.program = m.program
		i.say("version " + i.now.Version + " is installed already")
		i.end(c)
	default:
		i.next(c)
	}
}

// next runs the next command, or goes on behind the last.
func (i *installer) next(c actor.Context) {
	if len(i.steps) == 0 {
		i.compare(c)
		return
	}
	step := i.steps[0]
	i.say(step.Does)
	i.run(c, step.Tool, step.Args)
}

// run starts a program in the version's directory.
func (i *installer) run(c actor.Context, program string, args []string) {
	h, self := i.host, c.Self()
	j := &job{
		adapter: i.now.Adapter, remedy: i.runtime.remedy(), request: &agent.Request{Binary: program, Workspace: i.stage.Dir()},
		invocation: &agent.Invocation{Args: args}, parser: lineParser{}, env: i.env, redact: i.redact,
		marker: h.markers() + event.NewID().Hex(), maxOutput: maxInstallOutput,
	}
	i.exit, i.lines, i.told = nil, nil, false
	i.process = c.Spawn(h.props(func() actor.Actor { return newProcess(h, self, j) }))
}

// maxInstallOutput bounds what a command may say.
const maxInstallOutput = 16 << 20

// toolEnv are the settings of package managers in an environment beyond those that
// every CLI sees.
func toolEnv(environ []string) (out []string) {
	for _, kv := range environ {
		if strings.HasPrefix(kv, "PIP_") {
			out = append(out, kv)
		}
	}
	return out
}

// lineParser keeps lines as they are.
type lineParser struct{}

func (lineParser) Feed(line []byte, out *agent.Batch) {
	out.Add(agent.Fact{Kind: agent.FactUnknown, Text: out.Text(line)})
}

func (lineParser) Close(agent.Exit, *agent.Batch) {}

// stepped: a command ended and nothing of it is left.
func (i *installer) stepped(c actor.Context) {
	i.process = nil
	switch {
	case i.ending:
		i.end(c)
		return
	case i.exit == nil:
		i.fail(c, event.Fail(event.InstallError, "the command was lost"))
		return
	case i.trying:
		i.tried(c)
		return
	}
	if i.exit.Code != 0 {
		i.fail(c, i.commandFailed())
		return
	}
	for _, line := range i.lines {
		i.say(line)
	}
	i.steps = i.steps[1:]
	i.next(c)
}

// tailOf is the end of a text, whole lines of it.
func tailOf(text string, n int) string {
	text = strings.TrimSpace(text)
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		text = text[at+1:]
	}
	return strings.ToValidUTF8(text, "")
}

func (i *installer) commandFailed() *event.Failure {
	said := tailOf(i.exit.Stderr, 1500)
	if strings.Contains(said, "EINTEGRITY") || strings.Contains(said, "DO NOT MATCH THE HASHES") {
		return event.Fail(event.IntegrityMismatch, fmt.Sprintf(
			"what the registry sent for %s %s is not what this host's manifest names, so nothing was installed; ask whoever runs the registry: %s", i.manifest.Package(), i.manifest.Version, said))
	}
	how := fmt.Sprintf("exit code %d", i.exit.Code)
	if i.exit.Signal != "" {
		how = "signal " + i.exit.Signal
	}
	return event.Fail(event.InstallError, fmt.Sprintf("%s failed with %s: %s", i.steps[0].Does, how, said))
}

// compare looks at what was installed, in a goroutine.
func (i *installer) compare(c actor.Context) {
	host, self, stage := i.host, c.Self(), i.stage
	host.work.Go(func() {
		m := &compared{}
		m.program, m.err = stage.Program()
		host.root.Send(self, m)
	})
}

func (i *installer) compared(c actor.Context, m *compared) {
	switch {
	case i.ending:
		return
	case errors.Is(m.err, toolbox.ErrMismatch):
		i.fail(c, event.Fail(event.IntegrityMismatch, m.err.Error()))
		return
	case m.err != nil:
		i.fail(c, event.Fail(event.InstallError, m.err.Error()))
		return
	}
	i.program = m.program
	if asker, ok := i.runtime.Adapter.(agent.Versioner); ok {
		i.trying = true
		i.run(c, m.program, asker.VersionArgs())
		return
	}
	i.switchOver(c)
}

// tried: the program was run to see that it starts and is the version it should be.
func (i *installer) tried(c actor.Context) {
	said := strings.Join(i.lines, "\n")
	if i.exit.Code != 0 || !strings.Contains(said, i.manifest.Version) {
		i.fail(c, event.Fail(event.InstallError, fmt.Sprintf("the installed program does not start as version %s: exit code %d, it said %q %s",
			i.manifest.Version, i.exit.Code, tailOf(said, 200), tailOf(i.exit.Stderr, 1000))))
		return
	}
	i.say("it starts: " + i.lines[0])
	i.switchOver(c)
}

func (i *installer) switchOver(c actor.Context) {
	i.clock.stop() // what is switched over does not fail any more for being late
	host, self, stage, program := i.host, c.Self(), i.stage, i.program
	host.work.Go(func() { host.root.Send(self, &switchedOver{stage.Switch(program)}) })
	i.stage = nil // from here on it is the version, or rubbish for the next
}

// fail ends the installation; a command that runs is ended first.
func (i *installer) fail(c actor.Context, f *event.Failure) {
	if i.failure == nil {
		i.failure = f
	}
	i.program = ""
	i.end(c)
}

// end gives the lock back once no command runs.
func (i *installer) end(c actor.Context) {
	i.ending = true
	i.clock.stop()
	if i.process != nil {
		if !i.told {
			i.told = true
			c.Send(i.process, &terminate{now: true})
		}
		return // its gone comes
	}
	lock, stage := i.lock, i.stage
	i.lock, i.stage = nil, nil
	host, self := i.host, c.Self()
	host.work.Go(func() {
		giveBack(lock, stage)
		host.root.Send(self, &putBack{})
	})
}

func (i *installer) publishEnd() {
	if i.now.State != InstallRunning {
		return
	}
	i.now = i.now.ended(i.at(), i.program, i.failure)
	log := i.host.log.With("adapter", i.now.Adapter, "version", i.now.Version)
	if i.failure != nil {
		log.Warn("installation failed", "code", string(i.failure.Code))
	} else {
		log.Info("installed", "path", i.program)
	}
	i.slot.publish(i.now)
}

// stop: the host stops.
func (i *installer) stop() {
	i.clock.stop()
	close(i.quit)
	lock, stage := i.lock, i.stage
	if lock != nil || stage != nil {
		i.host.work.Go(func() { giveBack(lock, stage) })
	}
	if i.failure == nil && !i.ending {
		i.failure = event.Fail(event.ServerStopped, "the server was stopped before the installation ended; ask for it again")
	}
	i.publishEnd()
}
