package report

// wires are the product's two.
var wires = []string{"responses", "agents"}

// Goals are what the product must reach on any machine.
func Goals() []Goal {
	var out []Goal
	for _, w := range wires {
		out = append(out,
			Goal{Name: "turn p50 over plain", Scenario: "turn", Case: "c=*", Subject: w, Figure: "p50_ms", Over: plain, Less: "p50_ms", Hold: 1.15, Aim: 1.0},
			Goal{Name: "turn p50 over copy", Scenario: "turn", Case: "c=*", Subject: w, Figure: "p50_ms", Over: "copy", Less: "p50_ms", Hold: 2, Aim: 1.2},
			Goal{Name: "first event over spawn's", Scenario: "turn", Case: "c=1", Subject: w, Figure: "first_ms", Over: "spawn", Less: "p50_ms", Minus: true, Hold: 1.0, Aim: 0.5},
			Goal{Name: "server CPU per 1,000 turns over plain", Scenario: "turn", Case: "c=[16]*", Subject: w, Figure: "server_cpu_s", Over: plain, Hold: 1.2, Aim: 0.9, Gate: true},
			Goal{Name: "deltas of 200 B over copy", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "events_per_s", Over: "copy", Bigger: true, Hold: 0.25, Aim: 0.4},
			Goal{Name: "deltas of 200 B over plain", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "events_per_s", Over: plain, Bigger: true, Hold: 3, Aim: 4},
			Goal{Name: "deltas of 2,000 B over copy", Scenario: "rate", Case: "deltas 2000", Subject: w, Figure: "events_per_s", Over: "copy", Bigger: true, Hold: 0.2, Aim: 0.35},
			Goal{Name: "codex messages, frames over plain's", Scenario: "rate", Case: "messages 200", Subject: w, Figure: "frames_per_s", Over: plain, Bigger: true, Hold: 3, Aim: 5},
			Goal{Name: "write-to-read p50 over copy", Scenario: "latency", Case: "turns=*", Subject: w, Figure: "p50_us", Over: "copy", Hold: 1.6, Aim: 1.3},
			Goal{Name: "drain of 1,000 turns at cap 4 over plain", Scenario: "overload", Case: "1000 sessions", Subject: w, Figure: "drain_s", Over: plain, Hold: 1.1, Aim: 1.0},
			Goal{Name: "largest shift over cap", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "shift", Hold: 12, Aim: 8, Gate: true},
			Goal{Name: "never above the cap", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "at_once", Hold: 4, Aim: 4, Gate: true},
			Goal{Name: "turns lost in overload", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "lost", Hold: 0, Aim: 0, Gate: true},
			Goal{Name: "CPU per turn, last fifth over first", Scenario: "history", Case: "*", Subject: w, Figure: "cpu_growth", Hold: 1.15, Aim: 1.02},
		)
		for _, s := range []string{"turn", "rate", "latency", "fan"} {
			out = append(out, Goal{Name: "lost or reordered events", Scenario: s, Case: "*", Subject: w, Figure: "lost", Hold: 0, Aim: 0, Gate: true})
		}
	}
	return append(out,
		Goal{Name: "fan-out to 32 over copy", Scenario: "fan", Case: "32 readers", Subject: "agents", Figure: "deliveries_per_s", Over: "copy", Bigger: true, Hold: 0.5, Aim: 0.7},
		Goal{Name: "256 streams opened at once over plain", Scenario: "opening", Case: "256 on 16", Subject: "agents", Figure: "last_ms", Over: plain, Hold: 2, Aim: 1},
		Goal{Name: "idle session, KiB", Scenario: "sessions", Case: "*", Subject: "agents", Figure: "session_kib", Hold: 3, Aim: 0.3},
		Goal{Name: "sessions created per second over plain", Scenario: "sessions", Case: "*", Subject: "agents", Figure: "create_per_s", Over: plain, Bigger: true, Hold: 0.5, Aim: 0.8},
		Goal{Name: "idle stream, KiB", Scenario: "streams", Case: "*", Subject: "agents", Figure: "stream_kib", Hold: 16, Aim: 10},
		Goal{Name: "start with stored sessions, s", Scenario: "restart", Case: "*", Subject: "agents", Figure: "answer_s", Hold: 3, Aim: 1},
		Goal{Name: "RSS with stored sessions, MiB", Scenario: "restart", Case: "*", Subject: "agents", Figure: "rss_mib", Hold: 600, Aim: 300},
		Goal{Name: "wait of a light user over the drain", Scenario: "light", Case: "*", Subject: "agents", Figure: "wait_share", Hold: 0.25, Aim: 0.10},
	)
}
