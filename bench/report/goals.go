package report

// wires are the product's two.
var wires = []string{"responses", "agents"}

// Goals are what the product must reach on any machine.
func Goals() []Goal {
	var out []Goal
	for _, w := range wires {
		out = append(out,
			Goal{Name: "turn p50 over plain", Scenario: "turn", Case: "c=*[0-9]", Subject: w, Figure: "p50_ms", Over: plain, Less: "p50_ms", Hold: 1.15, Aim: 1.0},
			Goal{Name: "turn p50 over copy", Scenario: "turn", Case: "c=*[0-9]", Subject: w, Figure: "p50_ms", Over: "copy", Less: "p50_ms", Hold: Unbound, Aim: 1.2},
			Goal{Name: "first event over spawn's", Scenario: "turn", Case: "c=1", Subject: w, Figure: "first_ms", Over: "spawn", Less: "p50_ms", Minus: true, Hold: 1.0, Aim: 0.5},
			// Near 40 ms it is an algorithm that waits for an acknowledgement.
			Goal{Name: "small request, ms", Scenario: "turn", Case: "c=1", Subject: w, Figure: "post_ms", Less: "p50_ms", Hold: 35, Aim: 5, Gate: true},
			Goal{Name: "turns per second over plain", Scenario: "turn", Case: "c=64", Subject: w, Figure: "turns_per_s", Over: plain, Bigger: true, Hold: 0.9, Aim: 1},
			Goal{Name: "server CPU per 1,000 turns over plain", Scenario: "turn", Case: "c=[16][64]", Subject: w, Figure: "server_cpu_s", Over: plain, Hold: 1.2, Aim: 0.9, Gate: true},
			Goal{Name: "deltas of 200 B over copy", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "events_per_s", Over: "copy", Bigger: true, Hold: 0.25, Aim: 0.4},
			Goal{Name: "deltas of 200 B over plain", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "events_per_s", Over: plain, Bigger: true, Hold: 3, Aim: 3},
			Goal{Name: "deltas of 2,000 B over copy", Scenario: "rate", Case: "deltas 2000", Subject: w, Figure: "events_per_s", Over: "copy", Bigger: true, Hold: 0.2, Aim: 0.35},
			Goal{Name: "codex messages, frames over plain's", Scenario: "rate", Case: "messages 200", Subject: w, Figure: "frames_per_s", Over: plain, Bigger: true, Hold: 3, Aim: 5},
			Goal{Name: "write-to-read p50 over copy", Scenario: "latency", Case: "turns=*", Subject: w, Figure: "p50_us", Over: "copy", Hold: 1.6, Aim: 1.3},
			Goal{Name: "write-to-read p99 over plain", Scenario: "latency", Case: "turns=*", Subject: w, Figure: "p99_us", Over: plain, Hold: 2, Aim: 1},
			Goal{Name: "long-lived CLI, turn p50 over its protocol, ms", Scenario: "persistent", Case: "*", Subject: w, Figure: "p50_ms", Over: Bare, Minus: true, Hold: 5, Aim: 2},
			Goal{Name: "drain of 1,000 turns at cap 4 over plain", Scenario: "overload", Case: "1000 sessions", Subject: w, Figure: "drain_s", Over: plain, Hold: 1.1, Aim: 1.0},
			Goal{Name: "largest shift over cap", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "shift", Hold: 12, Aim: 8, Gate: true},
			Goal{Name: "out of order in a session", Scenario: "overload", Case: "one session*", Subject: w, Figure: "shift", Hold: 0, Aim: 0, Gate: true},
			Goal{Name: "never above the cap", Scenario: "overload", Case: "*", Subject: w, Figure: "at_once", Hold: 4, Aim: 4, Gate: true},
			Goal{Name: "CPU per turn, last fifth over first", Scenario: "history", Case: "*", Subject: w, Figure: "cpu_growth", Hold: 1.15, Aim: 1.02},
			Goal{Name: "finished turn, KiB", Scenario: "finished", Case: "*", Subject: w, Figure: "turn_kib", Hold: 24, Aim: 12},
		)
		for _, s := range []string{"turn", "rate", "latency", "fan", "slow", "overload", "light"} {
			out = append(out, Goal{Name: "lost or reordered events", Scenario: s, Case: "*", Subject: w, Figure: "lost", Hold: 0, Aim: 0, Gate: true})
		}
	}
	return append(out,
		Goal{Name: "fan-out to 32 over copy", Scenario: "fan", Case: "32 readers", Subject: "agents", Figure: "deliveries_per_s", Over: "copy", Bigger: true, Hold: 0.5, Aim: 0.7},
		Goal{Name: "p99 of fast readers, with a slow one over without", Scenario: "slow", Case: "*", Subject: "agents", Figure: "p99_ratio", Hold: 1.5, Aim: 1},
		Goal{Name: "256 streams opened at once over plain", Scenario: "opening", Case: "256 on 16", Subject: "agents", Figure: "last_ms", Over: plain, Hold: 2, Aim: 1},
		Goal{Name: "idle session, KiB", Scenario: "sessions", Case: "*", Subject: "agents", Figure: "session_kib", Hold: 3, Aim: 0.3},
		Goal{Name: "passivated session, KiB", Scenario: "passivated", Case: "*", Subject: "agents", Figure: "session_kib", Hold: 3, Aim: 0.3},
		Goal{Name: "sessions created per second over plain", Scenario: "create", Case: "10000 *", Subject: "agents", Figure: "create_per_s", Over: plain, Bigger: true, Hold: 0.5, Aim: 0.8},
		Goal{Name: "idle stream, KiB", Scenario: "streams", Case: "*", Subject: "agents", Figure: "stream_kib", Hold: 16, Aim: 10},
		Goal{Name: "stored sessions, first answer after a start, ms", Scenario: Capacity, Case: "stored *", Subject: "agents", Figure: "answer_ms", Hold: 3000, Aim: 1000},
		Goal{Name: "stored sessions, RSS, MiB", Scenario: Capacity, Case: "stored *", Subject: "agents", Figure: "rss_mib", Hold: 600, Aim: 300},
		Goal{Name: "wait of a light user over the drain", Scenario: "light", Case: "*", Subject: "agents", Figure: "wait_share", Hold: 0.25, Aim: 0.10},
		Goal{Name: "cancelled turn, ms to its end", Scenario: "cancel", Case: "obeys", Subject: "agents", Figure: "ended_ms", Hold: 50, Aim: 50},
		Goal{Name: "processes left by cancelled turns", Scenario: "cancel", Case: "*", Subject: "agents", Figure: "left", Hold: 0, Aim: 0, Gate: true},
		Goal{Name: "RSS at 10,000 turns over 1,000", Scenario: "churn", Case: "*", Subject: "agents", Figure: "rss_growth", Hold: 1.3, Aim: 1},
	)
}

// Peers are the goals beside another host that a run was given: the product's figures
// over theirs.
func Peers(name string) []Goal {
	goal := func(what, scenario, kase, figure string, bigger bool) Goal {
		g := Goal{Name: what + " over " + name, Scenario: scenario, Case: kase, Subject: "agents", Figure: figure, Over: name, Hold: 1, Aim: 0.2}
		if bigger {
			g.Bigger, g.Aim = true, 5
		}
		return g
	}
	// A host that keeps an agent's process for its session starts none for a further turn:
	// only in new sessions both do the same work.
	const same = "* new sessions"
	return []Goal{
		goal("turns per second", "turn", same, "turns_per_s", true),
		goal("turn p50", "turn", same, "p50_ms", false),
		goal("server CPU per 1,000 turns", "turn", same, "server_cpu_s", false),
		goal("events per second", "rate", "*", "events_per_s", true),
		goal("server CPU per event", "rate", "*", "server_us_per_event", false),
		goal("fan-out to 32", "fan", "32 readers", "deliveries_per_s", true),
		goal("write-to-read p50", "latency", "*", "p50_us", false),
		goal("sessions created per second", "create", "*", "create_per_s", true),
	}
}
