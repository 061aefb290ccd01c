package process

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

func (r *run) until(t *testing.T, what string, ok func(text string) bool) {
	t.Helper()
	deadline := time.After(patience)
	for !ok(r.text()) {
		select {
		case <-r.line:
		case <-deadline:
			t.Fatalf("%s: %q", what, r.text())
		}
	}
}

func TestTalkGoesOnUntilItIsHushed(t *testing.T) {
	t.Parallel()
	spec := sh("while read -r l; do echo \"heard $l\"; done; echo end")
	spec.Talk = true
	r := start(t, spec)
	for _, word := range []string{"one", "two"} {
		if !r.Say([]byte(word + "\n")) {
			t.Fatal("not taken")
		}
		r.until(t, "no answer", func(text string) bool { return strings.Contains(text, "heard "+word) })
	}
	r.Say([]byte("three\n"))
	r.Hush()
	if r.Say([]byte("four\n")) {
		t.Error("taken after the end")
	}
	if s := r.wait(t); s.Code != 0 || r.text() != "heard one\nheard two\nheard three\nend" {
		t.Errorf("%+v %q", s, r.text())
	}
}

// Who does not read is not waited for, and the writer ends with the process.
func TestTalkToTheDeaf(t *testing.T) {
	t.Parallel()
	spec := sh("exec sleep 300")
	spec.Talk = true
	r := start(t, spec)
	big := bytes.Repeat([]byte("x"), 16<<20)
	taken := 0
	for r.Say(big) {
		if taken++; taken > 100 {
			t.Fatal("there is no bound")
		}
	}
	if taken < 3 {
		t.Errorf("only %d were taken", taken)
	}
	r.SignalTree(9)
	r.wait(t)
}

func TestPartIsSweptAndTheRestLives(t *testing.T) {
	t.Parallel()
	spec := sh(`PART=a setsid sh -c 'sleep 300 & exec sleep 300' & PART=b sleep 300 & echo up; read -r l; PART=a; export PART; wait`)
	spec.Talk = true
	r := start(t, spec)
	r.first(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	count := func() (n int) {
		for _, e := range r.look().live {
			if v, ok := variable(e.pid, "PART"); ok && v != "" {
				n++
			}
		}
		return n
	}
	for count() < 3 {
		if ctx.Err() != nil {
			t.Fatalf("%d processes", count())
		}
		time.Sleep(time.Millisecond)
	}
	if killed, known := r.SweepPart(ctx, "PART=a"); killed != 2 || !known {
		t.Errorf("killed %d, %v", killed, known)
	}
	if n := count(); n != 1 {
		t.Errorf("%d of the other part live", n)
	}
	if killed, known := r.SweepPart(ctx, "PART=none"); killed != 0 || !known {
		t.Errorf("killed %d, %v", killed, known)
	}
	if r.Resident() <= 0 {
		t.Error("its memory is not known")
	}
	select {
	case <-r.Exited():
		t.Error("the leader is gone")
	default:
	}
}
