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
	return scenario{name: "fan", subjects: []string{copyName, plainName, report.Control, agentsName, embeddedName}, dialect: "claude",
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
	return scenario{name: "latency", subjects: append([]string{copyName, embeddedName}, hosts...), dialect: "claude",
		full: []string{"turns=1", "turns=16", "turns=64"},
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			n, err := strconv.Atoi(strings.TrimPrefix(kase, "turns="))
			if err != nil {
				return nil, err
			}
			rate := max(1500/n, 15)
			each := 2 * rate
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
			var delays []time.Duration
			for i := range sights {
				delays = append(delays, sights[i].Delays...)
			}
			return report.Figures{
				"p50_us": us(drive.Quantile(delays, .5)), "p99_us": us(drive.Quantile(delays, .99)), "max_us": us(drive.Quantile(delays, 1)),
				"lost": float64(n*each - len(delays)),
			}, err
		}}
}
