package measure

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// rates are turns of a CLI that prints as fast as it can.
func rates() scenario {
	return scenario{name: "rate", peers: true, subjects: append([]string{copyName, embeddedName}, hosts...), dialect: "claude",
		quick: []string{"deltas 200"}, full: []string{"deltas 200", "deltas 2000"}, run: rate}
}

// messages are the same in the dialect whose every line becomes several frames.
func messages() scenario {
	return scenario{name: "rate", subjects: append([]string{copyName, embeddedName}, hosts...),
		full: []string{"messages 200"}, run: rate}
}

func rate(l *lab, s *subject, kase string) (report.Figures, error) {
	size, err := strconv.Atoi(strings.Fields(kase)[1])
	if err != nil {
		return nil, err
	}
	n := 40_000_000 / (size + 200)
	if !l.Full {
		n /= 8
	}
	ses, err := s.wire.Session(l.ctx)
	if err != nil {
		return nil, err
	}
	server, did := cpu(s.pid), l.work(s)
	var sight drive.Sight
	if err := ses.Turn(l.ctx, fmt.Sprintf("[[events: %d %d 0 16]]", n, size), &sight); err != nil {
		return nil, err
	}
	took := sight.Last.Sub(sight.First).Seconds()
	f := report.Figures{
		"events_per_s": float64(sight.Events) / took, "frames_per_s": float64(sight.Frames) / took, "mb_per_s": float64(sight.Bytes) / took / 1e6,
		"server_us_per_event": us(cpu(s.pid)-server) / float64(n), "lost": float64(n - sight.Events),
	}
	l.work(s).since(did).per(float64(n), "event", f)
	return f, nil
}
