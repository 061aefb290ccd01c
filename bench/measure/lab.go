package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/bench/report"
)

// lab is where one run happens. Towards hostproc it stands in for a test.
type lab struct {
	Options
	ctx     context.Context
	dir     string // on the disk whose syncs are measured
	cleanup []func()
	failed  bool
	began   time.Time
}

var _ hostproc.TB = (*lab)(nil)

// Run measures. What could not be measured is in the error; what was is in the result
// all the same.
func Run(ctx context.Context, o Options) (*report.Result, error) {
	// Not the temp directory, which may be in memory, where a sync costs nothing.
	base, err := os.UserCacheDir()
	if err != nil {
		base = "."
	}
	base = filepath.Join(base, "agenthost-bench")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(base, "")
	if err != nil {
		return nil, err
	}
	l := &lab{Options: o, ctx: ctx, dir: dir, began: time.Now()}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	defer l.clean(0)
	r := &report.Result{
		Schema: report.Schema, Started: time.Now().UTC(), Version: o.Version, Commit: o.Commit, Profile: "quick",
		Machine: Machine(), Settings: map[string]string{},
	}
	for k, v := range limits {
		r.Settings[k] = fmt.Sprint(v)
	}
	if o.Full {
		r.Profile = "full"
	}
	for _, s := range scenarios() {
		if (s.hidden || s.fullOnly && !o.Full) && len(o.Run) == 0 || len(o.Run) > 0 && !slices.Contains(o.Run, s.name) {
			continue
		}
		err = errors.Join(err, l.scenario(r, s))
		if ctx.Err() != nil {
			break
		}
	}
	r.Machine.LoadAfter = load()
	return r, err
}

func (l *lab) scenario(r *report.Result, s scenario) error {
	cases, reps := s.quick, 3
	if l.Full {
		cases, reps = s.full, 7
	} else if s.quickReps > 0 {
		reps = s.quickReps
	}
	if l.Reps > 0 {
		reps = l.Reps
	}
	if s.reps > 0 {
		reps = min(reps, s.reps)
	}
	if len(l.Cases) > 0 {
		all := slices.Concat(s.full, s.quick)
		cases = slices.DeleteFunc(slices.Clone(l.Cases), func(n string) bool { return !slices.Contains(all, n) })
	}
	if len(cases) == 0 {
		return nil
	}
	names := slices.Clone(s.subjects)
	if l.Before != "" && slices.Contains(names, responsesName) {
		names = append(names, before...)
	}
	if s.peers {
		for _, p := range l.Peers {
			names = append(names, p.Name)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		if len(l.Subjects) > 0 {
			return !slices.Contains(l.Subjects, n)
		}
		return (n == copyName || n == embeddedName) && !l.Full && len(l.Run) == 0 // the quick profile has its gates beside the plain host
	})
	for k, v := range s.config {
		r.Settings[s.name+": "+k] = fmt.Sprint(v)
	}
	for _, v := range s.env {
		r.Settings[s.name+": environment"] = v
	}
	var errs []error
	try := func(what string, f func() error) bool {
		err := l.guard(f)
		var none drive.Unsupported
		if errors.As(err, &none) { // this subject has no such thing
			return false
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s, %s: %w", s.name, what, err))
			r.Notes = append(r.Notes, errs[len(errs)-1].Error())
		}
		return err == nil
	}
	depth := len(l.cleanup)
	defer l.clean(depth)
	started := map[string]*subject{}
	if !s.fresh {
		for _, name := range names {
			try(name, func() (err error) {
				started[name], err = l.start(name, s)
				return err
			})
		}
	}
	for _, kase := range cases {
		for rep := range reps {
			for _, name := range names {
				l.say("%s, %s: %s (%d of %d)", s.name, kase, name, rep+1, reps)
				try(kase+", "+name, func() (err error) {
					sub := started[name]
					if s.fresh {
						at := len(l.cleanup)
						defer l.clean(at)
						if s.begin != nil {
							sub, err = s.begin(l, name, kase)
						} else {
							sub, err = l.start(name, s)
						}
						if err != nil {
							return err
						}
					}
					if sub == nil {
						return nil // it did not start, and was noted
					}
					f, err := s.run(l, sub, kase)
					if err == nil {
						r.Add(s.name, kase, name, f)
					}
					return err
				})
				if l.ctx.Err() != nil {
					return errors.Join(append(errs, l.ctx.Err())...)
				}
			}
		}
	}
	return errors.Join(errs...)
}

func (l *lab) say(format string, args ...any) {
	if l.Out != nil {
		_, _ = fmt.Fprintf(l.Out, "%s "+format+"\n", append([]any{time.Since(l.began).Round(time.Second)}, args...)...)
	}
}

// stop is the panic of Fatalf.
type stop struct{ error }

func (l *lab) guard(f func() error) (err error) {
	defer func() {
		if s, ok := recover().(stop); ok { // of Fatalf: hostproc speaks to a test
			err = s.error
		}
	}()
	return f()
}

// clean undoes what was begun since there were depth things to undo.
func (l *lab) clean(depth int) {
	for len(l.cleanup) > depth {
		last := l.cleanup[len(l.cleanup)-1]
		l.cleanup = l.cleanup[:len(l.cleanup)-1]
		last()
	}
}

// Helper is nothing here.
func (l *lab) Helper() {}

// Failed asks for a server's log.
func (l *lab) Failed() bool { return l.failed }

// Fatalf ends what guard runs.
func (l *lab) Fatalf(format string, args ...any) {
	l.failed = true
	panic(stop{fmt.Errorf(format, args...)})
}

// Errorf is noted as it comes.
func (l *lab) Errorf(format string, args ...any) { l.Logf(format, args...) }

// Logf is noted as it comes.
func (l *lab) Logf(format string, args ...any) { l.say("  "+format, args...) }

// Cleanup is called at the end of what began it.
func (l *lab) Cleanup(f func()) { l.cleanup = append(l.cleanup, f) }

// TempDir is removed at the end of what began it.
func (l *lab) TempDir() string {
	dir, err := os.MkdirTemp(l.dir, "")
	if err != nil {
		l.Fatalf("%v", err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Machine is the one this runs on.
func Machine() report.Machine {
	m := report.Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), LoadBefore: load()}
	m.Kernel = word("/proc/sys/kernel/osrelease")
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if v, ok := strings.CutPrefix(line, "model name"); ok {
				m.CPU = strings.TrimSpace(strings.TrimLeft(v, "\t :"))
				break
			}
		}
	}
	return m
}

func load() string {
	f := strings.Fields(word("/proc/loadavg"))
	return strings.Join(f[:min(len(f), 3)], " ")
}

func word(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
