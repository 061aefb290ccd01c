package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
	"github.com/agenthost/agenthost/bench/talk"
	"github.com/agenthost/agenthost/fakes/provider"
	"github.com/agenthost/agenthost/fakes/tools"
)

// Cases of long-lived CLIs.
const (
	realCodex    = "codex"
	standinCodex = "codex stand-in"
)

// ServerPart is the part of this program that is a stand-in of codex app-server.
const ServerPart = "app-server"

// persistents are turns of a CLI that lives on, through the host and by its own protocol
// alone: Codex with the scripted provider where it is installed, and a stand-in of it.
func persistents() scenario {
	s := scenario{name: "persistent", subjects: []string{report.Bare, responsesName, agentsName}, fresh: true, full: []string{realCodex, standinCodex}, reps: 3,
		run: func(l *lab, s *subject, kase string) (report.Figures, error) {
			n := 60
			switch {
			case !l.Full:
				n = 20
			case kase == standinCodex:
				n = 300
			}
			ses, err := s.wire.Session(l.ctx)
			if err != nil {
				return nil, err
			}
			var took []time.Duration
			for i := range n + 5 {
				began := time.Now()
				if err := ses.Turn(l.ctx, "[[say: hello]]", &drive.Sight{}); err != nil {
					return nil, err
				}
				if i >= 5 { // caches
					took = append(took, time.Since(began))
				}
			}
			return report.Figures{"p50_ms": ms(drive.Quantile(took, .5)), "p95_ms": ms(drive.Quantile(took, .95))}, nil
		}}
	s.begin = func(l *lab, name, kase string) (*subject, error) {
		program, ok := tools.Path("bin/codex")
		if kase == standinCodex {
			program = filepath.Join(l.TempDir(), "codex")
			text := fmt.Sprintf("#!/bin/sh\nexec '%s' %s %s \"$@\"\n", strings.ReplaceAll(l.Self, "'", `'\''`), PartVerb, ServerPart)
			if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
				return nil, err
			}
		} else if !ok {
			return nil, drive.Unsupported("installed Codex")
		}
		model := provider.New(provider.Script{Key: talk.Key})
		url, err := model.Start()
		if err != nil {
			return nil, err
		}
		l.Cleanup(func() { _ = model.Close() })
		dir := l.TempDir()
		sub := &subject{name: name, log: filepath.Join(dir, "runs")}
		with := s
		with.env = []string{"ABX_LLM_BASE_URL=" + url + "/v1", "ABX_LLM_API_KEY=" + talk.Key}
		if name != report.Bare {
			return sub, l.product(sub, with, program)
		}
		// The CLI is started as a host starts it: one plays a turn and is looked at.
		like := &subject{name: responsesName, log: sub.log}
		if err := l.product(like, with, program); err != nil {
			return nil, err
		}
		ses, err := like.wire.Session(l.ctx)
		if err == nil {
			err = ses.Turn(l.ctx, "[[say: hello]]", &drive.Sight{})
		}
		if err != nil {
			return nil, err
		}
		bare, err := talk.Alike("codex", like.host, filepath.Join(dir, "bare"))
		if err != nil {
			return nil, err
		}
		l.Cleanup(bare.Close)
		like.host.Stop()
		sub.wire = drive.Bare(bare.Turn)
		return sub, nil
	}
	return s
}
