package measure

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// histories are many turns on one process: what a turn costs must not grow.
func histories() scenario {
	return scenario{name: "history", subjects: []string{responsesName, agentsName}, fresh: true, reps: 1, full: []string{"5000 turns"},
		run: func(l *lab, s *subject, _ string) (report.Figures, error) {
			const fifth = 1000
			var each [5]time.Duration
			var p50 [5]float64
			for i := range each {
				before := cpu(s.pid)
				f, err := l.turns(s, 8, fifth, true)
				if err != nil {
					return nil, err
				}
				each[i], p50[i] = cpu(s.pid)-before, f["p50_ms"]
			}
			return report.Figures{"cpu_growth": float64(each[4]) / float64(each[0]), "p50_growth": p50[4] / p50[0], "rss_mib": rss(s.pid) / (1 << 20)}, nil
		}}
}

// churns are short turns, many at a time: nothing may grow.
func churns() scenario {
	return scenario{name: "churn", subjects: []string{agentsName}, fresh: true, reps: 1, full: []string{"10000 turns"},
		run: func(l *lab, s *subject, _ string) (report.Figures, error) {
			if _, err := l.turns(s, 16, 1000, true); err != nil {
				return nil, err
			}
			base, size := s.host.Usage(), rss(s.pid)
			if _, err := l.turns(s, 16, 9000, true); err != nil {
				return nil, err
			}
			now := s.host.Usage()
			return report.Figures{
				"rss_growth": rss(s.pid) / size, "descriptors_more": float64(now.Descriptors - base.Descriptors), "goroutines_more": float64(now.Goroutines - base.Goroutines),
			}, nil
		}}
}

// cancels end 64 running turns at once, of CLIs that obey and that do not.
func cancels() scenario {
	return scenario{name: "cancel", subjects: []string{plainName, report.Control, agentsName}, fresh: true, reps: 3,
		config: map[string]any{"max_concurrent_turns": 64, "interrupt_grace": "500ms", "terminate_grace": "500ms"},
		full:   []string{"obeys", "ignore-int", "ignore-signals", "escape"},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			const n = 64
			mode := "silent"
			if kase != "obeys" {
				mode += "," + kase
			}
			var mu sync.Mutex
			var list []drive.Session
			err := parallel(l.ctx, n, n, func(ctx context.Context, _ *drive.Session, i int) error {
				ses, err := s.wire.Session(ctx)
				if err != nil {
					return err
				}
				mu.Lock()
				list = append(list, ses)
				mu.Unlock()
				return ses.Send(ctx, "[[mode: "+mode+"]] tag:t"+strconv.Itoa(i))
			})
			if err == nil {
				err = l.until(func() bool { r, err := runs(s.log); return err == nil && len(r.order) == n })
			}
			if err != nil {
				return nil, err
			}
			open, began := 0, time.Now()
			if s.host != nil {
				open = s.host.Descriptors()
			}
			ended := make([]time.Duration, n)
			err = parallel(l.ctx, n, n, func(ctx context.Context, _ *drive.Session, i int) error {
				began := time.Now()
				if err := list[i].Cancel(ctx); err != nil || s.host == nil {
					return err
				}
				for {
					end, err := list[i].Ended(ctx)
					if ended[i] = time.Since(began); err != nil || end != "" {
						return err
					}
					wait(ctx, 5*time.Millisecond)
				}
			})
			if err == nil {
				err = l.until(func() bool { return children(s.pid) == 0 })
			}
			f := report.Figures{"gone_ms": ms(time.Since(began)), "left": float64(marked(s))}
			if s.host != nil {
				f["ended_ms"], f["descriptors_more"] = ms(drive.Quantile(ended, .5)), float64(s.host.Descriptors()-open)
			}
			return f, err
		}}
}
