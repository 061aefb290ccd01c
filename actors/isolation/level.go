package isolation

import (
	"slices"
	"strings"
)

// Level is a rung of the ladder.
type Level uint8

// Levels, the weakest first. Auto is what a host has always done: Group, Cgroup where
// the machine has it, and the other rungs as their own settings say.
const (
	Auto Level = iota
	Group
	Home
	Rlimits
	Cgroup
	Landlock
	Bubblewrap
)

var names = [...]string{"auto", "group", "home", "rlimits", "cgroup", "landlock", "bubblewrap"}

// Levels are all but Auto.
func Levels() []Level { return []Level{Group, Home, Rlimits, Cgroup, Landlock, Bubblewrap} }

func (l Level) String() string {
	if int(l) < len(names) {
		return names[l]
	}
	return "unknown"
}

// Parse reads a level's name; "" is Auto.
func Parse(name string) (Level, bool) {
	if name == "" {
		return Auto, true
	}
	i := slices.Index(names[:], name)
	return Level(max(i, 0)), i >= 0
}

// Set is the levels that a turn has.
type Set uint8

// With adds levels.
func (s Set) With(list ...Level) Set {
	for _, l := range list {
		s |= 1 << l
	}
	return s
}

// Has says whether l is among them.
func (s Set) Has(l Level) bool { return s&(1<<l) != 0 }

// Top is the highest, Auto of none.
func (s Set) Top() Level {
	for _, l := range slices.Backward(Levels()) {
		if s.Has(l) {
			return l
		}
	}
	return Auto
}

// String lists them, the weakest first, joined by commas.
func (s Set) String() string {
	var words []string
	for _, l := range Levels() {
		if s.Has(l) {
			words = append(words, l.String())
		}
	}
	return strings.Join(words, ",")
}
