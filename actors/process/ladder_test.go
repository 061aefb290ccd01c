package process

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

func rungs(l *Ladder) string {
	var b strings.Builder
	at := time.Duration(0)
	for range 100 {
		act, after := l.Next()
		fmt.Fprintf(&b, "%v@%v ", act, at)
		at += after
		if l.Done() {
			break
		}
	}
	return strings.TrimSpace(b.String())
}

func TestLadder(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for _, c := range []struct {
		interrupt, terminate time.Duration
		want                 string
	}{
		{DefaultInterruptGrace, DefaultTerminateGrace, "interrupt@0s interrupt@500ms interrupt@1.5s interrupt@2.5s interrupt@3.5s interrupt@4.5s terminate@5s kill@8s"},
		{200 * ms, 100 * ms, "interrupt@0s terminate@200ms kill@300ms"},
		{600 * ms, 0, "interrupt@0s interrupt@500ms kill@600ms"},
		{0, 3 * time.Second, "terminate@0s kill@3s"},
		{0, 0, "kill@0s"},
		{-1, -1, "kill@0s"},
	} {
		if got := rungs(NewLadder(c.interrupt, c.terminate)); got != c.want {
			t.Errorf("%v, %v:\n got %s\nwant %s", c.interrupt, c.terminate, got, c.want)
		}
	}
}

func TestLadderSkips(t *testing.T) {
	t.Parallel()
	l := NewLadder(DefaultInterruptGrace, DefaultTerminateGrace)
	l.Next()
	l.Skip(Terminate)
	if got := rungs(l); got != "terminate@0s kill@3s" {
		t.Error(got)
	}
	l = NewLadder(DefaultInterruptGrace, DefaultTerminateGrace)
	l.Skip(Kill)
	if got := rungs(l); got != "kill@0s" {
		t.Error(got)
	}
	if act, after := l.Next(); act != Kill || after != 0 {
		t.Error("nothing comes behind kill")
	}
}

type fakeSignaller struct{ got []string }

func (f *fakeSignaller) Signal(s syscall.Signal)     { f.got = append(f.got, "group "+s.String()) }
func (f *fakeSignaller) SignalTree(s syscall.Signal) { f.got = append(f.got, "tree "+s.String()) }

func TestActs(t *testing.T) {
	t.Parallel()
	f := &fakeSignaller{}
	for _, a := range []Act{Interrupt, Terminate, Kill, 0} {
		a.Do(f)
	}
	if got := fmt.Sprint(f.got); got != "[group interrupt group terminated tree killed]" {
		t.Error(got)
	}
}
