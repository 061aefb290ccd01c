package warden

import (
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/process"
)

// A day of the guard, with times in seconds since the machine's boot.
func TestGuardActsOnSilenceOnly(t *testing.T) {
	t.Parallel()
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	tree := plantedLine(&process.Tree{Marker: "s/b/t", Pid: 7, Start: 9})
	g := newGuard(10*time.Second, at(100))
	quiet := func(from, to, step float64, want bool) {
		t.Helper()
		for now := from; now <= to; now += step {
			if got := g.deaf(at(now)); got != (want && now > to-step/2) {
				t.Fatalf("at %v: deaf is %v", now, got)
			}
		}
	}
	quiet(100, 200, 1, false) // without trees it has nothing to say
	if g.pause() >= 0 {
		t.Error("a warden without trees looks around")
	}
	g.word(at(200))
	g.hear(tree)
	if p := g.pause(); p <= 0 || p > 250*time.Millisecond {
		t.Errorf("looks every %s", p)
	}
	quiet(200.25, 209.75, 0.25, false) // slow, but within its time
	g.word(at(209.9))
	quiet(210, 219.5, 0.25, false) // slow again
	g.word(at(219.8))
	// The machine sleeps for an hour: the warden was away as well.
	quiet(3819.8, 3829.3, 0.25, false)
	g.word(at(3829.4))
	// It does not look for three seconds, because nothing runs on this machine.
	quiet(3829.5, 3838, 0.5, false)
	quiet(3841.5, 3851, 0.5, false)
	// The server alone is stopped.
	g.word(at(3851))
	quiet(3851.25, 3861.25, 0.25, true)
	g.hear(goneLine("s/b/t"))
	if g.deaf(at(3862)) {
		t.Error("deaf without trees")
	}
}

func TestWordsArriveAsTheyWereSaid(t *testing.T) {
	t.Parallel()
	g := newGuard(time.Second, 0)
	odd := "a b\"c\\\n\t\x00é/s"
	for _, line := range []string{
		watchLine(host{prefix: odd, group: "/sys/fs/c group"}), watchLine(host{prefix: "p/"}),
		plantedLine(&process.Tree{Marker: odd, Pid: 12, Start: 1 << 60}), plantedLine(&process.Tree{Marker: "x", Pid: 13}),
	} {
		if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
			t.Errorf("not a line: %q", line)
		}
		g.hear(strings.TrimSuffix(line, "\n"))
	}
	if len(g.hosts) != 2 || g.hosts[0] != (host{odd, "/sys/fs/c group"}) || g.hosts[1] != (host{prefix: "p/"}) {
		t.Errorf("hosts %+v", g.hosts)
	}
	if got := g.trees[odd]; got != (process.Tree{Marker: odd, Pid: 12, Start: 1 << 60}) || len(g.trees) != 2 {
		t.Errorf("trees %+v", g.trees)
	}
	g.hear(strings.TrimSuffix(goneLine(odd), "\n"))
	if len(g.trees) != 1 || g.bye {
		t.Errorf("%+v", g)
	}
	if g.hear(wordBye); !g.bye {
		t.Error("the good-bye was not heard")
	}
}

func FuzzHear(f *testing.F) {
	f.Add(plantedLine(&process.Tree{Marker: "m", Pid: 2, Start: 3}))
	f.Add(watchLine(host{"a", "b"}))
	f.Add("p \"x 1 2")
	f.Add("p x -5 -5 x")
	f.Add("p \"\" 1 0")
	f.Fuzz(func(t *testing.T, line string) {
		g := newGuard(time.Second, 0)
		g.hear(line)
		for _, tree := range g.trees {
			if tree.Pid <= 1 { // a signal to it would be one to everybody
				t.Errorf("%q plants %+v", line, tree)
			}
		}
	})
}
