package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agenthost/agenthost/actors/store/sqlite"
	"github.com/agenthost/agenthost/bench/chaos/faultplan"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
	"github.com/agenthost/agenthost/bench/hostproc"
)

// exitStore is the exit code of a server whose store cannot keep its promises.
const exitStore = 74

// inject does one fault from its beginning to its end.
func (c *conductor) inject(ctx context.Context, f schedule.Fault) error {
	c.report.Faults[f.Kind]++
	c.report.Injected++
	if f.Kind.Kills() {
		c.report.Kills++
	}
	switch f.Kind {
	case schedule.KillServer:
		return c.killServer(ctx, f)
	case schedule.PowerCut:
		return c.powerCut()
	case schedule.Drain:
		c.host.Signal(syscall.SIGTERM)
		c.host.Ended(hostproc.StopTimeout)
		if left := c.host.Marked(); len(left) > 0 {
			c.broke(NoTrace, "drain", "alive after a drained server's end: %v", left)
		}
		return c.restart()
	case schedule.KillCLI:
		c.hit(f, syscall.SIGKILL, c.victims(CLIVerb+" "+schedule.Exec))
	case schedule.KillRunner:
		c.hit(f, syscall.SIGKILL, append(c.victims(CLIVerb+" codex"), c.victims(CLIVerb+" claude")...))
	case schedule.KillTool:
		c.hit(f, syscall.SIGKILL, c.victims(CLIVerb+" mcp"))
	case schedule.KillWarden:
		c.warden = true
		if w, ok := c.host.Warden(); ok {
			w.Signal(syscall.SIGKILL)
		}
	case schedule.StopServer:
		c.host.Signal(syscall.SIGSTOP)
		err := c.wait(ctx, f.For)
		c.host.Signal(syscall.SIGCONT)
		return err
	case schedule.StopCLI:
		p, ok := c.hit(f, syscall.SIGSTOP, c.victims(CLIVerb+" "))
		err := c.wait(ctx, f.For)
		if ok {
			p.Signal(syscall.SIGCONT)
		}
		return err
	case schedule.Descriptors:
		return c.takeDescriptors(ctx, f)
	case schedule.SpawnFailure:
		return c.takeCLIs(ctx, f)
	default:
		return c.seam(ctx, f)
	}
	return nil
}

// victims are the server's processes with these words in their command line.
func (c *conductor) victims(words string) []hostproc.Proc {
	list := slices.DeleteFunc(c.host.Marked(), func(p hostproc.Proc) bool { return !strings.Contains(p.Command, words) })
	slices.SortFunc(list, func(a, b hostproc.Proc) int { return a.Pid - b.Pid })
	return list
}

func (c *conductor) hit(f schedule.Fault, sig syscall.Signal, list []hostproc.Proc) (p hostproc.Proc, ok bool) {
	if len(list) > 0 {
		p = list[f.Pick%len(list)]
		ok = p.Signal(sig)
	}
	if !ok {
		c.report.Missed++
	}
	return p, ok
}

func (c *conductor) restart() error {
	c.host.Restart()
	return c.started()
}

// The warden ends what a killed server left within 2 s; a machine that is busy with
// other things gets some more.
const (
	wardenLimit    = 3 * time.Second
	wardenLeniency = 7 * time.Second
)

func (c *conductor) killServer(ctx context.Context, f schedule.Fault) error {
	c.host.Kill()
	if err := c.wait(ctx, f.For); err != nil {
		return err
	}
	if f.For >= wardenLimit && !c.warden && !poll(wardenLeniency, func() bool { return len(c.host.Marked()) == 0 }) {
		c.broke(NoTrace, "warden", "alive %s after the server was killed: %v", f.For+wardenLeniency, c.host.Marked())
	}
	return c.restart()
}

// powerCut ends everything at once and takes back what was not synced.
func (c *conductor) powerCut() error {
	c.host.Kill()
	for _, p := range c.host.Marked() {
		p.Signal(syscall.SIGKILL)
	}
	poll(5*time.Second, func() bool { return len(c.host.Marked()) == 0 })
	if err := sqlite.RestoreLasting(filepath.Join(c.Dir, faultplan.Lasting), c.host.StateDir); err != nil {
		return err
	}
	c.boots++
	c.plan.Boot = fmt.Sprintf("boot-%d", c.boots)
	if err := c.plan.Write(c.planFile()); err != nil {
		return err
	}
	return c.restart()
}

// takeDescriptors leaves the server hardly any more.
func (c *conductor) takeDescriptors(ctx context.Context, f schedule.Fault) error {
	var old unix.Rlimit
	if err := unix.Prlimit(c.host.Pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
		return fmt.Errorf("prlimit: %w", err)
	}
	few := unix.Rlimit{Cur: uint64(max(c.host.Descriptors(), 0) + f.Pick%4), Max: old.Max}
	if err := unix.Prlimit(c.host.Pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
		return fmt.Errorf("prlimit: %w", err)
	}
	err := c.wait(ctx, f.For)
	if e := unix.Prlimit(c.host.Pid, unix.RLIMIT_NOFILE, &old, nil); e != nil && c.host.Running() {
		return fmt.Errorf("prlimit: %w", e)
	}
	return c.survived(f.Kind, err)
}

// takeCLIs makes starting a CLI fail: it is gone, not executable, or no program.
func (c *conductor) takeCLIs(ctx context.Context, f schedule.Fault) error {
	put := func(text string, mode os.FileMode) error {
		for _, name := range programs {
			file := c.cli(name)
			if text == "" {
				if err := os.Remove(file); err != nil {
					return err
				}
				continue
			}
			if text == "script" {
				if err := os.WriteFile(file+".new", []byte(c.script(name)), mode); err != nil {
					return err
				}
			} else if err := os.WriteFile(file+".new", []byte(text), mode); err != nil {
				return err
			}
			if err := os.Rename(file+".new", file); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	switch f.Pick % 3 {
	case 0:
		err = put("", 0)
	case 1:
		err = put("script", 0o644)
	case 2:
		err = put("\x7fELF, but not really", 0o755)
	}
	if err != nil {
		return err
	}
	waited := c.wait(ctx, f.For)
	if err := put("script", 0o755); err != nil {
		return err
	}
	return c.survived(f.Kind, waited)
}

// seam lets the server's disk fail or its clock jump.
func (c *conductor) seam(ctx context.Context, f schedule.Fault) error {
	p := c.plan
	once, forever := &faultplan.Fault{Error: "EIO", Times: 1}, &faultplan.Fault{Error: "EIO", Times: -1}
	switch f.Kind {
	case schedule.FullDisk:
		if f.Pick%2 == 0 {
			p.Free = belowFloor
			f.For = max(f.For, 2*time.Second) // it looks once a second
			break
		}
		p.Writes = &faultplan.Fault{Error: "ENOSPC", Times: -1}
	case schedule.WriteError:
		p.Writes = forever
	case schedule.WriteGlitch:
		p.Writes = once
	case schedule.TornWrite:
		p.Torn = once
	case schedule.ReadError:
		p.Reads = forever
	case schedule.SyncError:
		p.Syncs = once
	case schedule.SlowSync:
		p.SlowSyncMS = 20 + f.Pick%180
	case schedule.ClockJump:
		p.ClockS = int64(f.Pick%7200 - 3600)
	}
	if err := p.Write(c.planFile()); err != nil {
		return err
	}
	if f.Kind.EndsServer() {
		// It notices with its next write, which a caller that insists sees to.
		select {
		case <-c.host.Done():
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(fatalLimit):
			c.report.Missed++ // nothing was written
		}
	} else if err := c.wait(ctx, max(f.For, 100*time.Millisecond)); err != nil {
		return err
	}
	if err := c.plan.Write(c.planFile()); err != nil {
		return err
	}
	return c.survived(f.Kind, nil)
}

// belowFloor is less room than the servers of a run want of their disk (run.go), and
// enough for the ends of what they run.
const belowFloor = 8 << 20

// fatalLimit is how long a server may take to end when its disk fails for good.
const fatalLimit = 4 * time.Second

// mayEnd says that a server may end itself, with the exit code for that.
func mayEnd(k schedule.FaultKind) bool {
	return k == schedule.WriteError || k == schedule.SyncError || k == schedule.ReadError || k == schedule.TornWrite
}

// survived starts a server again that had to end itself, and complains about one that
// had not.
func (c *conductor) survived(k schedule.FaultKind, err error) error {
	if err != nil || c.host.Running() {
		return err
	}
	if code := c.host.ExitCode(); code != exitStore || !mayEnd(k) {
		c.broke(Serves, string(k), "the server ended with exit code %d: %s", code, c.host.LogTail())
	}
	return c.restart()
}
