package measure

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// collected keeps the heaps of the hosts close to what lives, so that memory can be
// told from a process' size.
var collected = []string{"GOGC=10"}

// sessions are made by 64 clients; what one costs is the slope between a third and all
// of them.
func sessions() scenario {
	return scenario{name: "sessions", subjects: []string{plainName, report.Control, agentsName, responsesName}, fresh: true, env: collected,
		quick: []string{"2000"}, full: []string{"3000", "30000", "100000"}, reps: 3, quickReps: 1, config: map[string]any{"passivate_after": "1h"},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			n, err := strconv.Atoi(kase)
			if err != nil {
				return nil, err
			}
			create := func(n int) error {
				return parallel(l.ctx, 64, n, func(ctx context.Context, _ *drive.Session, _ int) error {
					_, err := s.wire.Session(ctx)
					return err
				})
			}
			if err := create(n / 3); err != nil {
				return nil, err
			}
			at, server, began := l.settled(s), cpu(s.pid), time.Now()
			if err := create(n - n/3); err != nil {
				return nil, err
			}
			took := time.Since(began)
			used := cpu(s.pid) - server
			rest := float64(n - n/3)
			after := l.settled(s)
			f := report.Figures{
				"create_per_s": rest / took.Seconds(), "create_cpu_us": us(used) / rest,
				"session_kib": (after - at) / rest / 1024, "rss_mib": after / (1 << 20),
			}
			return f, nil
		}}
}

// settled is a process' size once it no longer shrinks.
func (l *lab) settled(s *subject) float64 {
	now := rss(s.pid)
	for range 20 {
		wait(l.ctx, 100*time.Millisecond)
		next := rss(s.pid)
		if next >= now*0.99 {
			return next
		}
		now = next
	}
	return now
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// streams are open and nothing comes.
func streams() scenario {
	return scenario{name: "streams", subjects: []string{plainName, agentsName}, fresh: true, env: collected,
		full: []string{"2000", "8000"}, reps: 3,
		run: func(l *lab, s *subject, kase string) (f report.Figures, err error) {
			n, err := strconv.Atoi(kase)
			if err != nil {
				return nil, err
			}
			var list []io.Closer
			defer func() {
				for _, c := range list {
					err = errors.Join(err, c.Close())
				}
			}()
			var ses drive.Session
			open := func(n int) error {
				for range n {
					if len(list)%256 == 0 {
						if ses, err = s.wire.Session(l.ctx); err != nil {
							return err
						}
					}
					c, err := ses.Idle(l.ctx)
					if err != nil {
						return err
					}
					list = append(list, c)
				}
				return nil
			}
			if err := open(n / 3); err != nil {
				return nil, err
			}
			at := l.settled(s)
			if err := open(n - n/3); err != nil {
				return nil, err
			}
			after := l.settled(s)
			server, began := cpu(s.pid), time.Now()
			wait(l.ctx, 5*time.Second)
			return report.Figures{
				"stream_kib": (after - at) / float64(n-n/3) / 1024, "rss_mib": after / (1 << 20),
				"idle_cpu_percent": 100 * (cpu(s.pid) - server).Seconds() / time.Since(began).Seconds(),
			}, nil
		}}
}

// openings are many streams asked for at once.
func openings() scenario {
	return scenario{name: "opening", subjects: []string{plainName, report.Control, agentsName}, full: []string{"256 on 16"},
		run: func(l *lab, s *subject, _ string) (report.Figures, error) {
			var list []drive.Session
			for range 16 {
				ses, err := s.wire.Session(l.ctx)
				if err != nil {
					return nil, err
				}
				list = append(list, ses)
			}
			var mu sync.Mutex
			var took []time.Duration
			var opened []io.Closer
			began := time.Now()
			err := parallel(l.ctx, 256, 256, func(ctx context.Context, _ *drive.Session, i int) error {
				c, err := list[i%16].Idle(ctx)
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(began))
				if c != nil {
					opened = append(opened, c)
				}
				return err
			})
			for _, c := range opened {
				err = errors.Join(err, c.Close())
			}
			return report.Figures{"last_ms": ms(drive.Quantile(took, 1)), "p50_ms": ms(drive.Quantile(took, .5))}, err
		}}
}

// restarts are starts with many stored sessions.
func restarts() scenario {
	return scenario{name: "restart", subjects: []string{agentsName}, fresh: true, reps: 3, full: []string{"10000", "100000"},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			n, err := strconv.Atoi(strings.TrimSpace(kase))
			if err != nil {
				return nil, err
			}
			err = parallel(l.ctx, 64, n, func(ctx context.Context, _ *drive.Session, _ int) error {
				_, err := s.wire.Session(ctx)
				return err
			})
			if err != nil {
				return nil, err
			}
			s.host.Stop()
			began := time.Now()
			s.host.Restart()
			s.wire = drive.Agents(s.host.URL, oneToken, "codex")
			s.pid = s.host.Pid
			if err := l.turn(s, nil, nil); err != nil {
				return nil, err
			}
			return report.Figures{"answer_s": time.Since(began).Seconds(), "rss_mib": rss(s.pid) / (1 << 20)}, nil
		}}
}
