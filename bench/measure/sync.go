package measure

import (
	"os"
	"path/filepath"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// syncs is what one durable write costs on the disk of the state directories: the
// floor of an accepted input.
func syncs() scenario {
	return scenario{name: "fsync", quick: []string{"append"}, full: []string{"append"}, subjects: []string{"fsync"},
		run: func(l *lab, _ *subject, _ string) (report.Figures, error) {
			f, err := os.Create(filepath.Join(l.TempDir(), "file"))
			if err != nil {
				return nil, err
			}
			defer func() { _ = f.Close() }()
			page := make([]byte, 4096)
			var took []time.Duration
			for range 200 {
				start := time.Now()
				if _, err := f.Write(page); err != nil {
					return nil, err
				}
				if err := datasync(f); err != nil {
					return nil, err
				}
				took = append(took, time.Since(start))
			}
			return report.Figures{"p50_ms": ms(drive.Quantile(took, .5)), "p99_ms": ms(drive.Quantile(took, .99))}, nil
		}}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
