package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// overloads hand in far more turns than may run at once.
func overloads() scenario {
	return scenario{name: "overload", subjects: hosts, fresh: true, config: map[string]any{"max_concurrent_turns": 4},
		quick: []string{"300 sessions"}, full: []string{"1000 sessions", "one session"}, reps: 3, quickReps: 1,
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			n := 1000
			if kase == "300 sessions" {
				n = 300
			}
			list := make([]drive.Session, n)
			for i := range list {
				if i > 0 && kase == "one session" {
					list[i] = list[0]
					continue
				}
				ses, err := s.wire.Session(l.ctx)
				if err != nil {
					return nil, err
				}
				list[i] = ses
			}
			began := time.Now()
			for i, ses := range list { // one after the other, so that the order of acceptance is known
				if err := ses.Send(l.ctx, fmt.Sprintf("[[events: 1 50 0 1]] tag:t%d", i)); err != nil {
					return nil, err
				}
			}
			r, err := waitRuns(l.ctx, s.log, n)
			if err != nil {
				return nil, err
			}
			f := report.Figures{
				"drain_s": time.Since(began).Seconds(), "at_once": float64(r.atOnce), "lost": float64(n - len(r.order) + r.twice),
				"shift": float64(r.shift()), "rss_mib": rss(s.pid) / (1 << 20),
			}
			return f, nil
		}}
}

// refusals are an overload of one session with the queue that is usual.
func refusals() scenario {
	return scenario{name: "overload", subjects: []string{responsesName, agentsName}, fresh: true, config: map[string]any{"max_concurrent_turns": 4, "max_queue": 32},
		full: []string{"one session, default queue"}, reps: 3, run: func(l *lab, s *subject, _ string) (report.Figures, error) { return l.refusals(s, 300) }}
}

// refusals hand more to one session than its queue takes: what was accepted runs, in
// order, and the rest is refused.
func (l *lab) refusals(s *subject, n int) (report.Figures, error) {
	ses, err := s.wire.Session(l.ctx)
	if err != nil {
		return nil, err
	}
	began, accepted, refused := time.Now(), 0, 0
	for range n {
		err := ses.Send(l.ctx, fmt.Sprintf("[[events: 1 50 0 1]] tag:t%d", accepted))
		var no *drive.Refused
		switch {
		case err == nil:
			accepted++
		case errors.As(err, &no) && no.Status == 429:
			refused++
		default:
			return nil, err
		}
	}
	r, err := waitRuns(l.ctx, s.log, accepted)
	if err != nil {
		return nil, err
	}
	return report.Figures{
		"drain_s": time.Since(began).Seconds(), "at_once": float64(r.atOnce), "shift": float64(r.shift()), "rss_mib": rss(s.pid) / (1 << 20),
		"refused": float64(refused), "lost": float64(n - accepted - refused + accepted - len(r.order) + r.twice),
	}, nil
}

// waitRuns waits until n turns have ended, by what the stand-ins noted.
func waitRuns(ctx context.Context, log string, n int) (*ran, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	quiet := time.Now()
	for size, ended := int64(-1), 0; ; {
		if info, err := os.Stat(log); err == nil && info.Size() != size {
			size, quiet = info.Size(), time.Now()
			if ended = countEnds(log); ended >= n {
				return runs(log)
			}
		}
		if time.Since(quiet) > time.Minute {
			return nil, fmt.Errorf("%d of %d turns have ended and nothing happens for a minute", ended, n)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func countEnds(log string) int {
	text, err := os.ReadFile(log)
	if err != nil {
		return 0
	}
	n := 0
	for i := 0; i+5 <= len(text); i++ {
		if string(text[i:i+5]) == " end " {
			n++
		}
	}
	return n
}

// lights queue much of one principal and then a little of another.
func lights() scenario {
	return scenario{name: "light", subjects: []string{responsesName, agentsName}, fresh: true, config: map[string]any{"max_concurrent_turns": 4},
		full: []string{"8 behind 200"}, reps: 3,
		run: func(l *lab, s *subject, _ string) (report.Figures, error) {
			send := func(w drive.Wire, sessions, each, from int) error {
				for i := range sessions {
					ses, err := w.Session(l.ctx)
					if err != nil {
						return err
					}
					for j := range each {
						if err := ses.Send(l.ctx, fmt.Sprintf("[[events: 3 50 25 1]] tag:t%d", from+i*each+j)); err != nil {
							return err
						}
					}
				}
				return nil
			}
			if err := send(s.wire, 40, 5, 0); err != nil {
				return nil, err
			}
			ran := 0 // of the one before the other came: its wait is of the rest
			if so, err := runs(s.log); err == nil {
				ran = len(so.order)
			}
			if err := send(s.second, 8, 1, 200); err != nil {
				return nil, err
			}
			began := time.Now()
			r, err := waitRuns(l.ctx, s.log, 208)
			if err != nil {
				return nil, err
			}
			last := 0
			for place, turn := range r.order {
				if turn >= 200 {
					last = place
				}
			}
			return report.Figures{"wait_share": float64(last-ran) / float64(len(r.order)-ran), "drain_s": time.Since(began).Seconds(), "lost": float64(208 - len(r.order))}, nil
		}}
}
