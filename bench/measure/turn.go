package measure

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// turns are short turns of ten messages by several workers, each in its session, or in
// a new one for every turn.
func turns() scenario {
	return scenario{name: "turn", subjects: all, peers: true,
		quick: []string{"c=1", "c=16"},
		full:  []string{"c=1", "c=4", "c=16", "c=64", "c=1 new sessions", "c=16 new sessions"},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			c, err := strconv.Atoi(strings.TrimPrefix(strings.Fields(kase)[0], "c="))
			if err != nil {
				return nil, err
			}
			// Those of 16 and more, whose processor time is judged, are over 1,000 in all
			// repetitions; one after the other they take longest.
			n := map[int]int{1: 200, 4: 400}[c]
			switch {
			case !l.Full && c == 1:
				n = 150
			case !l.Full || n == 0 && strings.HasSuffix(kase, "new sessions"):
				n = 300
			case n == 0:
				n = 500
			}
			return l.turns(s, c, n, strings.HasSuffix(kase, "new sessions"))
		}}
}

// smoke is one turn of each subject: it is for tests, and has no goals.
func smoke(dialect string) scenario {
	return scenario{name: "smoke", subjects: all, dialect: dialect, hidden: true, reps: 1, quick: []string{dialect}, full: []string{dialect},
		run: func(l *lab, s *subject, _ string) (report.Figures, error) {
			ses, err := s.wire.Session(l.ctx)
			if err != nil {
				return nil, err
			}
			var sight drive.Sight
			err = ses.Turn(l.ctx, "[[events: 100 200 0 16]]", &sight)
			return report.Figures{"events": float64(sight.Events), "lost": float64(sight.Lost)}, err
		}}
}

const tenMessages = "[[events: 10 200 0 1]]"

// turns runs n turns by c workers.
func (l *lab) turns(s *subject, c, n int, fresh bool) (report.Figures, error) {
	total, first, posted, lost := make([]time.Duration, n), make([]time.Duration, n), make([]time.Duration, n), 0
	var mu sync.Mutex
	if err := l.turn(s, nil, nil); err != nil { // what is only done once is not measured
		return nil, err
	}
	server, client, clis, began, did := cpu(s.pid), ownCPU(), childCPU(s.pid), time.Now(), l.work(s)
	err := parallel(l.ctx, c, n, func(ctx context.Context, worker *drive.Session, i int) error {
		start := time.Now()
		if *worker == nil || fresh {
			ses, err := s.wire.Session(ctx)
			if err != nil {
				return err
			}
			*worker = ses
			if !fresh {
				start = time.Now()
			}
		}
		var sight drive.Sight
		if err := (*worker).Turn(ctx, tenMessages, &sight); err != nil {
			return err
		}
		total[i], first[i], posted[i] = time.Since(start), sight.First.Sub(start), sight.Posted
		mu.Lock()
		lost += sight.Lost + 10 - sight.Events - sight.Lost
		mu.Unlock()
		return nil
	})
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	f := report.Figures{
		"p50_ms": ms(drive.Quantile(total, .5)), "p99_ms": ms(drive.Quantile(total, .99)), "first_ms": ms(drive.Quantile(first, .5)),
		"turns_per_s": float64(n) / took.Seconds(), "client_cpu_s": (ownCPU() - client).Seconds() * 1000 / float64(n), "lost": float64(lost),
	}
	f["cli_cpu_s"] = (childCPU(s.pid) - clis).Seconds() * 1000 / float64(n)
	if p50 := drive.Quantile(posted, .5); p50 > 0 {
		f["post_ms"] = ms(p50)
	}
	if s.pid != 0 {
		f["server_cpu_s"] = (cpu(s.pid) - server).Seconds() * 1000 / float64(n)
	}
	l.work(s).since(did).per(float64(n), "turn", f)
	return f, nil
}

// turn runs one of ten messages, in a new session if ses is nil.
func (l *lab) turn(s *subject, ses drive.Session, sight *drive.Sight) (err error) {
	if ses == nil {
		if ses, err = s.wire.Session(l.ctx); err != nil {
			return err
		}
	}
	if sight == nil {
		sight = &drive.Sight{}
	}
	if err := ses.Turn(l.ctx, tenMessages, sight); err != nil {
		return err
	}
	if sight.Events != 10 || sight.Lost != 0 {
		return fmt.Errorf("%d of 10 messages came, %d were left out", sight.Events, sight.Lost)
	}
	return nil
}

// parallel does n things by c workers, each with a session of its own that it may
// make; the first error ends it.
func parallel(ctx context.Context, c, n int, do func(ctx context.Context, worker *drive.Session, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range c {
		wg.Go(func() {
			var ses drive.Session
			for i := range next {
				if err := do(ctx, &ses, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}
