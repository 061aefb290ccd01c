package warden

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/process"
)

// The words of the pipe, each a line: a letter and what belongs to it.
const (
	wordBeat    = "b"
	wordWatch   = "w" // prefix of markers, control group
	wordPlanted = "p" // marker pid start
	wordGone    = "g" // marker
	wordBye     = "q"
)

func watchLine(h host) string {
	return fmt.Sprintf("%s %s %s\n", wordWatch, quote(h.prefix), quote(h.group))
}

func plantedLine(t *process.Tree) string {
	return fmt.Sprintf("%s %s %d %d\n", wordPlanted, quote(t.Marker), t.Pid, t.Start)
}

func goneLine(marker string) string { return wordGone + " " + quote(marker) + "\n" }

// quote makes one word of any text.
func quote(s string) string { return strings.ReplaceAll(strconv.QuoteToASCII(s), " ", `\x20`) }

// hear takes one line. An unknown one is nothing: it still was heard.
func (g *guard) hear(line string) {
	f := strings.Fields(line)
	arg := func(i int) string {
		if i >= len(f) {
			return ""
		}
		s, _ := strconv.Unquote(f[i])
		return s
	}
	if len(f) == 0 {
		return
	}
	switch f[0] {
	case wordWatch:
		g.hosts = append(g.hosts, host{prefix: arg(1), group: arg(2)})
	case wordPlanted:
		if len(f) != 4 {
			return
		}
		pid, perr := strconv.Atoi(f[2])
		start, serr := strconv.ParseUint(f[3], 10, 64)
		if perr == nil && serr == nil && pid > 1 {
			g.trees[arg(1)] = process.Tree{Marker: arg(1), Pid: pid, Start: start}
		}
	case wordGone:
		delete(g.trees, arg(1))
	case wordBye:
		g.bye = true
	}
}
