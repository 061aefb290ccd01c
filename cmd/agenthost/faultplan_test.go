package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/faultplan"
)

func TestFaultPlanIsFollowed(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	if s, err := openSeams("", log); s != nil || err != nil || s.host() != nil {
		t.Errorf("a server without a plan has seams: %v %v", s, err)
	}
	file := filepath.Join(t.TempDir(), "plan")
	if _, err := openSeams(file, log); err == nil || !strings.Contains(err.Error(), "fault plan") {
		t.Errorf("a plan that is not there: %v", err)
	}
	if err := (faultplan.Plan{Boot: "x", ClockS: 3600}).Write(file); err != nil {
		t.Fatal(err)
	}
	s, err := openSeams(file, log)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	ahead := func() time.Duration { return time.Until(s.now()).Round(time.Minute) }
	if s.boot != "x" || ahead() != time.Hour {
		t.Errorf("boot %q, %s ahead", s.boot, ahead())
	}
	for _, hours := range []int64{-1, 2, -3} {
		if err := (faultplan.Plan{Boot: "x", ClockS: hours * 3600}).Write(file); err != nil {
			t.Fatal(err)
		}
		over := time.Now().Add(20 * time.Second)
		for ahead() != time.Duration(hours)*time.Hour {
			if time.Now().After(over) {
				t.Fatalf("the clock is %s ahead, not %d h", ahead(), hours)
			}
			time.Sleep(time.Millisecond) // between two looks at the condition
		}
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openSeams(file, log); err == nil {
		t.Error("a torn plan is taken")
	}
}

func TestChaosWantsAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	if code := Main([]string{"chaos", "--dir", dir}, nil, &out, &errs); code != exitUsage || !strings.Contains(errs.String(), "not empty") {
		t.Errorf("%d %s", code, errs.String())
	}
	if code := Main([]string{"chaos", "--profile", "huge"}, nil, &out, &errs); code != exitUsage {
		t.Errorf("%d %s", code, errs.String())
	}
}
