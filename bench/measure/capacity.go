package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// capacities are how much a server holds: each kind of thing in several counts, beside
// the same server without any, so that its growth can be told.
func capacities() scenario {
	return scenario{name: report.Capacity, subjects: []string{agentsName}, fresh: true, fullOnly: true, reps: 1, env: collected,
		config: map[string]any{"passivate_after": "1h", "max_sessions": many, "max_concurrent_turns": 1024, "min_available_memory": "0"},
		quick:  []string{"stored 1000", "known 1000", "streams 100", "running 10"},
		full: []string{"stored 1000", "stored 100000", "stored 1000000", "known 1000", "known 10000", "known 100000",
			"streams 1000", "streams 10000", "running 10", "running 100", "running 1000"},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			f := strings.Fields(kase)
			n, err := strconv.Atoi(f[1])
			if err != nil {
				return nil, err
			}
			if err := warm(l, s); err != nil {
				return nil, err
			}
			return map[string]func(*lab, *subject, int) (report.Figures, error){"stored": stored, "known": known, "streams": idling, "running": running}[f[0]](l, s, n)
		}}
}

// warm does what is only done once.
func warm(l *lab, s *subject) error { return l.turn(s, nil, nil) }

// rest is what a server holds at rest, beyond what it held before, and what it uses.
func (l *lab) rest(s *subject, before float64, n int) report.Figures {
	after := l.settled(s)
	used, began := cpu(s.pid), time.Now()
	wait(l.ctx, 5*time.Second)
	return report.Figures{
		"rss_mib": after / (1 << 20), "grown_mib": (after - before) / (1 << 20), "each_kib": (after - before) / float64(n) / 1024,
		"idle_cpu_percent": 100 * (cpu(s.pid) - used).Seconds() / time.Since(began).Seconds(), "goroutines": float64(s.host.Goroutines()),
	}
}

// stored are sessions on disk: what a start takes.
func stored(l *lab, s *subject, n int) (report.Figures, error) {
	empty, err := restarted(l, s)
	if err != nil {
		return nil, err
	}
	before := l.settled(s)
	s.host.Stop()
	began := time.Now()
	if err := l.seed(s.host.StateDir, n); err != nil {
		return nil, err
	}
	made := time.Since(began)
	took, err := restarted(l, s)
	if err != nil {
		return nil, err
	}
	f := l.rest(s, before, n)
	f["answer_ms"], f["answer_empty_ms"], f["seeded_per_s"], f["disk_mib"] = ms(took), ms(empty), float64(n)/made.Seconds(), size(s.host.StateDir)/(1<<20)
	return f, nil
}

// restarted is the time from the start of the program to its first durable answer.
func restarted(l *lab, s *subject) (time.Duration, error) {
	if s.host.Running() {
		s.host.Stop()
	}
	began := time.Now()
	s.host.Restart()
	s.pid, s.wire = s.host.Pid, drive.Agents(s.host.URL, oneToken, "codex")
	_, err := s.wire.Session(l.ctx)
	return time.Since(began), err
}

func size(dir string) (bytes float64) {
	list, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range list {
		bytes += fileSize(file)
	}
	return bytes
}

// unused is how long sessions without a turn stay in memory, and some more.
const unused = 7 * time.Second

// known are sessions that the server knows: when the last one was made, while those of
// the last seconds are still in memory, and later, when none is.
func known(l *lab, s *subject, n int) (report.Figures, error) {
	before, began := l.settled(s), time.Now()
	if _, err := l.create(s, n); err != nil {
		return nil, err
	}
	took := time.Since(began)
	made := l.settled(s)
	wait(l.ctx, unused)
	f := l.rest(s, before, n)
	f["made_mib"], f["made_each_kib"] = made/(1<<20), (made-before)/float64(n)/1024
	f["create_per_s"] = float64(n) / took.Seconds()
	return f, nil
}

// idling are open streams on which nothing comes.
func idling(l *lab, s *subject, n int) (f report.Figures, err error) {
	before := l.settled(s)
	var list []io.Closer
	defer func() {
		for _, c := range list {
			err = errors.Join(err, c.Close())
		}
	}()
	var ses drive.Session
	for len(list) < n {
		if len(list)%256 == 0 {
			if ses, err = s.wire.Session(l.ctx); err != nil {
				return nil, err
			}
		}
		c, err := ses.Idle(l.ctx)
		if err != nil {
			return nil, fmt.Errorf("stream %d: %w", len(list)+1, err)
		}
		list = append(list, c)
	}
	return l.rest(s, before, n), nil
}

// running are turns whose CLIs say nothing.
func running(l *lab, s *subject, n int) (report.Figures, error) {
	before, began := l.settled(s), time.Now()
	var mu sync.Mutex
	var list []drive.Session
	err := parallel(l.ctx, 16, n, func(ctx context.Context, _ *drive.Session, i int) error {
		ses, err := s.wire.Session(ctx)
		if err != nil {
			return err
		}
		mu.Lock()
		list = append(list, ses)
		mu.Unlock()
		return ses.Send(ctx, "[[mode: silent]] tag:t"+strconv.Itoa(i))
	})
	if err == nil {
		err = l.within(2*time.Minute, func() bool { r, err := runs(s.log); return err == nil && len(r.order) == n })
	}
	if err != nil {
		return nil, err
	}
	started := time.Since(began)
	f := l.rest(s, before, n)
	f["start_per_s"] = float64(n) / started.Seconds()
	began = time.Now()
	err = parallel(l.ctx, 64, n, func(ctx context.Context, _ *drive.Session, i int) error { return list[i].Cancel(ctx) })
	if err == nil {
		err = l.within(2*time.Minute, func() bool { return children(s.pid) == 0 })
	}
	f["gone_ms"], f["left"] = ms(time.Since(began)), float64(marked(s))
	return f, err
}
