package report

// Guards protect a quick run's figures against regressions: what the product reached
// when they were set, with room for a busy machine; the aim is the goal beside it. They
// are counts, and processor time over that of a host in the same repetition; never time.
// The medians of ten runs on 2 cores, five alone and five at a load of 8 to 16, were:
//
//	server CPU a turn over plain    one at a time 2.3 to 3.9 (alone to 2.8), 16 at a time 2.5 to 3.4
//	allocations a turn              1,196 to 1,376
//	server CPU a delta over plain   0.9 to 1.35 (alone to 1.04)
//	allocations a delta             0.84 to 1.6 (alone to 1.13): by how much comes with a read
//	waits a delta                   0.04 to 0.13: the same
//	bytes allocated a delivery      157 to 163
//	idle session                    8.2 to 10.4 KiB
//	largest shift                   4 to 16
//
// A bound is a third above what was ever seen, and more where the load decides: what
// shows in time, a copy or a sleep, is many times it. Lower a bound when the product has
// become better.
func Guards() []Goal {
	var out []Goal
	guard := func(g Goal) { g.Name, g.Gate = "guard: "+g.Name, true; out = append(out, g) }
	for _, w := range wires {
		for _, c := range []string{"turn", "rate", "fan"} {
			guard(Goal{Name: "lost or reordered events", Scenario: c, Case: "*", Subject: w, Figure: "lost"})
		}
		guard(Goal{Name: "turns lost in overload", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "lost"})
		guard(Goal{Name: "never above the cap", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "at_once", Hold: 4, Aim: 4})
		guard(Goal{Name: "largest shift over cap", Scenario: "overload", Case: "* sessions", Subject: w, Figure: "shift", Hold: 60, Aim: 8})
		guard(Goal{Name: "server CPU per 1,000 turns over plain", Scenario: "turn", Case: "c=1", Subject: w, Figure: "server_cpu_s", Over: plain, Hold: 5, Aim: 0.9})
		guard(Goal{Name: "server CPU per 1,000 turns over plain", Scenario: "turn", Case: "c=16", Subject: w, Figure: "server_cpu_s", Over: plain, Hold: 4.5, Aim: 0.9})
		guard(Goal{Name: "allocations per turn", Scenario: "turn", Case: "c=*", Subject: w, Figure: "allocs_per_turn", Hold: 1900, Aim: 500})
		guard(Goal{Name: "server CPU per delta over plain", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "server_us_per_event", Over: plain, Hold: 2, Aim: 0.25})
		guard(Goal{Name: "allocations per delta", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "allocs_per_event", Hold: 3, Aim: 0.1})
		guard(Goal{Name: "waits per delta", Scenario: "rate", Case: "deltas 200", Subject: w, Figure: "waits_per_event", Hold: 0.6, Aim: 0.05})
		guard(Goal{Name: "bytes allocated per delivery to 32", Scenario: "fan", Case: "32 readers, *", Subject: w, Figure: "bytes_per_delivery", Hold: 350, Aim: 50})
		guard(Goal{Name: "idle session, KiB", Scenario: "sessions", Case: "*", Subject: w, Figure: "session_kib", Hold: 16, Aim: 0.3})
	}
	return out
}

// Shown are the goals for a table: with the guards, which alone are gates then, when quick.
func Shown(quick bool) []Goal {
	goals := Goals()
	if !quick {
		return goals
	}
	for i := range goals {
		goals[i].Gate = false
	}
	return append(goals, Guards()...)
}
