package report

// Guards protect a quick run's figures against regressions: what the product reached
// when they were set, with room for a busy machine; the aim is the goal beside it. They
// are counts, and processor time over that of a host in the same repetition; never time.
func Guards() []Goal {
	var out []Goal
	guard := func(g Goal) { g.Name, g.Gate = "guard: "+g.Name, true; out = append(out, g) }
	for _, w := range wires {
		for _, c := range []string{"turn", "rate", "fan"} {
			guard(Goal{Name: "lost or reordered events", Scenario: c, Case: "*", Subject: w, Figure: "lost"})
		}
		guard(Goal{Name: "turns lost in overload", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "lost"})
		guard(Goal{Name: "never above the cap", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "at_once", Hold: 4, Aim: 4})
		guard(Goal{Name: "largest shift over cap", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "shift", Hold: 12, Aim: 8})
		guard(Goal{Name: "server CPU per 1,000 turns over plain", Scenario: "turn", Case: "c=*", Subject: w, Figure: "server_cpu_s", Over: plain, Hold: 5, Aim: 0.9})
		guard(Goal{Name: "allocations per turn", Scenario: "turn", Case: "c=*", Subject: w, Figure: "allocs_per_turn", Hold: 5000, Aim: 500})
		guard(Goal{Name: "server CPU per delta over plain", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "server_us_per_event", Over: plain, Hold: 1.5, Aim: 0.25})
		guard(Goal{Name: "allocations per delta", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "allocs_per_event", Hold: 2, Aim: 0.1})
		guard(Goal{Name: "waits per delta", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "waits_per_event", Hold: 0.5, Aim: 0.05})
		guard(Goal{Name: "bytes allocated per delivery to 32", Scenario: "fan", Case: "32 readers", Subject: w, Figure: "bytes_per_delivery", Hold: 300, Aim: 50})
		guard(Goal{Name: "idle session, KiB", Scenario: "sessions", Case: "*", Subject: w, Figure: "session_kib", Hold: 24, Aim: 0.3})
	}
	return out
}
