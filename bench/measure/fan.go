package measure

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// pacedFan is one in which no reader falls behind what the host has in memory, on however
// busy a machine: only then is what a host allocates the same each time.
const pacedFan = "32 readers, paced"

// fans are turns that many read.
func fans() scenario {
	return scenario{name: "fan", peers: true, subjects: []string{copyName, plainName, report.Control, agentsName, embeddedName}, dialect: "claude",
		quick: []string{"32 readers", pacedFan}, full: []string{"1 readers", "8 readers", "32 readers", pacedFan},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			readers, err := strconv.Atoi(strings.Fields(kase)[0])
			if err != nil {
				return nil, err
			}
			n, pace := 20_000, "0 16"
			switch {
			case kase == pacedFan:
				n, pace = 1000, "1000 1"
			case !l.Full:
				n = 5000
			}
			ses, err := s.wire.Session(l.ctx)
			if err != nil {
				return nil, err
			}
			sights := make([]*drive.Sight, readers)
			for i := range sights {
				sights[i] = &drive.Sight{}
			}
			before, server, did := rss(s.pid), cpu(s.pid), l.work(s)
			if err := ses.Fan(l.ctx, fmt.Sprintf("[[events: %d 200 %s]]", n, pace), sights); err != nil {
				return nil, err
			}
			first, last, seen := sights[0].First, sights[0].Last, 0
			for _, x := range sights {
				seen += x.Events
				if x.First.Before(first) {
					first = x.First
				}
				if x.Last.After(last) {
					last = x.Last
				}
			}
			f := report.Figures{
				"deliveries_per_s": float64(seen) / last.Sub(first).Seconds(), "lost": float64(readers*n - seen), "rss_growth_mib": (rss(s.pid) - before) / (1 << 20),
				"server_us_per_delivery": us(cpu(s.pid)-server) / float64(readers*n),
			}
			l.work(s).since(did).per(float64(readers*n), "delivery", f)
			return f, nil
		}}
}

// latencies are turns at a moderate rate: how long a text takes from the CLI's write to
// the reader.
func latencies() scenario {
	return scenario{name: "latency", peers: true, subjects: append([]string{copyName, embeddedName}, hosts...), dialect: "claude",
		full: []string{"turns=1", "turns=16", "turns=64", "readers=32"},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			if kase == "readers=32" {
				return l.heard(s, 32)
			}
			n, err := strconv.Atoi(strings.TrimPrefix(kase, "turns="))
			if err != nil {
				return nil, err
			}
			rate := max(1500/n, 15)
			each := max(rate, 30)
			sights := make([]drive.Sight, n)
			errs := make(chan error, n)
			for i := range sights {
				go func() {
					ses, err := s.wire.Session(l.ctx)
					if err == nil {
						sights[i].Keep = true
						err = ses.Turn(l.ctx, fmt.Sprintf("[[events: %d 200 %d 1]]", each, rate), &sights[i])
					}
					errs <- err
				}()
			}
			for range sights {
				if e := <-errs; e != nil {
					err = e
				}
			}
			list := make([]*drive.Sight, n)
			for i := range sights {
				list[i] = &sights[i]
			}
			return delays(list, n*each), err
		}}
}

// heard is one turn at that rate to several readers.
func (l *lab) heard(s *subject, readers int) (report.Figures, error) {
	const rate, n = 1500, 1500
	ses, err := s.wire.Session(l.ctx)
	if err != nil {
		return nil, err
	}
	sights := make([]*drive.Sight, readers)
	for i := range sights {
		sights[i] = &drive.Sight{Keep: true}
	}
	if err := ses.Fan(l.ctx, fmt.Sprintf("[[events: %d 200 %d 1]]", n, rate), sights); err != nil {
		return nil, err
	}
	return delays(sights, readers*n), nil
}

// delays are figures of what readers saw of n texts in all.
func delays(sights []*drive.Sight, n int) report.Figures {
	var all []time.Duration
	for _, s := range sights {
		all = append(all, s.Delays...)
	}
	return report.Figures{
		"p50_us": us(drive.Quantile(all, .5)), "p99_us": us(drive.Quantile(all, .99)), "max_us": us(drive.Quantile(all, 1)), "lost": float64(n - len(all)),
	}
}

// slows are one reader that reads 10 KB/s beside 31 that read what there is, and the same
// without it: the others must not wait for it, nor may it miss anything in between.
func slows() scenario {
	return scenario{name: "slow", subjects: []string{plainName, report.Control, agentsName}, dialect: "claude", fresh: true, full: []string{"31 readers and one of 10 KB/s"}, reps: 3,
		run: func(l *lab, s *subject, _ string) (report.Figures, error) {
			const n, fast = 3000, 31 // of 2,000 B: with what says so more than a socket holds
			play := func(slow *drive.Sight) ([]*drive.Sight, error) {
				ses, err := s.wire.Session(l.ctx)
				if err != nil {
					return nil, err
				}
				sights := make([]*drive.Sight, fast, fast+1)
				for i := range sights {
					sights[i] = &drive.Sight{Keep: true}
				}
				if slow != nil {
					sights = append(sights, slow)
				}
				err = ses.Fan(l.ctx, fmt.Sprintf("[[events: %d 2000 750 1]]", n), sights)
				return sights[:fast], err
			}
			without, err := play(nil)
			if err != nil {
				return nil, err
			}
			full := make(chan struct{})
			free := time.AfterFunc(5*time.Second, func() { close(full) }) // behind the turn's end
			defer free.Stop()
			slow := &drive.Sight{Slow: 10_000, Full: full}
			before := rss(s.pid)
			// A slow reader whose stream is ended has an error; what the others miss is counted.
			with, err := play(slow)
			if with == nil {
				return nil, err
			}
			a, b := delays(without, fast*n), delays(with, fast*n)
			return report.Figures{
				"p99_us": a["p99_us"], "p99_with_us": b["p99_us"], "p99_ratio": b["p99_us"] / a["p99_us"], "slow_events": float64(slow.Events),
				"rss_growth_mib": (rss(s.pid) - before) / (1 << 20), "lost": a["lost"] + b["lost"] + float64(slow.Lost),
			}, nil
		}}
}
