package main

import "os"

// headroomBytes is how much garbage a server may gather at least before it is collected.
const headroomBytes = 32 << 20

// headroom keeps the collector from running dozens of times a second while little is
// alive: it is counted as alive and never touched, so that it takes addresses and no
// memory. What it allows is garbage, at most as much as it is itself, and nearly nothing
// beside what a busy server holds.
//
// Whoever sets the collector's pace in the environment has it as he says.
func headroom() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, headroomBytes)
}
