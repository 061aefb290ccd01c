package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
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
		quick: []string{"2000"}, full: []string{"3000", "30000"}, reps: 3, quickReps: 1, config: map[string]any{"passivate_after": "1h"},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			n, err := strconv.Atoi(kase)
			if err != nil {
				return nil, err
			}
			if _, err := l.create(s, n/3); err != nil {
				return nil, err
			}
			at, server, began := l.settled(s), cpu(s.pid), time.Now()
			if _, err := l.create(s, n-n/3); err != nil {
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

// creations are sessions made by 64 clients with the collector as it is: few, so few that
// hosts with a process a session can take part, and many.
func creations() scenario {
	return scenario{name: "create", subjects: []string{plainName, report.Control, responsesName, agentsName}, fresh: true, peers: true, full: []string{fewSessions, "10000 sessions"}, reps: 3,
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			n := 10_000
			if kase == fewSessions {
				n = 200
			} else if s.peer {
				return nil, drive.Unsupported("cheap session")
			}
			if _, err := l.create(s, 8); err != nil { // what is only done once
				return nil, err
			}
			used, began := cpu(s.pid), time.Now()
			_, err := l.create(s, n)
			return report.Figures{"create_per_s": float64(n) / time.Since(began).Seconds(), "create_cpu_us": us(cpu(s.pid)-used) / float64(n)}, err
		}}
}

const fewSessions = "200 sessions"

// passivations are sessions that have left memory: what the server still keeps of each.
func passivations() scenario {
	return scenario{name: "passivated", subjects: []string{agentsName}, fresh: true, env: collected, full: []string{"20000"}, reps: 2, config: map[string]any{"passivate_after": "1s", "max_sessions": many},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			n, err := strconv.Atoi(kase)
			if err != nil {
				return nil, err
			}
			var size [2]float64
			for i := range size {
				if _, err := l.create(s, []int{n / 10, n - n/10}[i]); err != nil {
					return nil, err
				}
				if err := l.within(time.Minute, func() bool { return s.host.Metric("agenthost_sessions_active") == 0 }); err != nil {
					return nil, fmt.Errorf("sessions stay in memory: %w", err)
				}
				size[i] = l.settled(s)
			}
			return report.Figures{"session_kib": (size[1] - size[0]) / float64(n-n/10) / 1024, "rss_mib": size[1] / (1 << 20)}, nil
		}}
}

// create makes n sessions by 64 clients.
func (l *lab) create(s *subject, n int) ([]drive.Session, error) {
	list := make([]drive.Session, n)
	err := parallel(l.ctx, 64, n, func(ctx context.Context, _ *drive.Session, i int) (err error) {
		list[i], err = s.wire.Session(ctx)
		return err
	})
	return list, err
}

// finishes are sessions of one turn each: what a finished turn leaves in memory, and what
// is left when all are deleted.
func finishes() scenario {
	return scenario{name: "finished", subjects: []string{plainName, agentsName, responsesName}, fresh: true, env: collected, full: []string{"1000 turns"}, reps: 3,
		config: map[string]any{"passivate_after": "1h", "max_concurrent_turns": 8},
		run: func(l *lab, s *subject, _ string) (report.Figures, error) {
			const n = 1000
			list, err := l.create(s, n)
			if err != nil {
				return nil, err
			}
			if err := l.turn(s, nil, nil); err != nil { // what is only done once
				return nil, err
			}
			before := l.settled(s)
			err = parallel(l.ctx, 8, n, func(ctx context.Context, _ *drive.Session, i int) error {
				var sight drive.Sight
				return list[i].Turn(ctx, tenMessages, &sight)
			})
			if err != nil {
				return nil, err
			}
			after := l.settled(s)
			if err := parallel(l.ctx, 16, n, func(ctx context.Context, _ *drive.Session, i int) error { return list[i].Delete(ctx) }); err != nil {
				return nil, err
			}
			return report.Figures{"turn_kib": (after - before) / n / 1024, "rss_deleted_mib": l.settled(s) / (1 << 20)}, nil
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
		full: []string{"8000"}, reps: 3,
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
